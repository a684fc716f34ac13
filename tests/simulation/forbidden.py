"""Catches every call of a real clock and of real chance while a simulation runs, by any caller and any import.

A profile hook sees each call of a C function, and Python's clocks and chance all end in one. Replacing attributes would
miss `from time import time`. The hook makes a run three times slower, so only tests use it. A third party's call is
either harmless, and in `EXCEPTIONS` with its reason, or an offence.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("hypercorn.protocol.http_stream", "time"): "how long a request took, for an access log that is off",
    ("wsproto.utilities", "urandom"): "the handshake's nonce: as long each time, and nothing looks at its value",
    ("wsproto.frame_protocol", "urandom"): "frame masks: as long each time, and gone once they are unmasked",
    ("trio_websocket._impl", "getrandbits"): "a ping's payload, compared with its own echo only",
    ("httpx._client", "perf_counter"): "a response's `elapsed`, which the product does not read",
    ("httpcore._async.http11", "monotonic"): "the expiry of idle connections, of which a simulation keeps none",
}
"""(module, function): why its value can't affect a run."""

_SEED = random.Random.seed.__code__
_MODULES = ("time", "posix", "nt", "random", "_random", "secrets", "uuid", "_uuid")
_NAMES = frozenset(
    [
        "time",
        "time_ns",
        "monotonic",
        "monotonic_ns",
        "perf_counter",
        "perf_counter_ns",
        "urandom",
        "getrandom",
        "random",
        "getrandbits",
        "now",
        "utcnow",
        "today",
        "sleep",
        "generate_time_safe",
        "UuidCreate",
    ]
)


class Forbidden(AssertionError):
    """The simulation read a real clock, or drew real chance."""


@contextmanager
def forbidden() -> Iterator[dict[tuple[str, str], int]]:
    """Raise Forbidden in the offending call, and again at the end of the block, in case a caller swallows it.

    Yields the number of excepted calls, by (module, function).
    """
    passed: dict[tuple[str, str], int] = {}
    offences: list[str] = []

    def watch(frame: FrameType, event: str, called: Any) -> None:
        if event == "call" and frame.f_code is _SEED and frame.f_locals["a"] is None:
            offences.append("a generator is made without a seed")
            raise Forbidden(offences[-1])
        if event != "c_call" or called.__name__ not in _NAMES or not _is_real(called):
            return
        caller = frame.f_globals.get("__name__", "?")
        found = (caller, called.__name__)
        if found in EXCEPTIONS:
            passed[found] = passed.get(found, 0) + 1
            return
        offences.append(f"{caller}:{frame.f_lineno} calls {called.__qualname__}")
        raise Forbidden(offences[-1])

    with _profiled(watch):
        yield passed
    if offences:
        raise Forbidden("; ".join(dict.fromkeys(offences)))


@contextmanager
def _profiled(watch: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(before)


def _is_real(called: Any) -> bool:
    """Distinguish the real clocks and the shared generator from seeded generators, which have the same methods."""
    owner = getattr(called, "__self__", None)
    if type(owner).__name__ == "Random":
        return owner is sys.modules["random"].__dict__["_inst"]  # the module's own generator
    if type(owner).__name__ == "SystemRandom":
        return True
    module = getattr(owner, "__name__", "")
    return module in _MODULES or module in ("datetime", "date")
