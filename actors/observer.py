"""Reports of the core about its work, and its counters. An extra makes an observer of the reports; without one each
does nothing. The World carries the observer: actors call it where something happens, and pass nothing else around for
its sake.

Counters are plain numbers in memory. Label values are from closed sets in the code (a tier, an outcome, a cause), never
from users, so the number of series does not grow with the sources. Adding costs one dict access.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from actors.messages.workers import Record
    from storage.append import Answer as Appended
    from storage.records.checks import Row
    from storage.records.destination import Delivery, Destination
    from storage.records.event import Stored
    from storage.records.identity import Millis, SourceId
    from storage.records.source import Source
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


Labels = tuple[str, ...]
QUICK = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
SLOW = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0)
LATE = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)


class Counter:
    """Counts since the process started, per set of label values."""

    def __init__(self, name: str, says: str, *labels: str) -> None:
        self.name, self.says, self.labels = name, says, labels
        self.values: dict[Labels, float] = {} if labels else {(): 0}

    def add(self, *values: str, by: float = 1) -> None:
        self.values[values] = self.values.get(values, 0) + by

    def total(self) -> float:
        return sum(self.values.values())


class Histogram:
    """Counts observations by size. bounds: the upper ends of its buckets; one more bucket has no end."""

    def __init__(self, name: str, says: str, bounds: tuple[float, ...]) -> None:
        self.name, self.says, self.bounds = name, says, bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value


class Gauge:
    """A figure that goes up and down."""

    def __init__(self, name: str = "", says: str = "") -> None:
        self.name, self.says = name, says
        self.value = 0.0


class Metrics:
    """All counters. Names lack the prefix and suffix that an output format adds."""

    def __init__(self) -> None:
        self.shipped = Counter("replica_bytes", "Bytes written to the replica.")
        self.heartbeats = Counter("heartbeats", "Signs of life to a monitor elsewhere.", "outcome")
        self.spans = Counter("spans", "Spans of traces, by what became of them.", "outcome")
        self.looks = Counter("looks", "Finished checks of feeds and pages.", "tier", "outcome")
        self.rendered_looks = Counter("rendered_looks", "Checks with a rendered page.", "outcome")
        self.look_delay = Histogram("look_delay_seconds", "Time from a check's due time to its end.", LATE)
        self.events = Counter("events", "Events committed to the log.", "tier")
        self.commit_time = Histogram("commit_seconds", "How long a group commit of harvests took.", QUICK)
        self.commit_size = Histogram("commit_harvests", "Harvests in one group commit.", SIZES)
        self.matches = Counter("matches", "Rows that the matcher put into the outbox.")
        self.attempts = Counter("attempts", "Requests made to destinations.", "outcome")
        self.attempt_time = Histogram("attempt_seconds", "How long a request to a destination took.", SLOW)
        self.settled = Counter("deliveries", "Deliveries by what became of their newest attempt.", "result")
        self.delivery_delay = Histogram(
            "delivery_delay_seconds", "From when a delivery was first due to when it was taken.", LATE
        )
        self.requests = Counter("http_requests", "Requests that the API answered.", "status")
        self.streams = Gauge("streams_open", "Live streams that are open.")
        self.fell_behind = Counter("streams_overtaken", "Streams that retention has overtaken.")
        self.worker_ends = Counter("worker_kills", "Worker processes ended before their time.", "cause")
        self.stalls = Counter("loop_stalls", "Steps of a task that held the loop for a second or more.")
        self.loop_lag = Gauge("loop_lag_seconds", "How late the loop came to a timer at the last measurement.")

    def __iter__(self) -> Iterator[Counter | Histogram | Gauge]:
        return iter(vars(self).values())

    def counters(self) -> dict[str, Counter]:
        return {each.name: each for each in self if isinstance(each, Counter)}
