"""A source's memory of its page between looks, packed to a few kilobytes.

*Told* is the state that was last told (the baseline, then each event's new text): a client that applies every delta
holds exactly these texts. What is on the page and was not told is *pending*; what was told and is not on the page is
*missing*: both add up until they are told or go back. *Recent* are keys of blocks that came and went again untold, and
of furniture: these are no news when they come once more. Keys are 64 bits each; texts are kept to show what a block
was.
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
from actors.content.pages.furniture import STORED
from actors.content.pages.place_codes import pack_places, unpack_places
from actors.content.pages.places import Place
from actors.content.pages.traits import CELL, CONTROL
from actors.content.wording.canonical import KnownKeys, key
from actors.content.wording.patience_diff import Gap
from actors.content.wording.words import word_counts

MOST_TEXT = 192 * 1024
"""Characters of told text that are kept, some 64 KiB deflated; of the blocks beyond it only the keys are."""
MOST_RECENT = 1_500
MOST_GONE = 1_000
MOST_STATES = 16
MOST_SLOTS = 64
READS = 1
"""Controls, closed panels and boxes that are the only content are read as well."""
_KEY = 8


class HeldPage(Struct, frozen=True, array_like=True):
    """Another page that stands in this one's place and is not told yet.

    keys: of its blocks. looks: how many found it so, since `since` (milliseconds). spaced: the same without those that
    came soon after another; away: spaced looks since this page was seen last, whatever stood in its place. last: when
    the last of these was.
    """

    keys: bytes = b""
    looks: int = 0
    since: int = 0
    spaced: int = 0
    away: int = 0
    last: int = 0


class PageIdentity(Struct, frozen=True, array_like=True):
    """By what a page is known beside its blocks; "" where it is not known.

    title: the document's. address, canonical: paths, where it was found after redirects and where it says it belongs.
    language: as declared. says: as what a page gave itself away that was told all the same, for it stayed: a login.
    """

    title: str = ""
    address: str = ""
    canonical: str = ""
    language: str = ""
    says: str = ""


class Slot(Struct, frozen=True, array_like=True):
    """A place whose block has been replaced by something new: how often in a row after a brief stay, and when last.

    since: the number of that look. value: of a member of JSON, a digest of what is there and not told.
    """

    key: str
    brief: int
    since: int
    value: str = ""


class PageMemory(Struct, frozen=True, array_like=True):
    """The packed form. `texts` is deflated, one block a line; keys are 8 bytes each, `traits` 1."""

    version: int = 4
    """Changes with the canonical form of blocks too, because keys are compared across looks."""
    texts: bytes = b""
    keys: bytes = b""
    traits: bytes = b""
    recent: bytes = b""
    held: HeldPage = HeldPage()
    states: bytes = b""
    """Digests of the states that were told, the newest last."""
    gone: bytes = b""
    """Keys of blocks that went when something was told."""
    face: PageIdentity = PageIdentity()
    """Of the page when it was told."""
    pending: bytes = b""
    since: tuple[int, ...] = ()
    """The number of the look at which each pending block came."""
    missing: bytes = b""
    absent: tuple[int, ...] = ()
    """The number of the look at which each missing block went."""
    told: int = 0
    """The number of the look that was told last."""
    looks: int = 0
    """Looks that were judged; 0 where who asks numbers them, so that a look that finds nothing changes nothing here."""
    turns: tuple[int, ...] = ()
    """When the page went back after a brief stay of something else (milliseconds), the newest last."""
    slots: tuple[Slot, ...] = ()
    doubts: int = 0
    """Looks in a row that were in doubt; no more are counted than are asked for soon."""
    places: bytes = b""
    """Where the told blocks stand in tables (see `place_codes`)."""
    seen: bytes = b""
    """What stands for what a look saw that had nothing to tell (see `same`); b"" where no look did."""
    rough: bytes = b""
    """The same by the page's tree, so of more than is seen."""
    seen_at: int = 0
    """The number of that look."""
    declared: bool = False
    """Whether the told state has what the page declares for machines: not in a memory from before that was read."""
    began: int = 0
    """When the first look was that this memory goes back to (milliseconds); 0 where nobody knows."""
    reads: int = 0
    """How much is read of a page: `READS`, or less in a memory from before."""


class _Third(Struct, frozen=True, array_like=True):
    """The form before this one."""

    version: int = 3
    texts: bytes = b""
    keys: bytes = b""
    traits: bytes = b""
    recent: bytes = b""


class SettledState(Struct, frozen=True, dict=True):
    """A state, unpacked. There may be fewer texts than keys: the rest was beyond `MOST_TEXT`. json: of JSON."""

    texts: tuple[str, ...]
    keys: tuple[str, ...]
    traits: tuple[int, ...]
    places: tuple[Place | None, ...] = ()
    json: bool = False

    @cached_property
    def words(self) -> tuple[int, ...]:
        """How many words each text has."""
        return word_counts(self.texts)

    @cached_property
    def zone(self) -> Zone:
        """Where the content lies, asked on no day."""
        return zone_of(self.texts, self.words, self.traits)

    @cached_property
    def entries(self) -> frozenset[int]:
        """The positions of entries."""
        return entries_of(self.texts, self.traits)


class Pending(Struct, frozen=True):
    """What differs from the told state without being told.

    came: keys of blocks on the page, and the number of the look at which each came. missing: told keys that are not
    on the page, and when they went. flickered: keys that came or went in an earlier look and are back as they were.
    """

    came: Mapping[str, int]
    missing: Mapping[str, int]
    flickered: tuple[str, ...]


def pack(settled: SettledState, recent: Sequence[str] = (), state: bytes = b"") -> PageMemory:
    """Return the memory of a state that has just been told. state: what `state_of` says of it, if it is known."""
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
    """Return 8 bytes that stand for a whole look, whatever the order of its blocks."""
    return hashlib.blake2b(packed(sorted(settled.keys)), digest_size=_KEY).digest()


def with_state(states: bytes, state: bytes) -> bytes:
    """Return the remembered states with one more, the newest last."""
    others = b"".join(one for one in states_in(states) if one != state)
    return (others + state)[-_KEY * MOST_STATES :]


def states_in(states: bytes) -> list[bytes]:
    return [states[i : i + _KEY] for i in range(0, len(states), _KEY)]


def packed(keys: Iterable[str]) -> bytes:
    """Return keys at 8 bytes each."""
    return bytes.fromhex("".join(keys))


def packed_recent(keys: Sequence[str], most: int = MOST_RECENT) -> bytes:
    """Return the newest `most` different keys (oldest first; a key that comes again is new again)."""
    newest = list(dict.fromkeys(reversed(keys)))[:most]
    return packed(reversed(newest))


def settled_of(memory: PageMemory) -> SettledState:
    """Return the told state of a memory, without places."""
    return _settled(memory.texts, memory.keys, memory.traits)


@lru_cache(maxsize=1)
def _settled(texts: bytes, keys: bytes, traits: bytes) -> SettledState:
    """Return what is packed in these; the last one is kept, for a look needs it several times."""
    unpacked = unpack_keys(keys)
    return SettledState(_lines(_inflated(texts), len(unpacked)), unpacked, tuple(traits))


def placed(memory: PageMemory) -> SettledState:
    """Return the told state with the places of its blocks, which only a look that tells something needs."""
    told = settled_of(memory)
    if not memory.places:
        return told
    return replace(told, places=unpack_places(memory.places, "\n".join(told.texts).encode("utf-8", "replace")))


def known_keys(memory: PageMemory) -> KnownKeys:
    """Return the keys of the told texts: of those in cells, and of the others."""
    told = settled_of(memory)
    known: KnownKeys = ({}, {})
    for text, trait, block_key in zip(told.texts, told.traits, told.keys, strict=False):
        known[1 if trait & CELL else 0][text] = block_key
    return known


def pending_of(memory: PageMemory, came: Iterable[str], missing: Iterable[str], number: int) -> Pending:
    """Return what is pending when these blocks came and these are missing, both keys, at the look of this number."""
    before = dict(zip(unpack_keys(memory.pending), memory.since, strict=True))
    absent = dict(zip(unpack_keys(memory.missing), memory.absent, strict=True))
    here = {block: before.get(block, number) for block in came}
    left = {block: absent.get(block, number) for block in missing}
    back = (*(block for block in before if block not in here), *(block for block in absent if block not in left))
    return Pending(here, left, back)


def with_pending(memory: PageMemory, pending: Pending) -> PageMemory:
    return replace(
        memory,
        pending=packed(pending.came),
        since=tuple(pending.came.values()),
        missing=packed(pending.missing),
        absent=tuple(pending.missing.values()),
    )


def with_declared(memory: PageMemory, keys: Sequence[str]) -> PageMemory:
    """Return a memory from before as one that has seen what the page declares: that it was not read is no news."""
    return replace(memory, recent=packed_recent((*unpack_keys(memory.recent), *keys)), declared=True)


def with_more_read(memory: PageMemory, now: SettledState, spans: Iterable[Gap]) -> PageMemory:
    """Return a memory from before with what it could not read: what is only new on the page, and all controls."""
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
    """Return keys as 16 hex digits each."""
    return tuple(packed.hex(" ", -_KEY).split())


def encode(memory: PageMemory) -> bytes:
    """Return the memory as it is stored."""
    return msgspec.msgpack.encode(memory)


def decode_memory(stored: bytes) -> PageMemory | None:
    """Return a stored memory; None for one that cannot be read: the page then gets a new baseline."""
    try:
        memory = msgspec.msgpack.decode(stored, type=PageMemory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _upgraded(stored)
    return memory if memory.version == PageMemory().version else _upgraded(stored)


def began_at(stored: bytes) -> int:
    """Return when the first look was that a stored memory goes back to; 0 where nobody knows."""
    memory = decode_memory(stored)
    return 0 if memory is None else memory.began


def _upgraded(stored: bytes) -> PageMemory | None:
    """Return a memory of the form before as one of today: the texts are the same, what knows them is reckoned anew."""
    try:
        old = msgspec.msgpack.decode(stored, type=_Third)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    keys = unpack_keys(old.keys)
    if old.version != _Third().version or len(old.traits) != len(keys):
        return None
    texts = _lines(_inflated(old.texts), len(keys))
    known = (key(text, cell=bool(trait & CELL)) for text, trait in zip(texts, old.traits, strict=False))
    return pack(SettledState(texts, (*known, *keys[len(texts) :]), tuple(old.traits)), unpack_keys(old.recent))


def _inflated(deflated: bytes) -> bytes:
    return zlib.decompressobj().decompress(deflated, 8 * MOST_TEXT) if deflated else b""


def _lines(plain: bytes, blocks: int) -> tuple[str, ...]:
    return tuple(plain.decode("utf-8", "replace").split("\n"))[:blocks] if blocks else ()


def _bounded(texts: Sequence[str]) -> Sequence[str]:
    room = MOST_TEXT
    if sum(map(len, texts)) + len(texts) <= room:
        return texts
    for n, text in enumerate(texts):
        room -= len(text) + 1
        if room < 0:
            return texts[:n]
    return texts
