"""axe, injected through the debugger because the page's policy forbids foreign scripts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from tests.api.browser.tab import Tab

RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
LOOKS = (("light", 1280), ("light", 360), ("dark", 360), ("dark", 1280))
COLOURS = ("color-contrast",)
LAYOUT = ("target-size", "scrollable-region-focusable", "nested-interactive", "region", "bypass")
"""Colour rules run in every pass, layout rules once a width, all other rules once a page."""
ASKED = ((), COLOURS + LAYOUT, COLOURS, COLOURS)


@cache
def source() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")


def offences(tab: Tab, only: tuple[str, ...] = ()) -> list[str]:
    """Run axe on the current page; one line for each offending element."""
    if not tab.run("typeof axe === 'object'"):
        tab.run(f"{source()};0")
    how = {"type": "rule", "values": list(only)} if only else {"type": "tag", "values": list(RULES)}
    found: list[dict[str, Any]] = tab.run(
        f"axe.run(document, {{runOnly: {how!r}, resultTypes: ['violations']}})"
        ".then(r => r.violations.map(v => ({id: v.id, nodes: v.nodes.slice(0, 4).map("
        "n => n.html.slice(0, 160) + ' ' + n.any.map(c => c.message).join('; '))})))"
    )
    return [f"{one['id']}: {node}" for one in found for node in one["nodes"]]


def check(tab: Tab) -> list[str]:
    """Return the faults of the current page in both colour schemes and widths: axe's, and horizontal overflow."""
    wrong = []
    for (scheme, width), rules in zip(LOOKS, ASKED, strict=True):
        tab.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        tab.page.set_viewport_size({"width": width, "height": 800})
        wrong += [f"{scheme} {width}: {one}" for one in offences(tab, rules)]
        if over := tab.run("document.documentElement.scrollWidth - innerWidth"):
            wrong += [f"{scheme} {width}: {over} px to the side"] if over > 0 else []
    return wrong
