"""Absolute http(s) addresses from the links in documents."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin

_WHOLE = re.compile(r"(https?:)//[\w./?&=%~+-]+", re.ASCII)
_BARE_HOST = re.compile(r"www\.[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?=[/?#]|$)", re.I)
_HOST = re.compile(r"https?://[^/?#]*", re.I)
_SURROGATE = re.compile("[\ud800-\udfff]")


def absolute(link: str, base: str) -> str:
    """Resolve a link against `base`; "" unless the result is http or https.

    A relative id (JSON Feed) or a `javascript:` link becomes "" or an address below `base`, never an error.
    """
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
