"""Running other programs, the port, and the messages when something is missing."""

import os
import shutil
import socket
import stat
import sys

import pytest

from tallow_build import progress
from tallow_build.environment import browser, caddy, debian, firefox, node_env
from tallow_build.errors import BuildError
from tallow_build.process import call, environment
from tallow_build.serving import address


def test_call_gives_the_output_and_no_input():
    script = (
        "import sys; print('out'); print('err', file=sys.stderr); print(repr(sys.stdin.read()))"
    )
    output = call("Trying", [sys.executable, "-u", "-c", script], "nothing")
    assert output.splitlines() == ["out", "err", "''"]


def test_a_failed_call_shows_its_end_and_the_remedy():
    script = "for i in range(100): print('line', i)\nraise SystemExit(3)"
    with pytest.raises(BuildError) as caught:
        call("Trying", [sys.executable, "-c", script], "try harder")
    words = str(caught.value)
    assert words.startswith("Trying failed: python")
    assert "exited with 3" in words
    assert "| line 99\nWhat to do: try harder" in words
    assert "| line 50\n" not in words


def test_a_program_that_is_not_there():
    with pytest.raises(BuildError, match="no-such-program could not be started"):
        call("Trying", ["no-such-program"], "install it")


def test_progress_tells_the_bytes_while_files_come_and_go(tmp_path, capsys, monkeypatch):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "file").write_bytes(bytes(5_000_000))
    walk = os.walk

    def walk_and_lose(folder):
        for parent, folders, names in walk(folder):
            yield parent, folders, [*names, "gone"]

    monkeypatch.setattr(progress.os, "walk", walk_and_lose)
    assert progress.folder_bytes(tmp_path) == 5_000_000
    assert progress.folder_bytes(tmp_path / "nowhere") == 0
    assert progress.amount(5_000_000, 20_000_000) == "5 of 20 MB (25 %)"
    assert progress.amount(5_000_000, None) == "5 MB"
    with progress.working("Fetching it", tmp_path):
        pass
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Fetching it ..."
    assert lines[-1].startswith("  done in ")


def test_settings_that_lead_elsewhere_are_not_passed_on(monkeypatch):
    monkeypatch.setenv("PIP_TARGET", "elsewhere")
    monkeypatch.setenv("PYTHONHOME", "elsewhere")
    passed = environment({"ONE": "more"})
    assert passed["ONE"] == "more"
    assert passed["PATH"] == os.environ["PATH"]
    assert not passed.keys() & {"PIP_TARGET", "PYTHONHOME"}


def test_a_port_in_use_is_said_in_words():
    with address.listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(BuildError) as caught:
            address.listen("127.0.0.1", port)
    assert caught.value.step == f"Listening on 127.0.0.1 port {port}"
    assert caught.value.why == "another program is using that port"
    assert "--port" in caught.value.remedy


@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("127.0.0.1", 65536, "from 0 to 65535"),
        ("no such host", 0, "is not an address of this machine"),
        ("192.0.2.1", 0, "this machine has no such address"),
    ],
)
def test_an_address_that_cannot_be_had(host, port, words):
    with pytest.raises(BuildError, match=words):
        address.listen(host, port)


def test_the_url_of_a_listener():
    with address.listen("127.0.0.1", 0) as listener:
        assert address.url(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}/"
    with address.listen("0.0.0.0", 0) as listener:
        assert address.url(listener).startswith("http://localhost:")
    if socket.has_ipv6:
        with address.listen("::1", 0) as listener:
            assert address.url(listener).startswith("http://[::1]:")


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Makes programs that print a line; nothing else is on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(browser.VARIABLE, raising=False)

    def add(name, line="", status=0):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho '{line}'\nexit {status}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return add


@pytest.mark.parametrize(
    ("present", "words"),
    [
        ({}, "no program named node is on PATH"),
        ({"node": "v22.1.0"}, "no program named npm is on PATH"),
        ({"node": "v18.19.0", "npm": "10"}, "reports version v18.19.0; the minimum is 20"),
        ({"node": "", "npm": "10"}, "reports version nothing"),
    ],
)
def test_node_missing_or_too_old(programs, present, words):
    for name, line in present.items():
        programs(name, line)
    with pytest.raises(BuildError, match=words) as caught:
        node_env._npm()
    assert "install Node.js 20 or newer" in caught.value.remedy


def test_node_new_enough(programs):
    programs("node", "v20.1.0")
    npm = programs("npm")
    assert node_env._npm() == npm


def test_a_browser_is_found_by_name_and_the_variable_wins(programs, monkeypatch):
    monkeypatch.setattr(browser, "_PATHS", ())
    assert browser.find() is None
    chrome = programs("google-chrome")
    assert browser.find() == chrome
    mine = programs("mine")
    monkeypatch.setenv(browser.VARIABLE, mine)
    assert browser.find() == mine
    monkeypatch.setenv(browser.VARIABLE, "/no/such/browser")
    with pytest.raises(BuildError, match="TALLOW_CHROMIUM=/no/such/browser is not a program"):
        browser.find()


def test_debian_gets_chromium_from_apt(programs, monkeypatch):
    monkeypatch.setattr(browser, "_PATHS", ())
    monkeypatch.setattr(browser, "_playwrights", lambda: None)
    monkeypatch.setattr(debian, "available", lambda: True)
    monkeypatch.setattr(debian, "install", lambda name: programs(name, "Chromium 150"))
    assert browser.ensure().endswith("/chromium")


def test_elsewhere_playwright_installs_it(programs, monkeypatch):
    monkeypatch.setattr(browser, "_PATHS", ())
    monkeypatch.setattr(debian, "available", lambda: False)
    installed: list[str] = []
    monkeypatch.setattr(browser, "_playwrights", lambda: installed[-1] if installed else None)
    path = programs("theirs", "Chromium 150")
    monkeypatch.setattr(browser, "call", lambda *_: installed.append(path))
    assert browser.ensure() == path


def test_no_browser_and_no_way_to_get_one(programs, monkeypatch):
    monkeypatch.setattr(browser, "_PATHS", ())
    monkeypatch.setattr(debian, "available", lambda: False)
    monkeypatch.setattr(browser, "_playwrights", lambda: None)
    monkeypatch.setattr(browser, "call", lambda *_: "")
    with pytest.raises(BuildError, match="it could not be installed") as caught:
        browser.ensure()
    assert "set TALLOW_CHROMIUM" in caught.value.remedy


def test_a_stub_of_a_browser_is_passed_over(programs, monkeypatch):
    monkeypatch.setattr(browser, "_PATHS", ())
    programs("chromium", "", status=1)
    chrome = programs("google-chrome", "Chrome 150")
    assert browser.ensure() == chrome


@pytest.mark.parametrize("works", [True, False])
def test_another_node_drives_where_playwrights_own_does_not_start(
    programs, monkeypatch, tmp_path, works
):
    folder = tmp_path / "lib" / "python3.11" / "site-packages" / "playwright" / "driver"
    folder.mkdir(parents=True)
    shutil.move(programs("own", status=0 if works else 127), folder / "node")
    node = programs("node", "v22.1.0")
    monkeypatch.setattr(browser, "VENV", tmp_path)
    driving = browser.driving("/usr/bin/chromium")
    expected = {} if works else {"PLAYWRIGHT_NODEJS_PATH": node}
    assert driving == {"TALLOW_CHROMIUM": "/usr/bin/chromium"} | expected


def test_a_browser_that_does_not_start(programs, monkeypatch):
    path = programs("broken", "", status=127)
    monkeypatch.setenv(browser.VARIABLE, path)
    with pytest.raises(BuildError, match="--version exited with 127"):
        browser.ensure()


def test_debian_gets_firefox_from_apt(programs, monkeypatch):
    installed: list[str] = []
    monkeypatch.setattr(firefox, "_NAMES", ("firefox-esr",))
    monkeypatch.setattr(debian, "available", lambda: True)
    monkeypatch.setattr(debian, "install", lambda name: installed.append(programs(name)))
    firefox.ensure()
    assert firefox.find() == installed[0]
    firefox.ensure()
    assert len(installed) == 1


def test_elsewhere_there_may_be_no_firefox(programs, monkeypatch):
    monkeypatch.setattr(firefox, "_NAMES", ("firefox",))
    monkeypatch.setattr(debian, "available", lambda: False)
    programs("firefox", "", status=1)  # a stub that only tells where to get one
    firefox.ensure()
    assert firefox.find() is None


def test_debian_s_caddy_is_unpacked_and_not_installed(programs, monkeypatch, tmp_path):
    unpacked = []

    def unpack(package, folder):
        unpacked.append(package)
        (folder / "usr" / "bin").mkdir(parents=True)
        shutil.move(programs(package), folder / "usr" / "bin" / "caddy")

    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(caddy, "_UNPACKED", tmp_path / "cache" / "usr" / "bin" / "caddy")
    monkeypatch.setattr(caddy, "_FOLDER", tmp_path / "cache")
    monkeypatch.setattr(debian, "available", lambda: True)
    monkeypatch.setattr(debian, "unpack", unpack)
    caddy.ensure()
    assert caddy.find() == tmp_path / "cache" / "usr" / "bin" / "caddy"
    caddy.ensure()
    assert unpacked == ["caddy"]


def test_elsewhere_there_may_be_no_caddy(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(caddy, "_UNPACKED", tmp_path / "caddy")
    monkeypatch.setattr(debian, "available", lambda: False)
    caddy.ensure()
    assert caddy.find() is None
