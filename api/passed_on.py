"""Detect requests that another program forwarded to the admin socket. Pure.

The socket asks for no key, so a forwarded request would gain full access. Browsers cannot open a Unix socket, but a
proxy or a forwarded port can. Headers reveal such requests: browsers send `Origin` or `Sec-Fetch-Site`, proxies name
the client, and a hostile page has no local host name.
"""

from __future__ import annotations

from werkzeug.datastructures import Headers

from api.hosts import is_ours

_BROWSER = ("Origin", "Sec-Fetch-Site", "Cookie")
_PROXY = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


def passed_on(headers: Headers) -> str:
    """Return the header that shows that a request was forwarded, or "".

    >>> passed_on(Headers({"Host": "localhost"})), passed_on(Headers({"Host": "watch.example", "Via": "1.1 x"}))
    ('', 'Via')
    >>> passed_on(Headers({"Host": "watch.example"})), passed_on(Headers({"Host": "local", "Origin": "null"}))
    ('Host', 'Origin')
    """
    found = next((name for name in (*_BROWSER, *_PROXY) if name in headers), "")
    return found or ("" if is_ours(headers.get("Host", ""), "", "") else "Host")
