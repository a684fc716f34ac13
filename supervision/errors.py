"""Errors, sorted by what the catcher can do about them; and the record that is kept of a crash."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType

MESSAGE_LIMIT = 300
FRAMES_KEPT = 3


class InvalidSpec(ValueError):
    """Our own nonsense in a specification: mend the program."""


class AlreadyStarted(Exception):
    """A child with this id is alive; stop it first, or choose another id."""


class NoSuchChild(KeyError):
    """No child of this id is, or lately was, here."""

    def __str__(self) -> str:
        return f"no such child: {self.args[0]}" if self.args else "no such child"


class Stopping(Exception):
    """The supervisor is stopping or not running: nothing can be started now."""


class NotReady(Exception):
    """A child did not call `ready()` in time. On record as a crash, never raised at a caller."""


class Escalate(Exception):
    """A supervisor gives up: a child needs restarts more often than allowed. Its children are stopped already.

    path: of the supervisor. child: the id of the child whose exit was one too many. reason: a sentence.
    """

    def __init__(self, path: str, child: str, reason: str) -> None:
        super().__init__(path, child, reason)
        self.path = path
        self.child = child
        self.reason = reason

    def __str__(self) -> str:
        return f"{self.path}/{self.child}: {self.reason}"


class Unanswered(Exception):
    """Who was asked ended, or dropped the question, before answering. Whether it acted on it is unknown."""


@dataclass(frozen=True, slots=True)
class Crash:
    """All that is kept of an exception; no traceback, so no frame and no local variable stays alive.

    kind: the type's name. message: at most 300 characters. frames: the innermost three, innermost last.
    """

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
    except Exception:  # an exception type's own bug must not become the supervisor's
        text = "(its message cannot be shown)"
    if isinstance(error, BaseExceptionGroup):
        text = f"{text}: {'; '.join(str(_leaf(inner)) for inner in error.exceptions[:FRAMES_KEPT])}"
    return text if len(text) <= MESSAGE_LIMIT else text[: MESSAGE_LIMIT - 1] + "…"


def _leaf(error: BaseException) -> Crash:
    return Crash(type(error).__name__, _message(error))


def _frames(traceback: TracebackType | None) -> tuple[str, ...]:
    """Walk by hand: the traceback module would open a file for every frame, at every crash."""
    kept: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        kept.append(f"{code.co_filename.rpartition('/')[2]}:{traceback.tb_lineno} in {code.co_name}")
        if len(kept) > FRAMES_KEPT:
            del kept[0]
        traceback = traceback.tb_next
    return tuple(kept)
