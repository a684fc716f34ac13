"""Text: from bytes to str, from markup to plain lines, and its stored forms; and absolute addresses of links."""

from __future__ import annotations

import html
import re
import unicodedata
from urllib.parse import quote, urljoin

from actors.content.errors import ContentError
from storage.records.event import CONTENT_CAP

MOST_PLAIN = 1 << 20  # characters of an entry's text that are read

_WHOLE = re.compile(r"(https?:)//[\w./?&=%~+-]+", re.ASCII)
_BARE_HOST = re.compile(r"www\.[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?=[/?#]|$)", re.I)
_HOST = re.compile(r"https?://[^/?#]*", re.I)
_MARKUP = re.compile(r"<[a-zA-Z/!?]")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,30});")
_SURROGATE = re.compile("[\ud800-\udfff]")
# All control characters except tab, line breaks and NEL, which become white space.
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def normalise(text: str) -> str:
    """Return NFC text without lone surrogates and control characters; white space is folded per line, outer blank lines
    go.

    >>> normalise("  a\\t b \\r\\n\\n\\n\\nc\\x00\\ud800 ")
    'a b\\n\\nc\ufffd'
    """
    if text.isprintable():  # one clean line, the common case
        return " ".join((text if text.isascii() else unicodedata.normalize("NFC", text)).split())
    text = _CONTROL.sub("", _SURROGATE.sub("\ufffd", text))
    lines = [" ".join(line.split()) for line in unicodedata.normalize("NFC", text).splitlines()]
    kept = [line for i, line in enumerate(lines) if line or (i and lines[i - 1])]
    return "\n".join(kept).strip("\n")


def plain(fragment: str, *, most: int = MOST_PLAIN) -> str:
    """Return the visible text of HTML, or of text with entities, as lines. Reads at most `most` characters."""
    fragment = fragment[:most]
    if _MARKUP.search(fragment):
        from actors.content.bodies import markup  # noqa: PLC0415 - lxml is for workers

        page = f"<html><body><div>{fragment}</div></body></html>"
        try:
            return normalise("\n".join(filter(str.strip, markup.lines(markup.parse(page)))))
        except ContentError:
            return ""
    for _ in range(2):  # some feeds escape twice (`&amp;#8217;`)
        if _ENTITY.search(fragment):
            fragment = _ENTITY.sub(lambda found: html.unescape(found[0]), fragment)
    return normalise(fragment)


def cap(text: str) -> tuple[str, bool]:
    """Cut text to 64 KiB of UTF-8 on a character boundary; the flag tells whether it was cut."""
    if len(text) * 4 <= CONTENT_CAP:
        return text, False
    raw = text.encode()
    if len(raw) <= CONTENT_CAP:
        return text, False
    return raw[:CONTENT_CAP].decode("utf-8", "ignore"), True


def absolute(link: str, base: str) -> str:
    """Resolve a link against `base`, never with an error; "" unless the result is http or https."""
    link = _SURROGATE.sub("", link.strip())
    if not link:
        return ""
    try:
        whole = _WHOLE.fullmatch(link)  # a different scheme means no joining, and urljoin is the slow part
        joined = link if whole and not base.startswith(whole[1]) else urljoin(base, link)
    except ValueError:
        return ""
    return joined if joined[:8].lower().startswith(("http://", "https://")) else ""


def entry_address(link: str, base: str) -> str:
    """Resolve an entry's link, with everything after the host in ASCII; "" unless it is http or https.

    >>> entry_address("/a b/ö?c=%20", "http://x.example/"), entry_address("www.x.example/1", "https://y.example/")
    ('http://x.example/a%20b/%C3%B6?c=%20', 'https://www.x.example/1')
    """
    link = link.strip()
    found = absolute(f"//{link}" if _BARE_HOST.match(link) else link, base)
    if found.isascii() and " " not in found:
        return found
    host = _HOST.match(found)
    return host[0] + quote(found[host.end() :], safe="%!$&'()*+,/:;=?@~#[]|") if host is not None else found
