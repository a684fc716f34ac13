"""Exit codes, and the exception that carries a message to the terminal."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes; from 64 up they follow BSD's sysexits, which service managers understand."""

    WELL = 0
    FAILED = 1
    USAGE = 2
    DIFFERS = 3
    """The service differs from the files, in a command that checks for this."""
    BAD_SETTING = 64
    UNREACHABLE = 69
    GAVE_UP = 70
    """The root supervisor gave up: restart the process."""
    TRY_AGAIN = 75
    """A temporary problem: the port is taken, or the disk is full."""
    BAD_DATA = 78
    """The data folder is locked, not writable, damaged or too new: a restart will not help."""


class CommandFailed(Exception):
    """Ends the command. `message` gives the problem and its remedy, on stderr."""

    def __init__(self, message: str, code: Exit = Exit.FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
