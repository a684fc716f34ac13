"""The content of each host's watched pages: a bounded register that shows a check the blocks that other pages share.

It is fed from memories that checks read and write anyway, so an unchanged page costs nothing, and it refills after a
restart. It holds at most `MOST_PAGES` pages; the hosts unused for longest go first.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field

from actors.content.changes.difference import shared_keys, stored_keys
from storage.records.identity import SourceId

MOST_PAGES = 4_000
MOST_OF_A_HOST = 8


@dataclass(slots=True)
class _Host:
    """Pages as (checksum of the memory, packed keys). `answers` are of these pages: any change empties it."""

    pages: dict[SourceId, tuple[int, bytes]] = field(default_factory=dict)
    answers: dict[SourceId, tuple[str, ...]] = field(default_factory=dict)


class Neighbours:
    """The register. Deterministic: the same memories in the same order give the same answers."""

    def __init__(self) -> None:
        self._hosts: dict[str, _Host] = {}
        self._pages = 0

    def __repr__(self) -> str:
        return f"<Neighbours {self._pages} pages of {len(self._hosts)} hosts>"

    def learn(self, host: str, source: SourceId, memory: bytes) -> None:
        """Record a page's memory, unless it is known, or the host has enough pages."""
        known = self._hosts.pop(host, _Host())
        self._hosts[host] = known  # the newest last
        checksum = zlib.crc32(memory)
        before = known.pages.get(source)
        if before is None and len(known.pages) >= MOST_OF_A_HOST:
            return
        if before is None or before[0] != checksum:
            keys = stored_keys(memory)
            known.pages[source] = checksum, bytes.fromhex("".join(keys))
            known.answers.clear()
            self._pages += before is None
            self._make_room()

    def shared(self, host: str, source: SourceId) -> tuple[str, ...]:
        """Return the keys that the other pages of the host share."""
        known = self._hosts.get(host)
        if known is None:
            return ()
        if source not in known.answers:
            others = sorted(other for other in known.pages if other != source)
            known.answers[source] = shared_keys(_unpacked(known.pages[other][1]) for other in others)
        return known.answers[source]

    def forget(self, source: SourceId) -> None:
        """Drop a page that is no longer watched."""
        for host in [host for host, known in self._hosts.items() if source in known.pages]:
            known = self._hosts[host]
            del known.pages[source]
            known.answers.clear()
            self._pages -= 1
            if not known.pages:
                del self._hosts[host]

    def _make_room(self) -> None:
        while self._pages > MOST_PAGES:
            oldest = next(iter(self._hosts))
            self._pages -= len(self._hosts.pop(oldest).pages)


def _unpacked(packed: bytes) -> tuple[str, ...]:
    digits = packed.hex()
    return tuple(digits[i : i + 16] for i in range(0, len(digits), 16))
