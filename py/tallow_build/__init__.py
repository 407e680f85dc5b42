"""What build.py does: environment, sources, models, dist/, server, browser, tests.

    cli.py          the commands and their arguments
    setup.py        what each command needs, in order
    python_env.py   .venv from the pinned requirements
    node_env.py     node_modules from package-lock.json
    sources.py      files out of pinned registry packages
    wheels.py       the wheels that are made here
    models.py       the model files; training.py trains the digit network anew
    networks.py     networks of others, for the tests
    dist.py         puts dist/ together: bundled.py its modules, documents.py its HTML, with hashes,
                    small.py small pictures; service_worker.mjs keeps it for use offline
    address.py      opens a port; server.py serves a folder on it
    browser.py      finds, gets and starts Chromium; debian.py installs packages
    script.py       runs a Python file in the browser
    checks.py       format, lint and types

    errors.py files.py stamps.py process.py progress.py paths.py   what these stand on

Everything but server.py and script.py runs on the standard library alone, because it
runs before there is a virtual environment.
"""
