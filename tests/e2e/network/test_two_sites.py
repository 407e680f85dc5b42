"""Two of our sites at one origin: neither finds or deletes the other's data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.routing import Mount
from tests.conftest import watched_page
from tests.e2e.conftest import PATIENCE
from tests.e2e.network.hosting import copied

from tallow_build.environment.browser import until
from tallow_build.paths import WEB
from tallow_build.serving import server as static

# One in a folder of the other, and one in the folder of the first one's plans.
SITES = ("", "inner/", "plans/")

BEGIN = """async (sites) => {
  window.plans = {};
  const path = "worker/models/plans.js";
  for (const site of sites) plans[site] = await import(new URL(site + path, location));
}"""
SAVE = """async ([site, build, what]) => {
  const { keyOf, save } = plans[site];
  return save(await keyOf(build, what), `{"weights": [], "of": "${site}"}`, [], () => {});
}"""
FIND = """async ([site, build, what]) => {
  const { find, keyOf } = plans[site];
  return (await find(await keyOf(build, what)))?.record.of ?? null;
}"""
# Data of the previous version: in one cache for all sites, by URL.
SAVE_OLD = """async ([site, build, what]) => {
  const { build: of, hash } = await plans[site].keyOf(build, what);
  const cache = await caches.open("tallow-plans-2");
  const address = new URL(`${site}plans/${of}/${hash}`, location).href;
  for (const url of [address, `${address}?used`]) await cache.put(url, new Response("old"));
}"""


@pytest.fixture
def modules(browser: Browser, dist: Path) -> Iterator[Page]:
    """A page with each site's plans module."""
    inner = [Mount(f"/{site}", static.application(WEB, fallback=dist)) for site in SITES if site]
    also = [Mount(mount.path.rstrip("/"), mount.app) for mount in inner]
    also.append(Mount("/", static.application(WEB, fallback=dist)))
    with static.running(dist, also=also) as address:
        for page, _ in watched_page(browser, address):
            page.goto("app.webmanifest")
            page.evaluate(BEGIN, list(SITES))
            yield page


def test_plans_belong_to_their_site(modules: Page) -> None:
    for site in SITES:
        assert modules.evaluate(SAVE, [site, "build", 1])
    for site in SITES:
        assert modules.evaluate(FIND, [site, "build", 1]) == site
    assert modules.evaluate(SAVE, ["", "next", 1])  # which can't use the previous version's
    assert modules.evaluate(FIND, ["", "build", 1]) is None
    for site in SITES[1:]:
        assert modules.evaluate(FIND, [site, "build", 1]) == site


def test_data_of_older_versions_is_deleted_only_by_their_own_site(modules: Page) -> None:
    home = modules.evaluate("new URL('./', location).href")
    for site in SITES:
        modules.evaluate(SAVE_OLD, [site, "build", 1])
        name = f"tallow:plans:2:{home}{site}"
        modules.evaluate("(name) => caches.open(name).then(() => 0)", name)
    modules.evaluate("caches.open('of another page').then(() => 0)")

    def names() -> set[str]:
        return set(modules.evaluate("caches.keys()"))

    left = list(SITES)
    for site in SITES:
        assert modules.evaluate(SAVE, [site, "build", 1])
        left.remove(site)
        own = {f"tallow:plans:3:{home}{each}" for each in SITES if each not in left}
        old = {f"tallow:plans:2:{home}{each}" for each in left}
        shared = {"tallow-plans-2"} if left else set()
        assert names() == {"of another page", *own, *old, *shared}
        if left:
            code = "caches.open('tallow-plans-2').then((cache) => cache.keys())"
            urls = modules.evaluate(f"{code}.then((all) => all.map(({{ url }}) => url))")
            assert len(urls) == 2 * len(left)
            assert all(any(f"{home}{each}plans/" in url for each in left) for url in urls)


RECORDS = """async (sites) => {
  const records = [];
  for (const site of sites) {
    const { readTuning } = await import(new URL(`${site}gpu/tuning.js`, location));
    records.push(await readTuning(new URL(site, location).href, "card"));
  }
  return records;
}"""
WRITE = """async ([site, record]) => {
  const { writeTuning } = await import(new URL(`${site}gpu/tuning.js`, location));
  await writeTuning(new URL(site, location).href, "card", record);
}"""
WRITE_OLD = """() => new Promise((resolve, reject) => {
  const request = indexedDB.open("tallow", 1);
  request.onupgradeneeded = () => request.result.createObjectStore("tuning");
  request.onerror = reject;
  request.onsuccess = () => {
    const change = request.result.transaction("tuning", "readwrite");
    change.objectStore("tuning").put("old", "card");
    change.oncomplete = () => { request.result.close(); resolve(); };
  };
})"""


def test_tuning_belongs_to_its_site(modules: Page) -> None:
    """Records from before sites were distinguished are still found."""
    sites = list(SITES)
    assert modules.evaluate(RECORDS, sites) == [None, None, None]
    modules.evaluate(WRITE_OLD)
    assert modules.evaluate(RECORDS, sites) == ["old", "old", "old"]
    modules.evaluate(WRITE, ["", "one"])
    modules.evaluate(WRITE, ["inner/", "two"])
    assert modules.evaluate(RECORDS, sites) == ["one", "two", "old"]


def test_service_workers_belong_to_their_site(
    browser: Browser, dist: Path, tmp_path: Path, visitor_of: Any
) -> None:
    """The parent folder's deletes no files of the other, and is not taken for an older one."""
    folder = copied(dist, tmp_path / "site")
    with static.running(tmp_path) as address:
        copied(dist, folder / "inner")
        for page, _ in watched_page(browser, f"{address}site/", service_workers="allow"):
            visitor = visitor_of(page)
            state = visitor.hook("offline-state")

            def visit(path: str, visitor: Any = visitor, state: Any = state) -> None:
                visitor.open(f"{path}?device=numpy")
                home = visitor.page.evaluate("new URL('./', location).href")
                own = "navigator.serviceWorker.controller?.scriptURL === argument"
                until(visitor.page, own, f"{home}service-worker.js", seconds=PATIENCE / 1000)
                expect(state).to_have_attribute("data-state", "kept")

            visit("./inner/")
            kept = page.evaluate("caches.keys()")
            assert any(name.startswith("workbox-precache") for name in kept)
            visit("./")
            assert set(page.evaluate("caches.keys()")) >= set(kept)
            registered = "navigator.serviceWorker.getRegistrations().then((all) => all.length)"
            assert page.evaluate(registered) == 2

            remove = """navigator.serviceWorker.getRegistration("./inner/")
                .then((one) => one.unregister())"""
            page.evaluate(remove)
            visit("./inner/")  # starts with that of the parent folder
            assert page.evaluate(registered) == 2
