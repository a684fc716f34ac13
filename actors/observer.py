"""Reports of the core about its work. An extra makes an observer of them; without one each report does nothing.

The World carries the observer. Actors call it where something happens, and pass nothing else around for its sake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from actors.messages.workers import Record
    from storage.append import Answer as Appended
    from storage.records.destination import Delivery, Destination
    from storage.records.event import Stored
    from storage.records.identity import Millis, SourceId
    from storage.records.source import Source
    from storage.records.trail import Row
    from supervision import ChildSpec

# Types of rooms that call the observer are Any here: they import this module.
_NOTHING: Final = nullcontext()


class CheckSteps:
    """The steps of one check, or one hop, which are sequential."""

    __slots__ = ()

    def step(self, name: str, attributes: Mapping[str, Any] = {}) -> AbstractContextManager[Any]:  # read
        return _NOTHING

    def waited(self, name: str, began: float, attributes: Mapping[str, Any]) -> None:
        """Report a step from a time on the loop's clock until now."""

    def request(self, posts: bool, url: str, host: str, port: int) -> AbstractContextManager[Any]:
        return _NOTHING

    def extensions(self) -> Mapping[str, Any]:
        return {}

    def answered(self, status: int) -> None: ...

    def jail(self, jail: Any) -> Any:
        return jail

    def looked(self, source: Source, row: Row, told: int) -> None:
        """Report the result. told: drafts to report at once."""

    def failed(self, source: Source, failure: Any, at: Millis) -> None: ...

    def hopped(self, source: Source, url: str, at: Millis, failure: Any = None) -> None: ...

    def end(self) -> None:
        """Report the end, after any of the above or an error."""


class Attempt:
    """One attempt at a delivery."""

    __slots__ = ()

    def transport(self, transport: Any) -> Any:
        return transport

    def ended(self, destination: Destination, answer: Any) -> None: ...


NO_STEPS: Final = CheckSteps()
NO_ATTEMPT: Final = Attempt()


class Observer:
    """The reports. Times `began` are by the loop's clock."""

    __slots__ = ()

    def children(self, egress: Any, *, version: str, node: str) -> Sequence[ChildSpec]:
        """Return actors that start before those that report, and stop after them."""
        return ()

    def steps(self, source: SourceId, name: str = "look") -> CheckSteps:
        return NO_STEPS

    def committed(self, records: Sequence[Record], answers: Sequence[Appended], began: float) -> None: ...

    def matched(self, event: Stored, alerts: Sequence[str]) -> Sequence[Any]:
        """Return what `stored` needs of a match once its rows are stored."""
        return ()

    def stored(self, matches: Sequence[Any]) -> None:
        """Report matches whose rows have just been stored."""

    def attempt(self, delivery: Delivery) -> Attempt:
        return NO_ATTEMPT

    def attempt_test(self, id: str) -> Attempt:
        return NO_ATTEMPT

    def linked(self, events: Sequence[bytes]) -> Sequence[Any]:
        """Return what `digested` needs of a digest's events."""
        return ()

    def digested(
        self, id: str, destination: Destination, links: Sequence[Any], *, events: int, began: float
    ) -> None: ...


NO_OBSERVER: Final = Observer()
