"""The shard of a source. Nodes divide the sources among themselves by shard."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit
from zlib import crc32

SHARDS = 1024


@lru_cache(1 << 17)
def shard_of(url: str) -> int:
    """Return the shard of a watched URL, by host: a single node then fetches from each host.

    >>> shard_of("https://www.news.example/feed") == shard_of("http://news.example:8080/other")
    True
    """
    return crc32((urlsplit(url).hostname or "").removeprefix("www.").encode()) % SHARDS
