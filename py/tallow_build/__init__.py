"""The commands of build.py: environment, sources, models, dist/, server, browser, tests.

    cli.py          the commands and their arguments
    setup.py        prepares what each command needs
    checks.py       format, lint and types

    environment/    what a command needs on this machine
        python_env.py   .venv from the pinned requirements/; other environments below build/
        node_env.py     node_modules from package-lock.json
        sources.py      files from pinned registry packages
        browser.py      finds, installs and starts Chromium; firefox.py the same for Firefox;
                        debian.py installs packages
    content/        what the page shows and the tests compute
        models.py       the model files; training.py retrains the digit network
        split_model.py  a model's graph, and the pieces of its weights
        networks.py     third-party networks and tokenizers, for the tests
        samples.py      photographs; small.py thumbnails
    page/           dist/
        dist.py         builds it: bundled.py its modules, documents.py its HTML, with hashes,
                        compressed.py smaller versions; service_worker.mjs caches it for offline use
        wheels.py       the wheels that are built here; snapshot/ a Python that has imported them
        headers.py      what a host should send with it; budget.py how large its parts may be
    serving/        a folder on a port
        address.py      opens a port; server.py serves a folder on it
        script.py       runs a Python file in the browser

    errors.py files.py stamps.py process.py progress.py paths.py   shared helpers

Everything except serving/server.py, serving/script.py and content/small.py needs only the standard
library, because it runs before there is a virtual environment. No folder uses one that uses it.
"""
