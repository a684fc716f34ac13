"""The texts of an entry: by the role of its elements, and without losing words that only look like markup."""

from __future__ import annotations

import re
from typing import Any, Final

from feedparser import api

from actors.content.bodies.markup import BREAKS, UNSEEN
from actors.content.bodies.text import normalise, plain

_TAG: Final = re.compile(r"<(/?)([a-zA-Z][^\s<>/]*)((?:[\s/][^<>]*)?)>")
_OF_TITLES: Final = frozenset("a b big br em font i img s small span strike strong sub sup tt u wbr".split())  # noqa: SIM905
_OF_CONTENT: Final = (BREAKS - UNSEEN).union(
    _OF_TITLES,
    "abbr acronym area base bdi bdo cite code col colgroup del dfn embed image ins kbd link mark meta nobr param "  # noqa: SIM905
    "picture q rp rt ruby samp script source style svg math time track var".split(),
)
"""Tags that are markup even if nothing closes them. No title is about <b>, but many are about <details>."""
_AGAIN: Final = ("dc_description", "itunes_summary", "media_description")
"""Elements that feedparser uses as the description, though they may be a caption. Best first."""


def _keep_apart(name: str) -> None:
    def start(parser: Any, attributes: Any) -> None:
        parser.push_content(name, attributes, "text/html", 1)

    def end(parser: Any) -> None:
        parser.pop_content(name)

    for parser in (api.StrictFeedParser, api.LooseFeedParser):
        setattr(parser, f"_start_{name}", start)
        setattr(parser, f"_end_{name}", end)


for _name in _AGAIN:
    _keep_apart(_name)


def title_of(fields: Any, *, atom: bool) -> str:
    return _words(fields.get("title"), fields.get("title_detail"), _OF_TITLES, atom=atom)


def content_of(entry: Any, *, atom: bool) -> str:
    """Return the first text of an entry: its content, its description, or that of its media."""
    parts = [part for part in entry.get("content") or () if not str(part.get("type")).startswith(("image", "video"))]
    found = [(part.get("value"), part) for part in parts]
    found += [(entry.get(name), entry.get(f"{name}_detail")) for name in ("summary", *_AGAIN)]
    texts = (_words(value, detail, _OF_CONTENT, atom=atom) for value, detail in found)
    return next(filter(None, texts), "")


def _words(value: object, detail: Any, known: frozenset[str], *, atom: bool) -> str:
    text = str(value or "")
    if not atom:
        return plain(_escaped(text, known))
    # RFC 4287, 3.1.1: plain text has no markup, whatever it looks like.
    return normalise(text) if (detail or {}).get("type") == "text/plain" else plain(text)


def _escaped(text: str, known: frozenset[str]) -> str:
    """Escape words in angle brackets that are text: `vector<bool>`, "the <details> element"."""
    closed = known.union(found[2].lower() for found in _TAG.finditer(text) if found[1])

    def kept(found: re.Match[str]) -> str:
        name, rest = found[2].lower(), found[3]
        if name in closed:
            return found[0]
        if "=" not in rest and not rest.endswith("/"):
            return f"&lt;{found[0][1:]}"
        return "" if name in UNSEEN else found[0]  # nothing closes it, and it would hide the rest

    return _TAG.sub(kept, text) if "<" in text else text
