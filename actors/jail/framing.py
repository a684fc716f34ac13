"""Frames between the service and a worker: a length, a kind and a payload. Pure.

frame    = length (u32, of the rest) kind (u8) payload

With the parent of all workers, by a pair of sockets:
HELLO    = build id                            parent -> service, once it has loaded everything
FORK     = nothing, with two descriptors       service -> parent: the worker's socket, and its stderr
FORKED   = process id                          parent -> service, at once
KILL     = process id                          service -> parent
ENDED    = process id, exit code               parent -> service; minus the signal that ended it

With a worker, by its own socket:
LIMITS   = limits as JSON                      service -> worker, once
HELLO    = build id, a line feed, missing confinement (a few words, "" if complete)   worker -> service, once
TASK     = `Task`                              service -> worker
answer   = resident memory in KiB (u32), then for DONE the result, for REFUSED and FAILED a sentence

Process ids, codes and tasks are MessagePack.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import msgspec

from actors import BUILD

FRAME_LIMIT = 96 << 20  # the largest body setting is 64 MiB; a frame that claims more is invalid

PROTOCOL = 4
encode, decode = msgspec.msgpack.encode, msgspec.msgpack.decode
_HEAD = struct.Struct(">IB")
_ANSWER = struct.Struct(">I")


class Kind(IntEnum):
    """The kind of a frame."""

    LIMITS = 1
    HELLO = 2
    TASK = 3
    DONE = 4
    REFUSED = 5
    FAILED = 6
    FORK = 7
    FORKED = 8
    KILL = 9
    ENDED = 10


class BadFrame(Exception):
    """The bytes are no frames of this protocol."""


@dataclass(frozen=True, slots=True)
class Task:
    """A task by name, its deadline in milliseconds of processor time, and its request."""

    name: str
    deadline_ms: int
    request: bytes


def build_id() -> bytes:
    """Return the id that both sides must share, so that an upgrade can't mix builds."""
    return f"sanderling-jail/{PROTOCOL} python/{sys.version_info[0]}.{sys.version_info[1]} build/{BUILD}".encode()


def read_hello(payload: bytes) -> tuple[bytes, str]:
    """Return the build id in a HELLO frame's payload, and the missing confinement."""
    build, _, missing = payload.partition(b"\n")
    return build, missing.decode(errors="replace")


def frame(kind: Kind, *parts: bytes) -> bytes:
    """Return a frame, its payload in one or more parts. Raises BadFrame when it is too long."""
    length = 1 + sum(map(len, parts))
    if length > FRAME_LIMIT:
        raise BadFrame(f"a frame of {length} bytes")
    return b"".join((_HEAD.pack(length, kind), *parts))


def answer_frame(kind: Kind, memory_kib: int, result: bytes) -> bytes:
    return frame(kind, _ANSWER.pack(min(memory_kib, 0xFFFFFFFF)), result)


def read_answer(payload: bytes) -> tuple[int, bytes]:
    """Return the resident memory in KiB and the result in an answer's payload. Raises BadFrame."""
    if len(payload) < _ANSWER.size:
        raise BadFrame("an answer without its head")
    return _ANSWER.unpack_from(payload)[0], payload[_ANSWER.size :]


class Frames:
    """Assembles frames from bytes as they arrive."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[Kind, bytes]]:
        """Take bytes and yield complete frames. Raises BadFrame."""
        self._buffer += data
        while len(self._buffer) >= _HEAD.size:
            length, kind = _HEAD.unpack_from(self._buffer)
            if not 1 <= length <= FRAME_LIMIT or kind not in Kind._value2member_map_:
                raise BadFrame(f"kind {kind} of {length} bytes")
            end = _HEAD.size - 1 + length
            if len(self._buffer) < end:
                return
            payload = bytes(self._buffer[_HEAD.size : end])
            del self._buffer[:end]
            yield Kind(kind), payload
