"""Dialects: a service's markup, and the escapes that make a page's text harmless there. Pure.

A dialect is a row of the table: its escape, and how strong text, links, insertions and deletions are written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from html import escape as _html
from typing import Final, Literal, NamedTuple

DialectName = Literal["plain", "markdown", "slack", "html", "telegram", "card", "jinja"]
_MARKS = re.compile(r"[\\`*_\[\]()~|>]")
_FIRST = re.compile(r"^([#+\-=]|\d+(?=[.)]))", re.MULTILINE)
# At the end as well: another value may follow there.
_MENTION = re.compile(r"@(?=\S|\Z)")
_CALLS = re.compile(r"[@<](?=\S|\Z)|&(?=#?\w+;|#?\w*\Z)")
_OPENS = re.compile(r"\{(?=[{%#]|\Z)")
_WORD_JOINER = "\u2060"
"""Without width and without a break: it separates a mark from its text, invisibly."""


class Dialect(NamedTuple):
    """One kind of markup. All but `escape`, `address` and `link` take escaped text.

    address: for a URL on its own, or inside markup that a user writes around it.
    """

    escape: Callable[[str], str]
    strong: Callable[[str], str]
    link: Callable[[str, str], str]
    address: Callable[[str], str]
    came: Callable[[str], str]
    went: Callable[[str], str]
    line: str = "\n"


def _markdown(text: str) -> str:
    """Return text without effective marks, lists, tags, entities or mentions."""
    marked = _MARKS.sub(r"\\\g<0>", text)
    return _CALLS.sub(rf"\g<0>{_WORD_JOINER}", _FIRST.sub(rf"{_WORD_JOINER}\1", marked))


def _address(url: str) -> str:
    """Return a URL that ends no link early."""
    return "".join(f"%{ord(letter):02X}" if letter in "()<>[]|\\\"'` \t\r\n" else letter for letter in url)


def _bare(url: str) -> str:
    """Return a URL without working marks or mentions: the characters are percent-encoded (RFC 3986)."""
    return "".join(f"%{ord(letter):02X}" if letter in "*_~@" else letter for letter in _address(url))


def _braceless(url: str) -> str:
    return url.replace("{", "%7B").replace("}", "%7D")


def _plain(text: str) -> str:
    return text


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
    came=lambda text: f"+ {text}",
    went=lambda text: f"- <s>{text}</s>",
)
"""The few HTML tags that chats accept."""
_PLAIN: Final = Dialect(
    escape=_plain,
    strong=_plain,
    link=lambda label, url: f"{label}: {url}" if label else url,
    address=_plain,
    came=lambda text: f"+ {text}",
    went=lambda text: f"- {text}",
)
DIALECTS: Final[Mapping[DialectName, Dialect]] = {
    "plain": _PLAIN,
    "markdown": Dialect(
        escape=_markdown,
        strong=lambda text: f"**{text}**",
        link=lambda label, url: f"[{_markdown(label)}]({_address(url)})",
        address=_bare,
        came=lambda text: rf"\+ {text}",
        went=lambda text: rf"\- ~~{text}~~",
    ),
    "slack": Dialect(
        escape=_slack,
        strong=lambda text: f"*{text}*",
        link=lambda label, url: f"<{_address(url).replace('&', '&amp;')}|{_slack(label)}>",
        address=lambda url: _bare(url).replace("&", "&amp;"),
        came=lambda text: f"+ {text}",
        went=lambda text: f"- ~{text}~",
    ),
    "html": _TAGS._replace(
        strong=lambda text: f"<strong>{text}</strong>",
        came=lambda text: f"+ <ins>{text}</ins>",
        went=lambda text: f"- <del>{text}</del>",
        line="<br>",
    ),
    "telegram": _TAGS,
    "card": _TAGS._replace(line="<br>"),
    "jinja": _PLAIN._replace(
        escape=_jinja,
        link=lambda label, url: f"{_jinja(label)}: {_braceless(url)}" if label else _braceless(url),
        address=_braceless,
    ),
}
