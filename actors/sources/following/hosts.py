"""Whose pages a source that follows may fetch: those of its own site, and of hosts that its user has named. Pure.

Its own site is the list's host with what lies below it and above it. A host that is named stands for itself and what
lies below it, `*` for all. To another host goes nothing of the user's: no headers and no cookies. It is asked as any
host is, by its own robots.txt, at its own pace, with its own rest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final
from urllib.parse import urlsplit

from actors.egress.hostname import read_host
from storage.records.source import Source

ALL: Final = "*"
MOST_OF_HOST: Final = 20
"""Pages of another host that wait at once: a list that leads to one host only is no reason to read all of it."""
MOST_ELSEWHERE: Final = 50
"""Pages of all other hosts together."""
_NAMED: Final = 3
"""Hosts that a sentence names."""


def read_hosts(texts: Sequence[str]) -> tuple[str, ...]:
    """Return hosts in their one spelling, each once. Raises UrlRefused.

    >>> read_hosts(("www.News.example", "*", "*.news.example."))
    ('news.example', '*')
    """
    return tuple(dict.fromkeys(text if text == ALL else _read(text) for text in texts))


def _read(text: str) -> str:
    return read_host(text.removeprefix("*.")).removeprefix("www.")


def host_of(url: str) -> str:
    """Return a URL's host without "www."; "" for what has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def is_own(source: Source, host: str) -> bool:
    """Return whether a host is of the source's own site."""
    return any(_is_same_site(host, host_of(own)) for own in (source.url, source.watch_url, source.detection.final_url))


def is_named(host: str, named: Collection[str]) -> bool:
    """Return whether a user has named a host.

    >>> is_named("blog.a.example", ["a.example"]), is_named("a.example", ["blog.a.example"]), is_named("b", ["*"])
    (True, False, True)
    """
    return bool(host) and any(one in (ALL, host) or ("." in one and host.endswith(f".{one}")) for one in named)


def in_words(fetched: Sequence[str], left: Sequence[str]) -> str:
    """Return what becomes of new items whose pages are on other hosts, "" where there are none."""
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
    """Return whether two hosts are one, or one of them lies below the other.

    >>> _is_same_site("blog.a.example", "a.example"), _is_same_site("a.example", "b.example")
    (True, False)
    """
    return bool(one) and (one == other or one.endswith(f".{other}") or other.endswith(f".{one}"))
