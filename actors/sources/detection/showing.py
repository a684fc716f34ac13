"""Pages that need a browser, at classification: when to render, and the sentences for the user."""

from __future__ import annotations

from typing import Final

from actors.content.messages.readings import Finding
from actors.egress.http import FetchedResponse
from actors.egress.url import Url, parse_url
from actors.errors import UrlRefused
from actors.previews import FilledBy, Rendering
from actors.sources.looks.access import Access
from actors.sources.schedule.look_price import RENDERED
from storage.records.source import Render

MOST_SHOWN: Final = 3
LEAST: Final = 200
"""Bytes of JSON that may have filled a page; less is a setting or a count."""
EMPTY: Final = "This page is empty without JavaScript"
COSTS: Final = f"each look costs about {RENDERED} times a plain one"


def is_wanted(render: Render, finding: Finding, access: Access) -> bool:
    """Return whether to render a page: on request, or if it is empty without scripts."""
    if finding.format != "html" or access.body is not None:
        return False
    return render == "always" or (render == "auto" and bool(finding.shell))


def shown(empty: str, fetched: FetchedResponse) -> Rendering:
    """Return the sentences about a rendered page."""
    assert fetched.rendered is not None, "a browser has shown it"
    found = tuple(FilledBy(url.text, size) for url, size in _watchable(fetched))[:MOST_SHOWN]
    says = f"{EMPTY} ({empty}), so a browser shows it: {COSTS}." if empty else f"A browser shows this page: {COSTS}."
    if found:
        says += f" It fills itself from {found[0].url} ({_size(found[0].size)} of JSON): to watch that is a plain look."
    return Rendering(says, empty, done=True, costs=RENDERED, filled_by=found)


def not_shown(empty: str, why: str) -> Rendering:
    """Return the sentences about a page that could not be rendered."""
    return Rendering(f"{EMPTY} ({empty}), and {why}.", empty, done=False, costs=RENDERED)


def _watchable(fetched: FetchedResponse) -> list[tuple[Url, int]]:
    """Return the JSON URLs that filled a page and may be watched; a page may name any address."""
    found: dict[str, tuple[Url, int]] = {}
    for one in fetched.rendered.filled_by if fetched.rendered is not None else ():
        try:
            url = parse_url(one.url, schemes=("http", "https"))
        except UrlRefused:
            continue
        if one.size >= LEAST:
            found.setdefault(url.text, (url, one.size))
    return sorted(found.values(), key=lambda pair: -pair[1])


def _size(size: int) -> str:
    return f"{size / 1024:.0f} KB" if size >= 1024 else f"{size} bytes"
