from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio

from extras.browser.page_view import PageView
from extras.browser.pool import ChromiumPool
from extras.browser.wire import Command
from tests.extras.browser import tricks
from tests.extras.browser.real import BROWSER, Lines, a_pool, a_web, shown

pytestmark = pytest.mark.usefixtures("browser")
OPEN = """#!/bin/sh
# The browser without the walls that its command line builds.
for word in "$@"; do
  shift
  case "$word" in
    --proxy-*|--force-webrtc*|--webrtc*|--disable-quic|--block-new*|--host-resolver*|--disable-features*|--no-pings) ;;
    *) set -- "$@" "$word" ;;
  esac
done
names="MAP site.test 127.0.0.9, MAP inside.test 127.0.0.1, MAP inside.test. 127.0.0.1, MAP mixed.test 127.0.0.1"
names="$names, MAP rebound.test 127.0.0.1"
exec "{browser}" --disable-features=LocalNetworkAccessChecks --host-resolver-rules="$names" --disable-popup-blocking \\
  --autoplay-policy=no-user-gesture-required "$@"
"""


TRIES = 3
"""Attempts without walls: on a busy machine some tricks run out of time."""
SURE = frozenset({"fetch", "img", "websocket", "stun", "turn-tcp", "worker-fetch", "meta-refresh", "v6.fetch"})


def without_walls(folder: Path) -> str:
    """Return a browser whose command line switches all walls off."""
    script = folder / "chromium-headless-shell" if "headless" in BROWSER else folder / "chromium"
    script.write_text(OPEN.format(browser=BROWSER), "utf-8")
    script.chmod(0o755)
    folder.chmod(0o755)
    for parent in folder.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o055)  # root's browser drops to another user and needs to reach it
    return str(script)


async def tried(*, screenshot: bool = True, **given: Any) -> tuple[Mapping[str, Any], set[str]]:
    """Render all pages with tricks; return each page's outcome and the canary's hits."""
    outcomes: dict[str, Any] = {}
    async with a_web(tricks.STREAM_PORTS, tricks.DATAGRAM_PORTS) as (site, ports):
        pages = tricks.pages(f"127.0.0.1:{site.canary}", site.canary, ports)
        async with a_pool([site.canary, *ports.values()], **given) as pool, trio.open_nursery() as nursery:

            async def see(name: str, url: str) -> None:
                outcomes[name] = await shown(pool, url, deadline=40.0, screenshot=screenshot)

            for name, html in pages.items():
                nursery.start_soon(see, name, site.page(name, html))
        await trio.sleep(0.3)  # late requests arrive now
        return outcomes, set(site.hits)


@pytest.fixture(autouse=True)
def proxy_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Switch off the render's own filter, so that only the proxy protects."""
    monkeypatch.setattr("extras.browser.page_view._SHOWN_DROPPED", frozenset())
    monkeypatch.setattr("extras.browser.page_view._DROPPED", frozenset())
    monkeypatch.setattr("extras.browser.page_view.NO_WINDOWS", "")


@pytest.mark.parametrize("namespace", [True, False], ids=["namespace", "proxy"])
async def test_x26_no_page_passes_the_guard(namespace: bool) -> None:
    assert len(set(tricks.NAMES)) >= 350
    outcomes, hits = await tried(namespace=namespace, screenshot=namespace)  # without a screenshot a tab may be hidden
    assert hits == set()
    judge(outcomes)


def judge(outcomes: Mapping[str, Any]) -> None:
    kinds = {name: getattr(outcome, "blame", "shown") for name, outcome in outcomes.items()}
    kept = {name: outcomes[name] for name in tricks.STAYING if kinds.pop(name) != "shown"}
    assert not kept, kept
    assert set(kinds.values()) == {"refused"}, "who leaves for a place that is refused shows no page"


async def test_without_the_walls_most_tricks_reach_the_canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the test above could not fail."""

    async def believed(*_: object) -> str:
        return ""

    monkeypatch.setattr(PageView, "begin", lambda self: [Command("Target.createBrowserContext", {}, tag="context")])
    monkeypatch.setattr(ChromiumPool, "_proved", believed)
    path, hits = without_walls(tmp_path), set[str]()
    for _ in range(TRIES):
        _, more = await tried(path=path, namespace=False)
        hits |= more
        missed = sorted(set(tricks.NAMES) - hits)
        if len(missed) <= 10 and not SURE & set(missed):
            break
    else:
        pytest.fail(f"{len(missed)} reach none: {missed}")


async def test_x26_a_browser_that_passes_by_the_proxy_is_given_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PageView, "begin", lambda self: [Command("Target.createBrowserContext", {}, tag="context")])
    monkeypatch.setattr("extras.browser.pool.HOPELESS", 1)
    lines = Lines()
    async with a_web() as (site, _), a_pool(path=without_walls(tmp_path), namespace=False, log=lines) as pool:
        outcome = await shown(pool, site.page("a", "<p>a</p>"))
        assert getattr(outcome, "blame", "") == "local" and "past the proxy" in pool.lacks()
        assert site.seen == [] and "browser.start_failed" in [event for event, _ in lines]
