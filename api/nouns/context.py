"""The context of every operation; running one to its end, from a known revision, and in force for all readers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar
from uuid import UUID

import trio
from msgspec.structs import replace

from actors.app_context import AppContext
from actors.errors import NotFound, Stale, TooSoon
from actors.messages.workers import AlertsChanged
from api.problems import invalid
from api.ratelimit import Limit, Limiter
from api.streams.streams import Streams
from storage.records.alert import Alert
from storage.records.publication import Publication
from storage.records.revision import Expected, Record, is_expected

P = ParamSpec("P")
T = TypeVar("T")


class OperationContext(Protocol):
    """The parts of the service that a face may use."""

    @property
    def context(self) -> AppContext: ...

    @property
    def streams(self) -> Streams: ...

    @property
    def limiter(self) -> Limiter: ...

    @property
    def by(self) -> str:
        """The caller's name for `updated_by`: a key's name, or a face of the service."""

    def may(self, scope: str) -> bool: ...

    @property
    def request_id(self) -> str: ...


def known_id(text: str, noun: str) -> str:
    """Return a normalised id. Raises NotFound for an invalid one."""
    try:
        return str(UUID(text))
    except ValueError:
        raise NotFound(f"There is no such {noun}.") from None


def as_id(text: str, location: str, says: str) -> str:
    """Return a normalised id of a request. Raises Refusal (400)."""
    try:
        return str(UUID(text))
    except ValueError:
        raise invalid(location, says, text) from None


def existing(found: T | None, says: str) -> T:
    """Return a record that was found. Raises NotFound, with this sentence."""
    if found is None:
        raise NotFound(says)
    return found


async def alert_named(call: OperationContext, id: str) -> Alert:
    """Return the alert with an id. Raises NotFound."""
    return existing(await call.context.storage.alerts.get(known_id(id, "alert")), "There is no such alert.")


def check_pace(call: OperationContext, what: str, pace: Limit, says: str) -> None:
    """Take a token of a bucket that all callers share. Raises TooSoon, with this sentence."""
    verdict = call.limiter.take(what, pace, trio.current_time())
    if not verdict.admitted:
        raise TooSoon(says, verdict.retry_after)


async def put_in_force(call: OperationContext) -> None:
    """Make all readers of alerts reload them. Raises TooSlowError (503); the stored change stays."""
    await call.streams.channels.refresh()
    with trio.fail_after(ANSWER_WITHIN):
        await call.context.matcher.ask(lambda reply: AlertsChanged(reply=reply))


ANSWER_WITHIN = 15.0  # seconds for the matcher to apply a change; it is stored by then
WITHIN = 30.0  # Seconds. Every wait in an operation has a shorter limit, except for a storage that does not answer.


def whole(act: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Run an operation to its end, within a limit, even if its caller is cancelled. Raises TooSlowError."""

    @wraps(act)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + WITHIN) as scope:
            done = await act(*args, **kwargs)
        if scope.cancelled_caught:
            raise trio.TooSlowError
        await trio.lowlevel.checkpoint_if_cancelled()
        return done

    return run


R = TypeVar("R", bound=Record)
Edited = TypeVar("Edited", Alert, Publication)


def refuse_stale(record: Record, expected: Expected) -> None:
    if not is_expected(record, expected):
        raise Stale


def guarded(expected: Expected, change: Callable[[R], R]) -> Callable[[R], R]:
    def checked(record: R) -> R:
        refuse_stale(record, expected)
        return change(record)

    return checked


def edit_of(
    call: OperationContext, changes: Mapping[str, Any], expected: Expected, *, seen: bool
) -> Callable[[Edited], Edited]:
    """Return an edit of a record at an expected revision. One that changes nothing keeps its age, unless `seen`."""
    now = call.context.world.now()

    def edit(record: Edited) -> Edited:
        refuse_stale(record, expected)
        changed = replace(record, **changes)
        return record if changed == record and not seen else replace(changed, updated_at=now, updated_by=call.by)

    return edit
