"""Empty shells: pages with almost no content until their scripts have run. Pure.

Two signs are needed, as for walls: scripts, and a page that waits for them (an empty element that they fill, a
`noscript` that asks for JavaScript, or no text at all). A page with its own text is no shell. Nor
is a wall: a browser would not get past it, and is not meant to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from actors.content.bodies import markup
from actors.content.bodies.markup import Element
from actors.content.messages.readings import StandIn
from actors.content.pages.blocks import Blocks
from actors.content.pages.evidence import SHELL_IDS, kind_of
from actors.content.pages.traits import FURNITURE

FEW = 60
"""Minimum words of a page with its own text."""
NEXT_TO_NONE = 5
"""Maximum words of a page whose request for JavaScript counts; with more, its text may be complete."""
_LEAST_SCRIPT = 20
_MOST_WAITING = 8
_LOOKED_AT = 400
_JAVASCRIPT = re.compile(r"java\s?-?script", re.IGNORECASE)
_SCRIPTS = frozenset({"", "module", "text/javascript", "application/javascript", "text/babel"})
_MARKS = frozenset({"ng-app", "ng-version", "data-reactroot", "data-v-app", "data-server-rendered"})
_SHOWS = frozenset({"form", "table", "input"})


def shell_of(root: Element, trouble: StandIn | None, blocks: Blocks) -> str:
    """Describe the sign that a page is empty without its scripts; "" if it is not.

    trouble: the wall or error in the page's place, from `walls`.
    """
    if (trouble is not None and trouble.kind not in {"script", "empty"}) or not any(map(_runs, root.iter("script"))):
        return ""
    if trouble is not None and trouble.kind == "script":
        return "it says that it needs JavaScript"
    words = sum(len(text.split()) for text, trait in _rows(blocks) if not trait & FURNITURE)
    if words >= FEW:
        return ""
    mounts = list(_mounts(root))
    waiting = next((mount for mount in mounts if _is_empty(mount)), None)
    if waiting is not None:
        return f"{_named(waiting)} is empty until its scripts run"
    if not blocks.texts:
        return "it has scripts and no text"
    if not mounts and words <= NEXT_TO_NONE and any(map(_asks, root.iter("noscript"))):
        return "it asks for JavaScript, and has next to no text without it"
    return ""


def _rows(blocks: Blocks) -> Iterator[tuple[str, int]]:
    return zip(blocks.texts, blocks.traits, strict=True)


def _runs(script: Element) -> bool:
    """Whether a script element is a program, and not data or the line of a counter."""
    kind = (script.get("type") or "").strip().lower()
    return kind in _SCRIPTS and (bool(script.get("src")) or len(script.text or "") >= _LEAST_SCRIPT)


def _mounts(root: Element) -> Iterator[Element]:
    """Yield the elements that scripts fill, by the names that frameworks use."""
    for element in root.iter():
        name = element.tag
        if not isinstance(name, str) or name in markup.UNSEEN or name in {"html", "body"}:
            continue
        is_app = name.endswith(("-app", "-root")) or name.startswith("app-")
        own = (element.get("id") or "").strip().lower()
        if is_app or own in SHELL_IDS or not _MARKS.isdisjoint(element.keys()):
            yield element


def _is_empty(mount: Element) -> bool:
    """Whether an element shows nothing yet, or only that it is loading."""
    if next(mount.iter(*_SHOWS), None) is not None:
        return False
    text = " ".join(" ".join(markup.lines(mount)).split())[:_LOOKED_AT]
    return not text or (len(text.split()) <= _MOST_WAITING and kind_of(text) == "loading")


def _named(element: Element) -> str:
    own = (element.get("id") or "").strip()
    return f"<{element.tag} id={own[:40]}>" if own else f"<{element.tag[:40]}>"


def _asks(noscript: Element) -> bool:
    return _JAVASCRIPT.search(" ".join(noscript.itertext())[:2_000]) is not None
