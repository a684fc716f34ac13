"""The headers that authenticate a delivery: bearer token, basic authentication, and free ones. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping

from actors.egress.headers import header_pairs, wrong_headers

_OURS = re.compile(
    r"(?i)host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|user-agent|webhook-.*"
)


def access_headers(values: Mapping[str, str]) -> dict[str, str]:
    """Return the headers for a token, a name and password, and free ones."""
    headers = dict(header_pairs(values.get("headers", "")))
    if token := values.get("token"):
        headers["Authorization"] = f"Bearer {token}"
    elif values.get("username") or values.get("password"):
        pair = f"{values.get('username', '')}:{values.get('password', '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    return headers


def check_access(values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield errors, by field (RFC 7617: a user name has no colon)."""
    if ":" in values.get("username", ""):
        yield "username", "a user name has no colon"
    if values.get("token") and (values.get("username") or values.get("password")):
        yield "token", "give a token, or a user name and password, not both"
    text = values.get("headers", "")
    for says in wrong_headers(text, _OURS, "the delivery"):
        yield "headers", says
    for name, _value in header_pairs(text):
        if name.lower() == "authorization" and values.keys() & {"token", "username"}:
            yield "headers", f"{name} is given twice"
