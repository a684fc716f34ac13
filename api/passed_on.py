"""Requests on the admin socket that were not sent to it, but passed on. Pure.

The socket asks for no key, so nothing may carry a request of somebody else to it. A browser can't open a Unix socket,
but a program that passes requests on can: a proxy, a forwarded port. Such a request gives itself away: browsers name
the page that asks (`Origin`, `Sec-Fetch-Site`), proxies name the asker, and a page elsewhere has no local name.
"""

from __future__ import annotations

from werkzeug.datastructures import Headers

from api.hosts import is_ours

_BROWSER = ("Origin", "Sec-Fetch-Site", "Cookie")
_PROXY = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via")


def passed_on(headers: Headers) -> str:
    """Return by which header a request shows that it comes from elsewhere; "" when it shows nothing.

    >>> passed_on(Headers({"Host": "localhost"})), passed_on(Headers({"Host": "watch.example", "Via": "1.1 x"}))
    ('', 'Via')
    >>> passed_on(Headers({"Host": "watch.example"})), passed_on(Headers({"Host": "local", "Origin": "null"}))
    ('Host', 'Origin')
    """
    found = next((name for name in (*_BROWSER, *_PROXY) if name in headers), "")
    return found or ("" if is_ours(headers.get("Host", ""), "", "") else "Host")
