"""Forbid core dumps and debuggers of the same user: the memory holds keys and secrets in the clear."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress

_PR_SET_DUMPABLE = 4


def forbid_core_dumps() -> None:
    """Disable both as far as the system allows.

    The limit also covers children. Clearing the dumpable flag (prctl(2)) gives /proc/PID to root, so other programs of
    the same user cannot read memory or environment; the flag returns with the next exec.
    """
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
