"""What is raised when the service refuses, when a stream is lost, and when something does not verify."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sanderling_client.records import FieldError, Problem


class SanderlingError(Exception):
    """Of this kind are all errors of this package; httpx's own come through as they are."""


class ProblemError(SanderlingError):
    """An answer that is a problem (RFC 9457). Its class says which; `SanderlingError` has a subclass for each kind."""

    def __init__(self, problem: Problem, headers: Mapping[str, str]) -> None:
        super().__init__(f"{problem.status} {problem.title}: {problem.detail}" if problem.detail else problem.title)
        self.problem = problem
        """The document."""
        self.status = problem.status
        self.slug = problem.type.rpartition("/")[2]
        """The end of the problem's `type`, which names its kind."""
        self.retry_after = _seconds(headers.get("Retry-After", ""))
        """The seconds to wait before the next attempt; None where the answer says nothing of that."""
        self.request_id = headers.get("X-Request-Id", "")
        """What the operator finds this request by."""

    @property
    def errors(self) -> list[FieldError]:
        """The places of the request that are wrong, with the reason for each."""
        return list(self.problem.errors or ())


class AnswerError(SanderlingError):
    """An answer that is none of those that the description has, of a service of another version perhaps."""


class StreamLost(SanderlingError):
    """A stream could not be opened again, so many times in a row. `cursor` is where to go on; the cause is the last."""

    def __init__(self, attempts: int, cursor: str | None) -> None:
        super().__init__(f"The stream could not be opened {attempts} times in a row.")
        self.cursor = cursor


class Unverified(SanderlingError):
    """What came is not what the service signed. The text says why."""


class UnknownKey(Unverified):
    """The key that signed is not among those given: fetch the set anew, every few minutes at most, and try again."""


def _seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() else None
