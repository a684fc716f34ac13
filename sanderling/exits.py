"""The ends of a command: the exit codes, and the one exception that carries a message to the terminal."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes; from 64 on they are those of BSD's sysexits, which service managers can be told about."""

    WELL = 0
    FAILED = 1
    USAGE = 2
    DIFFERS = 3
    """A service is not as files say, and somebody asked whether it is."""
    BAD_SETTING = 64
    UNREACHABLE = 69
    GAVE_UP = 70
    """The root supervisor escalated: start the process again."""
    TRY_AGAIN = 75
    """Something passing: the port is taken, the disk is full."""
    BAD_DATA = 78
    """The data folder is locked, not writable, damaged, or of a newer version: starting again will not help."""


class CommandFailed(Exception):
    """Ends the command. `message` says what, why, and what to do; it goes to stderr."""

    def __init__(self, message: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
