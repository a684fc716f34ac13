"""An order of visits that alternates hosts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import TypeVar

T = TypeVar("T")


def in_turns(items: Iterable[T], host_of: Callable[[T], str]) -> Iterator[T]:
    """Yield the first item of each host, then the second of each: a single host is slow, many are quick.

    >>> "".join(in_turns("aaabbc", str))
    'abcaba'
    """
    by_host: dict[str, list[T]] = {}
    for one in items:
        by_host.setdefault(host_of(one), []).append(one)
    for row in zip_longest(*by_host.values()):
        yield from (one for one in row if one is not None)
