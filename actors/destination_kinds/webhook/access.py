"""The headers by which a receiver lets a delivery in: bearer token, basic authentication, and free ones. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Final

MOST_HEADERS: Final = 10
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_OURS = re.compile(
    r"(?i)host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent|webhook-.*"
)


def access_headers(values: Mapping[str, str]) -> dict[str, str]:
    """Return the headers by which a receiver lets a delivery in: of a token, of a name and password, and free ones."""
    headers = dict(_pairs(values.get("headers", "")))
    if token := values.get("token"):
        headers["Authorization"] = f"Bearer {token}"
    elif values.get("username") or values.get("password"):
        pair = f"{values.get('username', '')}:{values.get('password', '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return headers


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in filter(str.strip, text.split("\n")):
        name, _, value = line.partition(":")
        yield name.strip(), value.strip()


def check_access(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong, by field (RFC 7617: a user name holds no colon)."""
    if ":" in values.get("username", ""):
        yield "username", "a user name has no colon"
    if values.get("token") and (values.get("username") or values.get("password")):
        yield "token", "give a token, or a user name and password, not both"
    seen: set[str] = set()
    pairs = list(_pairs(values.get("headers", "")))
    if len(pairs) > MOST_HEADERS:
        yield "headers", f"at most {MOST_HEADERS}"
    for name, value in pairs:
        if not _NAME.fullmatch(name) or not value or not value.isascii():
            yield "headers", "write each as Name: value, in ASCII, on a line of its own"
        elif _OURS.fullmatch(name):
            yield "headers", f"{name} is set by the delivery itself"
        elif name.lower() in seen or (name.lower() == "authorization" and values.keys() & {"token", "username"}):
            yield "headers", f"{name} is given twice"
        seen.add(name.lower())
