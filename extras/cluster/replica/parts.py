"""The objects of a replica: their names, writing and reading. Pure.

    owner                       the instance, and a number that rises with each take-over
    current                     the newest complete chain, its last change, and the time
    chain-<time>-<chance>/copy/<number>       the database at the chain's start, in parts
    chain-<time>-<chance>/whole               present once all parts of the copy are
    chain-<time>-<chance>/change/<number>     the commits since, from 1

Each record and each change carries a MAC by a key derived from the master key. A record's MAC covers its name, `whole`
has the SHA-256 of each part, and a change's MAC covers that of the previous change. So a gap, a mix of two chains, a
torn file and foreign data are all detected. Anyone with write access can still delete, or restore an earlier state.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Mapping
from hmac import compare_digest
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from storage.records.identity import Millis

T = TypeVar("T", bound=Struct)
OWNER: Final = "owner"
CURRENT: Final = "current"
CHAIN: Final = "chain"
PART = 4 << 20  # bytes of the database in one part of its copy
MOST_PAGES = 1 << 20
_HASH = 32
_HEAD = struct.Struct(">QII")
_NUMBER = struct.Struct(">I")
_LEVEL = 1
_UNSIGNED = (
    "was not made with the master key that is here: another instance or an earlier version made it, or it is torn or "
    "altered (docs/standby.md)"
)
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))


class BadPart(Exception):
    """An object is invalid: torn, altered, or of another chain. The sentence gives the object and the defect."""


class Owner(Struct, frozen=True):
    """The owner of a replica. by: the machine that wrote this, for display."""

    id: int
    number: int
    by: str
    at: Millis


class Current(Struct, frozen=True):
    """The chain to read, its newest change, and the time when that was everything."""

    chain: str
    change: int
    at: Millis


class Whole(Struct, frozen=True):
    """The copy at the start of a chain. parts: the SHA-256 of each, unpacked, in hex."""

    size: int
    schema: int
    version: str
    at: Millis
    parts: tuple[str, ...]


class PageChange(NamedTuple):
    """Written pages, by number (from 1). size: of the database afterwards, in pages."""

    pages: Mapping[int, bytes]
    size: int


class ReadChange(NamedTuple):
    """A change, the time of its reading from the log, and the hash for the next change."""

    change: PageChange
    at: Millis
    hash: bytes


def chain_name(at: Millis, drawn: int) -> str:
    """Return the name of a new chain: names sort by creation."""
    return f"{CHAIN}-{at:013}-{drawn & 0xFFFFFFFF:08x}"


def copy_name(chain: str, number: int) -> str:
    return f"{chain}/copy/{number:06}"


def whole_name(chain: str) -> str:
    return f"{chain}/whole"


def change_name(chain: str, number: int) -> str:
    return f"{chain}/change/{number:09}"


def start_of(chain: str) -> bytes:
    return hashlib.sha256(chain.encode()).digest()


def written_record(name: str, record: Struct, key: bytes) -> bytes:
    body = msgspec.json.encode(record)
    return _mac_of_record(name, body, key) + b"\n" + body


def key_that_made(body: bytes, name: str, keys: Iterable[bytes]) -> bytes:
    """Return which of these keys signed a record. Raises BadPart."""
    mac, _, rest = body.partition(b"\n")
    for key in keys:
        if compare_digest(mac, _mac_of_record(name, rest, key)):
            return key
    raise BadPart(f"{name}: {_UNSIGNED}")


def read_owner(body: bytes, key: bytes) -> Owner:
    return _read(body, Owner, OWNER, key)


def claimed_owner(body: bytes) -> tuple[Owner | None, bool]:
    """Return the owner in a record without a valid MAC, None if malformed, and whether an earlier version wrote it."""
    hash, _, rest = body.partition(b"\n")
    try:
        owner = msgspec.json.decode(rest, type=Owner)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None, False
    return owner, hashlib.sha256(rest).hexdigest().encode() == hash


def read_current(body: bytes, key: bytes) -> Current:
    return _read(body, Current, CURRENT, key)


def read_whole(body: bytes, name: str, key: bytes) -> Whole:
    whole = _read(body, Whole, name, key)
    if whole.size < 0 or len(whole.parts) != -(-whole.size // PART):
        raise BadPart(f"{name}: its parts are not as many as its size asks for")
    return whole


def packed_part(body: bytes) -> tuple[bytes, str]:
    return zlib.compress(body, _LEVEL), hashlib.sha256(body).hexdigest()


def read_part(body: bytes, hash: str, name: str) -> bytes:
    found = _inflated(body, PART, name)
    if hashlib.sha256(found).hexdigest() != hash:
        raise BadPart(f"{name}: has another checksum than the copy says")
    return found


def packed_change(change: PageChange, before: bytes, at: Millis, key: bytes) -> tuple[bytes, bytes]:
    """Return a change as an object, and the hash for the next change."""
    pages = b"".join(_NUMBER.pack(number) + page for number, page in sorted(change.pages.items()))
    rest = _HEAD.pack(at, change.size, len(change.pages)) + zlib.compress(pages, _LEVEL)
    hash = _mac(before + rest, key)
    return hash + rest, hash


def read_change(body: bytes, before: bytes, name: str, key: bytes) -> ReadChange:
    """Return the change that follows the one with the hash `before`. Raises BadPart."""
    hash, rest = body[:_HASH], body[_HASH:]
    if not compare_digest(_mac(before + rest, key), hash) or len(rest) < _HEAD.size:
        raise BadPart(f"{name}: has another MAC than it says, or does not follow the change before it")
    at, size, count = _HEAD.unpack_from(rest)
    if not 0 < count <= MOST_PAGES:
        raise BadPart(f"{name}: has {count} pages")
    pages = _inflated(rest[_HEAD.size :], count * (_NUMBER.size + (1 << 16)), name)
    step, odd = divmod(len(pages), count)
    if odd or step - _NUMBER.size not in _PAGE_SIZES:
        raise BadPart(f"{name}: its pages are of no size that SQLite has")
    found = {
        _NUMBER.unpack_from(pages, at)[0]: pages[at + _NUMBER.size : at + step] for at in range(0, len(pages), step)
    }
    return ReadChange(PageChange(found, size), Millis(at), hash)


def _inflated(body: bytes, most: int, name: str) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        found = unpacker.decompress(body, most)
    except zlib.error:
        raise BadPart(f"{name}: is torn") from None
    if not unpacker.eof or unpacker.unused_data:
        raise BadPart(f"{name}: is torn")
    return found


def _mac(body: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(body, key=key, digest_size=_HASH).digest()


def _mac_of_record(name: str, body: bytes, key: bytes) -> bytes:
    return _mac(name.encode() + b"\n" + body, key).hex().encode()


def _read(body: bytes, type: type[T], name: str, key: bytes) -> T:
    key_that_made(body, name, [key])
    try:
        return msgspec.json.decode(body.partition(b"\n")[2], type=type)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadPart(f"{name}: {error}") from None
