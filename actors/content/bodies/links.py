"""Absolute http(s) addresses out of what documents write."""

from __future__ import annotations

import re
from urllib.parse import urljoin

_WHOLE = re.compile(r"(https?:)//[\w./?&=%~+-]+", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")


def absolute(link: str, base: str) -> str:
    """Return the address that a link names seen from `base`, "" when it is none of http or https.

    A relative id (JSON Feed) or a `javascript:` link becomes "" or an address below `base`, never an error.
    """
    link = _SURROGATE.sub("", link.strip())
    if not link:
        return ""
    try:
        whole = _WHOLE.fullmatch(link)  # one of another scheme is not joined, and parsing it takes longer than the rest
        joined = link if whole and not base.startswith(whole[1]) else urljoin(base, link)
    except ValueError:
        return ""
    return joined if joined[:8].lower().startswith(("http://", "https://")) else ""
