"""A source's memory of its page between checks, packed to a few kilobytes.

*Told* is the last reported state (the baseline, then each event's new text): a client that applies every delta holds
exactly these texts. Unreported blocks on the page are *pending*; reported blocks that are absent are *missing*. Both
add up until they are reported or revert. *Recent* holds keys of furniture, and of blocks that came and went unreported:
they are not reported when they return. A key has 64 bits; texts are stored to show a block's old wording.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.changes.weights import Zone, entries_of, zone_of
from actors.content.pages.places import CellLabels, pack_places, unpack_places
from actors.content.pages.traits import CELL, CONTROL, STORED
from actors.content.wording.canonical import KnownKeys
from actors.content.wording.spans import Gap
from actors.content.wording.words import word_counts

MOST_TEXT = 192 * 1024
"""Characters of reported text to store, about 64 KiB deflated; blocks beyond have only keys."""
MOST_RECENT = 1_500
MOST_GONE = 1_000
MOST_STATES = 16
MOST_SLOTS = 64
READS = 1
"""Version of the reading: 1 includes controls, closed panels and boxes that are the only content."""
_KEY = 8


class HeldPage(Struct, frozen=True, array_like=True):
    """Another page in this one's place, not yet reported. keys: of its blocks. looks: checks that found it, since
    `since` (milliseconds). spaced: the same without those soon after another. away: spaced checks since this page was
    last seen, whatever replaced it. last: the latest one.
    """

    keys: bytes = b""
    looks: int = 0
    since: int = 0
    spaced: int = 0
    away: int = 0
    last: int = 0


class PageIdentity(Struct, frozen=True, array_like=True):
    """A page's identity apart from its blocks; "" if unknown. title: the document's. address, canonical: paths, after
    redirects and as declared. language: as declared. says: the kind of stand-in that stayed and was reported: a login.
    """

    title: str = ""
    address: str = ""
    canonical: str = ""
    language: str = ""
    says: str = ""


class Slot(Struct, frozen=True, array_like=True):
    """A place whose block was replaced. brief: replacements in a row after a brief stay. since: number of the last such
    check. value: for a JSON member, a digest of its unreported value.
    """

    key: str
    brief: int
    since: int
    value: str = ""


class PageMemory(Struct, frozen=True, array_like=True):
    """The packed form. `texts` is deflated, one block a line; keys are 8 bytes each, `traits` 1."""

    version: int = 4
    """Also changes with the canonical form of blocks, because keys are compared across checks."""
    texts: bytes = b""
    keys: bytes = b""
    traits: bytes = b""
    recent: bytes = b""
    held: HeldPage = HeldPage()
    states: bytes = b""
    """Digests of reported states, newest last."""
    gone: bytes = b""
    """Keys of blocks removed in a report."""
    face: PageIdentity = PageIdentity()
    """Of the page when it was last reported."""
    pending: bytes = b""
    since: tuple[int, ...] = ()
    """The number of the check that found each pending block."""
    missing: bytes = b""
    absent: tuple[int, ...] = ()
    """The number of the check that missed each missing block."""
    told: int = 0
    """The number of the last reported check."""
    looks: int = 0
    """Judged checks; 0 if the caller numbers them, so that a check without changes changes nothing here."""
    turns: tuple[int, ...] = ()
    """Times of returns after a brief stay of another text (milliseconds), newest last."""
    slots: tuple[Slot, ...] = ()
    doubts: int = 0
    """Checks in a row that were in doubt, counted up to the number of quick checks."""
    places: bytes = b""
    """Places of the reported blocks in tables (see `place_codes`)."""
    seen: bytes = b""
    """Digest of a check with nothing to report (see `churn`); b"" if there was none."""
    rough: bytes = b""
    """The same for the page's tree, which covers more than `seen`."""
    seen_at: int = 0
    """The number of that check."""
    declared: bool = False
    """Whether the reported state includes the page's machine-readable data; older memories lack it."""
    began: int = 0
    """The time of the first check behind this memory (milliseconds); 0 if unknown."""
    reads: int = 0
    """How much of a page is read: `READS`, or less in an older memory."""
    told_at: int = 0
    """The time of the last report, or of the first check (milliseconds); 0 if unknown."""


class SettledState(Struct, frozen=True, dict=True):
    """An unpacked state. It may have fewer texts than keys: the rest exceeded `MOST_TEXT`. json: whether it is JSON."""

    texts: tuple[str, ...]
    keys: tuple[str, ...]
    traits: tuple[int, ...]
    places: tuple[CellLabels | None, ...] = ()
    json: bool = False

    @cached_property
    def words(self) -> tuple[int, ...]:
        return word_counts(self.texts)

    @cached_property
    def zone(self) -> Zone:
        return zone_of(self.texts, self.words, self.traits)

    @cached_property
    def entries(self) -> frozenset[int]:
        return entries_of(self.texts, self.traits)


class PendingDifferences(Struct, frozen=True):
    """Unreported differences from the reported state. came: keys of blocks on the page, with the number of the check
    that found them. missing: reported keys not on the page, with the check that missed them. flickered: keys that came
    or went in an earlier check and have reverted.
    """

    came: Mapping[str, int]
    missing: Mapping[str, int]
    flickered: tuple[str, ...]


def pack(settled: SettledState, recent: Sequence[str] = (), state: bytes = b"") -> PageMemory:
    """Return the memory of a newly reported state. state: its `state_of`, if known."""
    texts = "\n".join(_bounded(settled.texts)).encode("utf-8", "replace")
    return PageMemory(
        texts=zlib.compress(texts, 4),
        keys=packed(settled.keys),
        traits=bytes([trait & STORED for trait in settled.traits]),
        recent=packed_recent(recent),
        states=state or state_of(settled),
        places=pack_places(settled.places, texts),
        declared=True,
        reads=READS,
    )


def state_of(settled: SettledState) -> bytes:
    """Hash a whole check to 8 bytes; the order of its blocks does not count."""
    return hashlib.blake2b(packed(sorted(settled.keys)), digest_size=_KEY).digest()


def with_state(states: bytes, state: bytes) -> bytes:
    others = b"".join(one for one in states_in(states) if one != state)
    return (others + state)[-_KEY * MOST_STATES :]


def states_in(states: bytes) -> list[bytes]:
    return [states[i : i + _KEY] for i in range(0, len(states), _KEY)]


def packed(keys: Iterable[str]) -> bytes:
    return bytes.fromhex("".join(keys))


def packed_recent(keys: Sequence[str], most: int = MOST_RECENT) -> bytes:
    """Pack the newest `most` distinct keys, oldest first; a repeated key is new again."""
    newest = list(dict.fromkeys(reversed(keys)))[:most]
    return packed(reversed(newest))


def settled_of(memory: PageMemory) -> SettledState:
    return _settled(memory.texts, memory.keys, memory.traits)


@lru_cache(maxsize=1)
def _settled(texts: bytes, keys: bytes, traits: bytes) -> SettledState:
    unpacked = unpack_keys(keys)
    plain = zlib.decompressobj().decompress(texts, 8 * MOST_TEXT).decode("utf-8", "replace") if texts else ""
    return SettledState(tuple(plain.split("\n"))[: len(unpacked)], unpacked, tuple(traits))


def placed(memory: PageMemory) -> SettledState:
    """Return the reported state with the places of its blocks, needed only for reports."""
    return _placed(memory.texts, memory.keys, memory.traits, memory.places)


@lru_cache(maxsize=1)
def _placed(texts: bytes, keys: bytes, traits: bytes, places: bytes) -> SettledState:
    told = _settled(texts, keys, traits)
    if not places:
        return told
    return replace(told, places=unpack_places(places, "\n".join(told.texts).encode("utf-8", "replace")))


def known_keys(memory: PageMemory) -> KnownKeys:
    """Return the keys of the reported texts: outside cells, then in cells."""
    told = settled_of(memory)
    known: KnownKeys = ({}, {})
    for text, trait, block_key in zip(told.texts, told.traits, told.keys, strict=False):
        known[1 if trait & CELL else 0][text] = block_key
    return known


def pending_of(memory: PageMemory, came: Iterable[str], missing: Iterable[str], number: int) -> PendingDifferences:
    before = dict(zip(unpack_keys(memory.pending), memory.since, strict=True))
    absent = dict(zip(unpack_keys(memory.missing), memory.absent, strict=True))
    here = {block: before.get(block, number) for block in came}
    left = {block: absent.get(block, number) for block in missing}
    back = (*(block for block in before if block not in here), *(block for block in absent if block not in left))
    return PendingDifferences(here, left, back)


def with_pending(memory: PageMemory, pending: PendingDifferences) -> PageMemory:
    return replace(
        memory,
        pending=packed(pending.came),
        since=tuple(pending.came.values()),
        missing=packed(pending.missing),
        absent=tuple(pending.missing.values()),
    )


def with_declared(memory: PageMemory, keys: Sequence[str]) -> PageMemory:
    """Mark an older memory as having seen the page's machine-readable data, so that it is not reported."""
    return replace(memory, recent=packed_recent((*unpack_keys(memory.recent), *keys)), declared=True)


def with_more_read(memory: PageMemory, now: SettledState, spans: Iterable[Gap]) -> PageMemory:
    """Add to an older memory the parts it did not read: new blocks in empty gaps, and all controls."""
    before, rows, done = placed(memory), list[tuple[SettledState, int]](), 0
    known = frozenset(before.keys)
    for a, b, c, d in spans:
        rows += ((now, i) for i in range(done, c))
        rows += ((before, i) for i in range(a, b))
        fresh = (i for i in range(c, d) if now.keys[i] not in known)
        rows += ((now, i) for i in fresh if a == b or now.traits[i] & CONTROL)
        done = d
    rows += ((now, i) for i in range(done, len(now.texts)))
    told = pack(
        SettledState(
            tuple(state.texts[i] for state, i in rows),
            tuple(state.keys[i] for state, i in rows),
            tuple(state.traits[i] for state, i in rows),
            tuple(state.places[i] if state.places else None for state, i in rows),
        )
    )
    return replace(memory, texts=told.texts, keys=told.keys, traits=told.traits, places=told.places, reads=READS)


def unpack_keys(packed: bytes) -> tuple[str, ...]:
    return tuple(packed.hex(" ", -_KEY).split())


def encode(memory: PageMemory) -> bytes:
    return msgspec.msgpack.encode(memory)


def decode_memory(stored: bytes) -> PageMemory | None:
    """Decode a stored memory; None if it is unreadable or of another version: the page then gets a new baseline."""
    try:
        memory = msgspec.msgpack.decode(stored, type=PageMemory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return memory if memory.version == PageMemory().version else None


def began_at(stored: bytes) -> int:
    """Return the time of the first check behind a stored memory; 0 if unknown."""
    memory = decode_memory(stored)
    return 0 if memory is None else memory.began


def _bounded(texts: Sequence[str]) -> Sequence[str]:
    room = MOST_TEXT
    for n, text in enumerate(texts):
        room -= len(text) + 1
        if room < 0:
            return texts[:n]
    return texts
