"""New items of lists: requests to find them and to read their pages, and the answers. No parser here."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from actors.content.messages.readings import StandIn
from storage.records.identity import Millis

_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|_ga|_gl|wt_\w+|ref_src", re.I)
_SESSION = re.compile(
    r"sid|s?ession_?id|session|jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken|osid|zenid|oscsid|nonce|_", re.I
)
_SESSION_IN_PATH = re.compile(r";(?:jsessionid|sid|phpsessid)=[^/?#]*|/\(S\([a-z0-9]{10,}\)\)", re.I)
_MOST_NAMES = 50


Kind = Literal["baseline", "unchanged", "news", "reset"]


class Item(Struct, frozen=True, array_like=True):
    """An item of a list: its link, its title in the list ("" if it has none), and its date."""

    url: str
    title: str
    published_at: Millis | None = None


class ListRequest(Struct, frozen=True):
    """Compares a page or a sitemap with `memory`, the last check's result. The answer is a `ListLook`.

    memory: None before the first check. file: the index file, "" for the source's own URL. was: see `PageRequest`.
    """

    body: bytes
    content_type: str
    url: str
    selector: str | None = None
    ignore: tuple[str, ...] = ()
    memory: bytes | None = None
    file: str = ""
    was: str = ""


class ListLook(Struct, frozen=True):
    """One check of a list. new: items to report. held: those of an entirely new list. Both in reading order.

    count: items now in the list. bulk: new addresses of a sitemap, too many to report one by one. say: whether to
    report a reset. files: index files to read now. next_file: the one to read in an hour, if dates are useless. remark:
    a sentence about the list, for its health. memory: None if unchanged.
    """

    kind: Kind
    reason: str
    title: str = ""
    memory: bytes | None = None
    count: int = 0
    new: tuple[Item, ...] = ()
    held: tuple[Item, ...] = ()
    bulk: int = 0
    say: bool = False
    files: tuple[str, ...] = ()
    next_file: str = ""
    remark: str = ""
    trouble: StandIn | None = None


class ItemPage(Struct, frozen=True):
    """An item's own page. content: capped; the hashes cover the full text. trouble: why it is no page."""

    title: str
    author: str
    published_at: Millis | None
    content: str
    content_hash: str
    simhash: int
    truncated: bool
    trouble: StandIn | None = None


def item_form(url: str) -> str:
    """Reduce an address to its item: no scheme, "www.", tracking, session and fragment.

    >>> item_form("https://www.a.example/x;jsessionid=1F?b=2&utm_source=y&a=1#c"), item_form("http://a.example/x/?a=1&b=2")
    ('a.example/x?a=1&b=2', 'a.example/x?a=1&b=2')
    """
    try:
        parts = urlsplit(_SESSION_IN_PATH.sub("", url))
        named = sorted(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=_MOST_NAMES))
    except ValueError:
        return url
    kept = [f"{name}={value}" for name, value in named if not _is_no_part(name)]
    where = f"{parts.netloc.lower().removeprefix('www.')}{parts.path.rstrip('/')}"
    return f"{where}?{'&'.join(kept)}" if kept else where


def _is_no_part(name: str) -> bool:
    return _TRACKING.fullmatch(name) is not None or _SESSION.fullmatch(name) is not None
