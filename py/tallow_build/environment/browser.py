"""Finds Chromium, installs it if necessary, and starts it with WebGPU.

Finding and installing need only the standard library; `launch` needs Playwright, as an argument.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import DEVNULL, SubprocessError, run
from typing import TYPE_CHECKING, Any

from ..errors import BuildError
from ..paths import VENV
from ..process import call, environment, python
from . import debian

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

# A path in this variable takes precedence.
VARIABLE = "TALLOW_CHROMIUM"

# The WebGPU adapter to request; "swiftshader" (on the CPU) is available and the same everywhere.
ADAPTER_VARIABLE = "TALLOW_WEBGPU_ADAPTER"

_STEP = "Looking for Chromium"
_REMEDY = f"install Chromium or Google Chrome, or set {VARIABLE} to the path of its program"

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_PATHS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)

# The browser only loads pages from this machine: no updates, no reports, no first-run pages.
_QUIET = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--disable-lcd-text",  # the same text rendering on every system, for screenshot comparisons
    "--use-fake-device-for-media-stream",  # never the real camera
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)

# Chromium heeds the last list of features alone, so this one has those of Playwright's that matter
# here. Ours are two pages behind the address bar, which cost a second of processor time per window.
_DISABLED_FEATURES = (
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("BlockOriginHeaderModificationOnRedirect", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("DialMediaRouteProvider", "GlobalMediaControls", "LensOverlay", "MediaRouter"),
    *("NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "Translate"),
    *("AimEnabled", "ThirdPartyStoragePartitioning"),
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
)


def ensure() -> str:
    """The path of a Chromium that starts; installs one if there is none. Raises BuildError."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return _checked(_chosen(chosen))
    found = next((path for path in _installed() if fault(path) is None), None) or _playwrights()
    if found is None and debian.available():
        debian.install("chromium")
        found = next(_installed(), None)
    if found is None:
        install = python("-m", "playwright", "install", "--no-shell", "chromium")
        call("Installing Playwright's Chromium", install, _REMEDY)
        found = _playwrights()
    if found is None:
        raise BuildError(_STEP, "there is none, and it could not be installed", _REMEDY)
    return _checked(found)


def driving(chromium: str) -> dict[str, str]:
    """The environment for our programs that start this Chromium through Playwright.

    Playwright's bundled Node.js may lack a library on a small system; then the installed Node.js
    drives the browser.
    """
    variables = {VARIABLE: chromium}
    own = next(VENV.glob("lib/python*/site-packages/playwright/driver/node"), None)
    other = shutil.which("node")
    if own and other and fault(str(own)):
        variables["PLAYWRIGHT_NODEJS_PATH"] = other
    return variables


def find() -> str | None:
    """The path of the Chromium named by TALLOW_CHROMIUM, or of an installed one, or None.

    Raises BuildError if TALLOW_CHROMIUM names something that is not a program.
    """
    chosen = os.environ.get(VARIABLE)
    return _chosen(chosen) if chosen else next(_installed(), None)


def _chosen(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise BuildError(_STEP, f"{VARIABLE}={name} is not a program", _REMEDY)
    return path


def _installed() -> Iterator[str]:
    return filter(None, map(shutil.which, (*_NAMES, *_PATHS)))


def _playwrights() -> str | None:
    """The path of the full browser that Playwright has installed, or None."""
    script = (
        "from playwright.sync_api import sync_playwright as s\n"
        "with s() as p: print(p.chromium.executable_path)"
    )
    command = python("-c", script)
    done = run(command, capture_output=True, text=True, stdin=DEVNULL, env=environment())
    path = done.stdout.strip()
    return path if path and Path(path).is_file() else None


def fault(path: str) -> str | None:
    """Why this program does not start, or None. Some systems only have a stub of that name."""
    if sys.platform == "win32":  # --version would open a window
        return None
    try:
        done = run([path, "--version"], capture_output=True, text=True, stdin=DEVNULL, timeout=60)
    except (OSError, SubprocessError) as error:
        return f"{path} does not start: {error}"
    if done.returncode:
        return f"{path} --version exited with {done.returncode}: {done.stderr.strip()[-400:]}"
    return None


def _checked(path: str) -> str:
    why = fault(path)
    if why:
        raise BuildError(_STEP, why, _REMEDY)
    return path


def arguments(*, webgpu: bool) -> list[str]:
    """Command-line arguments for headless Chromium, with or without WebGPU."""
    chosen, disabled = list(_QUIET), list(_DISABLED_FEATURES)
    if webgpu:
        chosen.append("--enable-unsafe-webgpu")
        adapter = os.environ.get(ADAPTER_VARIABLE, "swiftshader")
        if adapter:
            chosen.append(f"--use-webgpu-adapter={adapter}")
    else:
        disabled += ["WebGPU", "WebGPUService"]
    chosen.append(f"--disable-features={','.join(disabled)}")
    if sys.platform == "linux":
        chosen.append("--disable-dev-shm-usage")  # containers only have 64 MiB of it
        if os.geteuid() == 0:
            chosen.append("--no-sandbox")  # Chromium refuses to start its sandbox as root
    return chosen


def launch(
    playwright: Playwright, *, webgpu: bool = True, more_arguments: Sequence[str] = ()
) -> Browser:
    """A full headless Chromium: the one named by TALLOW_CHROMIUM, or an installed one.

    webgpu=False: `navigator.gpu.requestAdapter()` returns null. Raises BuildError if it cannot be
    found or started.
    """
    path = find() or playwright.chromium.executable_path
    try:
        return playwright.chromium.launch(
            executable_path=path,
            headless=True,
            args=[*arguments(webgpu=webgpu), *more_arguments],
        )
    except Exception as error:  # Playwright's exceptions are only known once it is imported
        first = str(error).strip().splitlines()[0]
        raise BuildError("Starting Chromium", f"{path}: {first}", _REMEDY) from error


def until(page: Page, condition: str, argument: Any = None, seconds: float = 30) -> None:
    """Waits until a JavaScript expression, which may use `argument`, is true in the page.

    Playwright's own wait_for_function evaluates strings in the page, which our content security
    policy forbids. Raises Playwright's Error with the condition after `seconds`.
    """
    page.evaluate(
        f"""async ({{ argument, limit, condition }}) => {{
            const until = performance.now() + limit;
            while (!({condition})) {{
                if (performance.now() > until) throw new Error(`Timed out: ${{condition}}`);
                await new Promise((next) => requestAnimationFrame(next));
            }}
        }}""",
        {"argument": argument, "limit": 1000 * seconds, "condition": condition},
    )
