"""The hosts whose pages a following source may fetch: its own site, and hosts that its user named. Pure.

Its own site is the list's host with its subdomains and parent domains. A named host includes its subdomains; `*` means
all. Other hosts get neither the user's headers nor cookies. They are fetched as any host is: by their own robots.txt,
at their own pace and with their own breaks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from actors.egress.url import read_host
from storage.records.source import Source

ALL: Final = "*"
MOST_OF_HOST: Final = 20
"""Waiting pages of one other host: a list that links to a single host is no reason to read all of it."""
MOST_ELSEWHERE: Final = 50
"""Waiting pages of all other hosts together."""
_NAMED: Final = 3
"""Hosts that a sentence names."""


def read_hosts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return normalized hosts, each once. Raises UrlRefused.

    >>> read_hosts(("www.News.example", "*", "*.news.example."))
    ('news.example', '*')
    """
    return tuple(dict.fromkeys(text if text == ALL else _read(text) for text in texts))


def _read(text: str) -> str:
    return read_host(text.removeprefix("*.")).removeprefix("www.")


def host_of(url: str) -> str:
    """Return a URL's host without "www."; "" without one."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def is_own(source: Source, host: str) -> bool:
    return any(_is_same_site(host, host_of(own)) for own in (source.url, source.watch_url, source.detection.final_url))


def is_named(host: str, named: Collection[str]) -> bool:
    """Return whether a user has named a host.

    >>> is_named("blog.a.example", ["a.example"]), is_named("a.example", ["blog.a.example"]), is_named("b", ["*"])
    (True, False, True)
    """
    return bool(host) and any(one in (ALL, host) or ("." in one and host.endswith(f".{one}")) for one in named)


def in_words(fetched: Sequence[str], left: Sequence[str]) -> str:
    """Return a sentence on new items with pages on other hosts, or ""."""
    return "".join(
        f" {len(hosts)} of them {'is' if len(hosts) == 1 else 'are'} on {_listed(hosts)}: {says}."
        for hosts, says in ((fetched, "fetched, too"), (left, "not fetched"))
        if hosts
    )


def _listed(hosts: Sequence[str]) -> str:
    names = list(dict.fromkeys(hosts))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (
        f"another host ({', '.join(names[:_NAMED])}{more})"
        if len(names) == 1
        else (f"other hosts ({', '.join(names[:_NAMED])}{more})")
    )


def _is_same_site(one: str, other: str) -> bool:
    """Return whether two hosts are equal, or one is a subdomain of the other.

    >>> _is_same_site("blog.a.example", "a.example"), _is_same_site("a.example", "b.example")
    (True, False)
    """
    return bool(one) and (one == other or one.endswith(f".{other}") or other.endswith(f".{one}"))
