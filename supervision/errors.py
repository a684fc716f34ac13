"""Errors, sorted by the catcher's options, and the stored record of a crash."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

MESSAGE_LIMIT = 300
MOST_FRAMES = 3


class InvalidSpec(ValueError):
    """A mistake of ours in a specification: fix the program."""


class AlreadyStarted(Exception):
    """A child with this id is alive; stop it first, or use another id."""


class NoSuchChild(KeyError):
    """There is no child with this id, and none has ended recently."""

    def __str__(self) -> str:
        return f"no such child: {self.args[0]}" if self.args else "no such child"


class Stopping(Exception):
    """The supervisor is stopping or not running, so nothing can be started."""


class NotReady(Exception):
    """A child did not call `ready()` in time. Recorded as a crash, never raised to a caller."""


class Escalate(Exception):
    """The supervisor `path` gives up, as `child` needs too many restarts. All children are stopped already."""

    def __init__(self, path: str, child: str, reason: str) -> None:
        super().__init__(path, child, reason)
        self.path, self.child, self.reason = path, child, reason

    def __str__(self) -> str:
        return f"{self.path}/{self.child}: {self.reason}"


class Unanswered(Exception):
    """The consumer ended, or dropped the question, before answering. It may or may not have acted on it."""


@dataclass(frozen=True, slots=True)
class Crash:
    """The stored part of an exception, so that no frame stays alive. frames: the innermost three, innermost last."""

    kind: str
    message: str
    frames: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind


def describe(error: BaseException, *, skip: int = 0) -> Crash:
    """Return the record of an exception, without the `skip` outermost frames. Never raises."""
    traceback = error.__traceback__
    while skip and traceback is not None:
        traceback, skip = traceback.tb_next, skip - 1
    return Crash(type(error).__name__, _message(error), _frames(traceback))


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # a bug in an exception type must not crash the supervisor
        text = "(its message cannot be shown)"
    if isinstance(error, BaseExceptionGroup):
        inner = (Crash(type(each).__name__, _message(each)) for each in error.exceptions[:MOST_FRAMES])
        text = f"{text}: {'; '.join(map(str, inner))}"
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"


def _frames(traceback: TracebackType | None) -> tuple[str, ...]:
    """Walk by hand: the traceback module would open a file for every frame, at every crash."""
    frames: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{traceback.tb_lineno} in {code.co_name}")
        if len(frames) > MOST_FRAMES:
            del frames[0]
        traceback = traceback.tb_next
    return tuple(frames)
