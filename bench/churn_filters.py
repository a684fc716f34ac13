"""The filters that `bench.churn` compares: the product's check in its worker, and other programs' methods.

The others compare one value of the page before and after, without memory. Ours has a memory, so it gets the earlier
checks in order, as in the service. A check that asks for another one to settle a doubt gets it: the same page a minute
later, at most `AGAIN` times; the last one is the outcome. Few pages have times, so checks are an hour apart, in a year
later than any page's date.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from time import process_time

import justext
import msgspec
from lxml import etree

from actors.content.bodies import markup
from actors.content.bodies.encoding import decode
from actors.content.changes.difference import stored_keys
from actors.content.errors import ContentError
from actors.content.messages import PageLook, PageRequest
from actors.content.tasks import TASKS
from bench.churn_material import Pair

URL = "https://shore.example/"
AGAIN = 2
_MINUTE, _HOUR = 60_000, 3_600_000
_START = 130 * 365 * 24 * _HOUR


class Outcome(msgspec.Struct, frozen=True):
    """A filter's verdict on a pair, and its CPU milliseconds for the later page."""

    real: bool
    ms: float
    size: int
    look: PageLook | None = None


def ours(pairs: Sequence[Pair], bodies: Mapping[str, bytes], shared: tuple[str, ...] = ()) -> dict[str, Outcome]:
    """Return the product's outcome on each pair of a page. Pairs share common checks."""
    memories: dict[tuple[str, ...], bytes | None] = {(): None}
    outcomes: dict[tuple[str, ...], Outcome] = {}
    for pair in pairs:
        looks = (*pair.history, pair.before, pair.after)
        for n in range(1, len(looks) + 1):
            if looks[:n] not in memories:
                body, memory = bodies[looks[n - 1]], memories[looks[: n - 1]]
                start = process_time()
                look = _look(body, memory, shared, _START + n * _HOUR)
                ms = 1000 * (process_time() - start)
                look = _settled(look, body, shared, _START + n * _HOUR)
                memories[looks[:n]] = look.memory if look is not None else memory
                real = look is not None and look.kind == "changed"
                outcomes[looks[:n]] = Outcome(real, ms, len(body), look)
    return {pair.id: outcomes[*pair.history, pair.before, pair.after] for pair in pairs}


def _settled(look: PageLook | None, body: bytes, shared: tuple[str, ...], at: int) -> PageLook | None:
    """Return the check that settles a doubt, or the bench's last one."""
    for n in range(AGAIN):
        if look is None or not look.soon:
            break
        look = _look(body, look.memory, shared, at + (n + 1) * _MINUTE)
    return look


def _look(body: bytes, memory: bytes | None, shared: tuple[str, ...], at: int = 0) -> PageLook | None:
    """Return the worker's response; None for a first check of a page that cannot be watched yet."""
    asked = PageRequest(body, "text/html", URL, memory=memory, shared=shared, at=at)
    try:
        return msgspec.msgpack.decode(TASKS["look_page"](msgspec.msgpack.encode(asked)), type=PageLook)
    except ContentError:
        return None


def last_keys(pairs: Sequence[Pair], bodies: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return the keys of a page's content at its last check."""
    last = max(pair.after for pair in pairs)
    look = _look(bodies[last], None, ())
    return stored_keys(look.memory) if look is not None else ()


def theirs(value: Callable[[bytes], object], pairs: Sequence[Pair], bodies: Mapping[str, bytes]) -> dict[str, Outcome]:
    """Compare one value of the page before and after."""
    known: dict[str, tuple[object, float]] = {}

    def valued(name: str) -> tuple[object, float]:
        if name not in known:
            start = process_time()
            found = value(bodies[name])
            known[name] = found, 1000 * (process_time() - start)
        return known[name]

    outcomes = {}
    for pair in pairs:
        (old, _), (new, ms) = valued(pair.before), valued(pair.after)
        outcomes[pair.id] = Outcome(old != new, ms, len(bodies[pair.after]))
    return outcomes


def raw_bytes(body: bytes) -> object:
    return hashlib.sha256(body).digest()


def visible_text(body: bytes) -> object:
    root = etree.HTML(decode(body, "").text.encode("utf-8", "replace"), etree.HTMLParser(encoding="utf-8"))
    if root is None:
        return ""
    etree.strip_elements(root, "script", "style", "noscript", "template", with_tail=False)
    return " ".join("".join(root.itertext()).split())


_STOPWORDS = frozenset().union(*(justext.get_stoplist(name) for name in ("English", "German", "French", "Swedish")))


def justext_paragraphs(body: bytes) -> object:
    try:
        found = justext.justext(decode(body, "").text.encode("utf-8", "replace"), _STOPWORDS, encoding="utf-8")
    except (etree.LxmlError, ValueError):  # an empty document
        return frozenset()
    return frozenset(paragraph.text for paragraph in found if not paragraph.is_boilerplate)


def trafilatura_text(body: bytes) -> object:
    import trafilatura  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415  installed by hand for the bench

    return trafilatura.extract(decode(body, "").text, include_comments=False) or ""


def rendered_text(body: bytes) -> object:
    """Return changedetection.io's unfiltered text: inscriptis' rendering, without white space."""
    from inscriptis import get_text  # type: ignore[import-not-found,unused-ignore]  # noqa: PLC0415  as above

    root = markup.parse(decode(body, "").text)
    etree.strip_elements(root, "head", "script", "style", "noscript", "svg", "math", "canvas", "iframe", "template")
    return "".join(get_text(etree.tostring(root, encoding="unicode", method="html")).split())


OTHERS: Mapping[str, tuple[Callable[[bytes], object], str]] = {
    "raw bytes": (raw_bytes, ""),
    "visible text": (visible_text, ""),
    "set of justext paragraphs": (justext_paragraphs, "justext"),
    "hash of trafilatura's text": (trafilatura_text, "trafilatura"),
    "as changedetection.io (inscriptis)": (rendered_text, "inscriptis"),
}
"""Each filter's value of a page, and the package it needs."""


def installed(package: str) -> bool:
    return not package or importlib.util.find_spec(package) is not None
