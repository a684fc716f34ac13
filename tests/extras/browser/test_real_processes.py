"""The processes that a page takes in a real browser."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from extras.browser.flags import kind_of
from extras.browser.holder import descendants
from tests.extras.browser.real import BROWSER, a_pool, a_web, shown

pytestmark = pytest.mark.usefixtures("browser")
PAGES = 3


def renderers() -> set[int]:
    found = set()
    for pid in descendants(os.getpid()):
        with suppress(OSError):
            if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.add(pid)
    return found


@pytest.mark.skipif(kind_of(BROWSER) == "full", reason="a whole browser has its own first page")
async def test_no_renderer_is_started_that_shows_nothing() -> None:
    seen: set[int] = set()

    async def watch() -> None:
        while True:
            seen.update(renderers())
            await trio.sleep(0.05)

    async with a_web() as (site, _), a_pool() as pool, trio.open_nursery() as nursery:
        url = site.page("slow", "<p>x</p><script>setTimeout(()=>document.body.append('y'), 1000)</script>")
        await shown(pool, url, deadline=60.0)
        before = renderers()
        nursery.start_soon(watch)
        for _ in range(PAGES):
            await shown(pool, url, deadline=60.0)
        nursery.cancel_scope.cancel()
    assert len(seen - before) <= PAGES + 1  # and, rarely, one of the page before
