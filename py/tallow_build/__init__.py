"""The commands of build.py: environment, sources, models, dist/, server, browser, tests.

    cli.py          the commands and their arguments
    setup.py        prepares what each command needs
    python_env.py   .venv from the pinned requirements
    node_env.py     node_modules from package-lock.json
    sources.py      files from pinned registry packages
    wheels.py       the wheels that are built here
    models.py       the model files; training.py retrains the digit network
    networks.py     third-party networks, for the tests
    dist.py         builds dist/: bundled.py its modules, documents.py its HTML, with hashes,
                    small.py thumbnails; service_worker.mjs caches it for offline use
    address.py      opens a port; server.py serves a folder on it
    browser.py      finds, installs and starts Chromium; debian.py installs packages
    script.py       runs a Python file in the browser
    checks.py       format, lint and types

    errors.py files.py stamps.py process.py progress.py paths.py   shared helpers

Everything except server.py and script.py needs only the standard library, because it runs before
there is a virtual environment.
"""
