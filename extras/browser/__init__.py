"""Rendered pages: Chromium on a pipe, confined, a fresh context for each page, one way out.

Pure: `wire.py`, `page_view.py`, `flags.py`. `holder.py` has both sides of the process that keeps the browser, confines
it, and ends everything that the browser started. `engine.py` one running browser, `forward_proxy.py` its only way to
any host, `pool.py` all of it behind the port `actors.world.Browser`, `real.py` that port for the settings, with the
doctor's check. Start with `page_view.py`, one page from its opening to its end. The settings `browser*` govern it; the
first page starts a browser.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from actors.extras import Extra, member

if TYPE_CHECKING:
    from actors.settings import Settings
    from actors.system import System
    from actors.world import Browser
    from supervision import ChildSpec


def _ports(settings: Settings, log: Callable[..., None]) -> Mapping[str, Browser]:
    from extras.browser.real import real_browser

    return {"browser": real_browser(settings, log)}


def _parts(system: System) -> Sequence[tuple[str, ChildSpec]]:
    browser = system.world.browser
    if browser is None:
        return ()
    from actors.system import READY_WITHIN
    from supervision import ChildSpec

    run = partial(browser.run, connect=system.egress.guard.connect)
    return (("parsers", ChildSpec("browser", run, ready_within=READY_WITHIN)),)


EXTRA = Extra(ports=_ports, parts=_parts, checks=lambda: {"browser": member("extras.browser.real", "browser")()})
