"""No core dump of the service, and no debugger of its own user: its memory holds keys and secrets in the clear."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress

_PR_SET_DUMPABLE = 4


def forbid_core_dumps() -> None:
    """Ask the system for neither, as far as it can be asked.

    The limit holds for children too. Not being dumpable (prctl(2)) also gives /proc/PID to root, so that other programs
    of the service's user read neither its memory nor its environment; it ends with the next program that is executed.
    """
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
