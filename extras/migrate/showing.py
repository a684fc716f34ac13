"""Pages that another program renders in a browser, as sources with `render: always`."""

from __future__ import annotations

from typing import Final, NamedTuple

from extras.migrate.plan import Findings

LONGEST_WAIT: Final = 500
NEEDS: Final = "a browser shows it: one is needed here, and `sanderling doctor` says whether it is there"
POSTED: Final = "what is asked with a POST is not rendered: it is watched as it is sent"
AT_REST: Final = "it is read once it has come to rest: no CSS selector is waited for"


class Shown(NamedTuple):
    """Whether a browser renders a page, and the CSS selector to wait for."""

    rendered: bool = False
    wait_for: str | None = None


PLAIN: Final = Shown()


def shown(note: Findings, place: str, what: str, wait_for: str = "", *, posts: bool = False) -> Shown:
    """Return how to render a page that another program renders, and note the differences."""
    if posts:
        note(place, what, "approximated", POSTED)
        return PLAIN
    note(place, what, "exact", NEEDS)
    wait_for = wait_for.strip().removeprefix("css=").strip()
    if not wait_for:
        return Shown(rendered=True)
    if not _is_css(wait_for):
        note(place, "wait_for", "approximated", AT_REST)
        return Shown(rendered=True)
    note(place, "wait_for", "exact")
    return Shown(rendered=True, wait_for=wait_for)


def _is_css(selector: str) -> bool:
    from actors.content.errors import ContentError  # imports lxml, needed only for selectors
    from actors.content.messages.readings import selector_kind
    from actors.content.pages.selectors import check

    try:
        check(selector)
    except ContentError:
        return False
    return selector_kind(selector) == "css" and len(selector) <= LONGEST_WAIT
