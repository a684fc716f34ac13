"""Dialects: a service's markup and limits, and the escapes that make a page's text harmless. Pure.

A dialect is a row of the table: its escape, and how strong text, links, insertions and deletions are written.

Controls forge headers and move cursors, direction overrides show a different text (UAX #9, Trojan Source), zero-width
characters hide one text in another, and noncharacters end an XML document. Joiners stay: Persian, Hindi and family
emoji need them. So do closed isolates, which keep a text of two directions in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape as _html
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from actors.content.wording.words import cut as cut_line

DialectName = Literal["plain", "markdown", "slack", "html", "telegram", "card", "jinja"]
_MARKS = re.compile(r"[\\`*_\[\]()~|>]")
_FIRST = re.compile(r"^([#+\-=]|\d+(?=[.)]))", re.MULTILINE)
# At the end as well: another value may follow there.
_MENTION = re.compile(r"@(?=\S|\Z)")
_CALLS = re.compile(r"[@<](?=\S|\Z)|&(?=#?\w+;|#?\w*\Z)")
_OPENS = re.compile(r"\{(?=[{%#]|\Z)")
_WORD_JOINER = "\u2060"  # without width and without a break: it separates a mark from its text, invisibly


class Dialect(NamedTuple):
    """A markup. All but `escape`, `address` and `link` take escaped text. address: for a URL on its own."""

    escape: Callable[[str], str]
    strong: Callable[[str], str]
    link: Callable[[str, str], str]
    address: Callable[[str], str]
    inserted: Callable[[str], str]
    deleted: Callable[[str], str]
    line_break: str = "\n"
    shows_url: bool = False
    """Whether a link shows its URL."""


def _markdown(text: str) -> str:
    """Return text without effective marks, lists, tags, entities or mentions."""
    escaped = _MARKS.sub(r"\\\g<0>", text)
    return _CALLS.sub(rf"\g<0>{_WORD_JOINER}", _FIRST.sub(rf"{_WORD_JOINER}\1", escaped))


def _address(url: str) -> str:
    """Return a URL that ends no link early."""
    return "".join(f"%{ord(letter):02X}" if letter in "()<>[]|\\\"'` \t\r\n" else letter for letter in url)


def _inert_address(url: str) -> str:
    """Return a URL without working marks or mentions: the characters are percent-encoded (RFC 3986)."""
    return "".join(f"%{ord(letter):02X}" if letter in "*_~@" else letter for letter in _address(url))


def _braceless(url: str) -> str:
    return url.replace("{", "%7B").replace("}", "%7D")


def _slack(text: str) -> str:
    """Return text for mrkdwn, by its three escapes; marks are separated from their words."""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"[*_~`]", rf"{_WORD_JOINER}\g<0>{_WORD_JOINER}", _MENTION.sub(f"@{_WORD_JOINER}", escaped))


def _jinja(text: str) -> str:
    """Return text that a Jinja template shows unchanged: nothing opens, even where two values meet."""
    return _OPENS.sub(f"{{{_WORD_JOINER}", text)


def _escaped(text: str) -> str:
    return _html(text, quote=True)


_TAGS: Final = Dialect(
    escape=_escaped,
    strong=lambda text: f"<b>{text}</b>",
    link=lambda label, url: f'<a href="{_escaped(_address(url))}">{_escaped(label)}</a>',
    address=lambda url: _escaped(_address(url)),
    inserted=lambda text: f"+ {text}",
    deleted=lambda text: f"- <s>{text}</s>",
)
"""The few HTML tags that chats accept."""
_PLAIN: Final = Dialect(
    escape=str,
    strong=str,
    link=lambda label, url: f"{label}: {url}" if label else url,
    address=str,
    inserted=lambda text: f"+ {text}",
    deleted=lambda text: f"- {text}",
    shows_url=True,
)
DIALECTS: Final[Mapping[DialectName, Dialect]] = {
    "plain": _PLAIN,
    "markdown": Dialect(
        escape=_markdown,
        strong=lambda text: f"**{text}**",
        link=lambda label, url: f"[{_markdown(label)}]({_address(url)})",
        address=_inert_address,
        inserted=lambda text: rf"\+ {text}",
        deleted=lambda text: rf"\- ~~{text}~~",
    ),
    "slack": Dialect(
        escape=_slack,
        strong=lambda text: f"*{text}*",
        link=lambda label, url: f"<{_address(url).replace('&', '&amp;')}|{_slack(label)}>",
        address=lambda url: _inert_address(url).replace("&", "&amp;"),
        inserted=lambda text: f"+ {text}",
        deleted=lambda text: f"- ~{text}~",
    ),
    "html": _TAGS._replace(
        strong=lambda text: f"<strong>{text}</strong>",
        inserted=lambda text: f"+ <ins>{text}</ins>",
        deleted=lambda text: f"- <del>{text}</del>",
        line_break="<br>",
    ),
    "telegram": _TAGS,
    "card": _TAGS._replace(line_break="<br>"),
    "jinja": _PLAIN._replace(
        escape=_jinja,
        link=lambda label, url: f"{_jinja(label)}: {_braceless(url)}" if label else _braceless(url),
        address=_braceless,
    ),
}

_BREAKS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROLS = re.compile(
    r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2065\u206a-\u206f\ufeff"
    r"\ufdd0-\ufdef\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
_ISOLATES, _SPACES = re.compile("[\u2066-\u2069]"), re.compile(r"\s+")
_EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


def paragraphs(text: str) -> str:
    r"""Return a text with line feeds as its only line breaks, and at most one empty line in a row.

    >>> paragraphs("one\r\ntwo\x07\n\n\n\nthree \u202eeerht")
    'one\ntwo\n\nthree eerht'
    """
    if text.isprintable():  # as nearly all are: of these characters only the space is printable
        return text.strip()
    clean = _CONTROLS.sub("", _BREAKS.sub("\n", text.encode("utf-8", "replace").decode("utf-8")))
    return _without_open_isolates(_EMPTY_LINES.sub("\n\n", clean).strip())


def one_line(text: str) -> str:
    r"""Return a text as one line.

    >>> one_line("Sale\r\nBcc: everyone@example.com")
    'Sale Bcc: everyone@example.com'
    """
    if text.isprintable():
        return " ".join(text.split())
    return _SPACES.sub(" ", paragraphs(text)).strip()


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, cut at a word if possible, with an ellipsis. Accents stay.

    >>> cut("The fare of the ferry", 12), cut("Donaudampfschiff", 8), cut("short", 8)
    ('The fare of…', 'Donauda…', 'short')
    """
    return _without_open_isolates(cut_line(text, most)) if most > 0 else ""


def _without_open_isolates(text: str) -> str:
    """Return a text without its isolates (UAX #9, 2.4.2), unless each is closed in its own line."""
    for line in text.split("\n"):
        depth = 0
        for mark in _ISOLATES.findall(line):
            depth += -1 if mark == "\u2069" else 1
            if depth < 0:
                break
        if depth:
            return _ISOLATES.sub("", text)
    return text


Unit = Literal["characters", "bytes", "utf16"]
MEASURES: Final[dict[Unit, Callable[[str], int]]] = {
    "characters": len,
    "bytes": lambda text: len(text.encode()),
    "utf16": lambda text: len(text.encode("utf-16-le")) // 2,
}


class TextLimits(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`text` counts in `unit`, `title` in characters. titled: the title is the first line of the text."""

    dialect: DialectName = "plain"
    text: int
    title: int = 200
    unit: Unit = "characters"
    titled: bool = False
