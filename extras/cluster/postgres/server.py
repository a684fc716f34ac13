"""A PostgreSQL server's properties: reasons to refuse a start, warnings, and the clock that its nodes share. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

OLDEST = 15
SKEW_WARNS, SKEW_REFUSES, LOCK_WARNS = 2.0, 60.0, 2.0
"""Seconds. Ids hold the time: a wrong clock pulls all nodes' ids into the future, and `from=<time>` would be wrong."""
_DURABLE = {
    "fsync": "a power cut can damage the database",
    "full_page_writes": "a power cut can damage the database",
    "synchronous_commit": "a crash loses events that were acknowledged",
}

SETTINGS = frozenset(_DURABLE)  # settings that must be on, or acknowledged events may be lost


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The properties of a server.

    version: `server_version_num`, 150004 for 15.4. settings: SHOW's values of `fsync`, `full_page_writes` and
    `synchronous_commit` for this role. ahead: seconds that its clock is ahead of ours, from `ahead_of`. writable: no
    standby, and `default_transaction_read_only` is off. may_create: the role may create tables in the schema.
    asynchronous: names of streaming standbys that no commit waits for; None if the role may not see them. log_lock: for
    how many seconds one session has held the log's lock, and its process id.
    """

    version: int
    encoding: str
    settings: Mapping[str, str]
    ahead: float
    writable: bool
    may_create: bool
    asynchronous: tuple[str, ...] | None
    log_lock: tuple[float, int] | None
    pooled: bool
    listens: bool


@dataclass(frozen=True, slots=True)
class ServerVerdict:
    """refuses: the service does not start. says: the problem. do: the remedy."""

    refuses: bool
    says: str
    do: str

    def __str__(self) -> str:
        return f"{self.says}. {self.do}"


def ahead_of(asked: float, server: float, answered: float) -> float:
    """Return by how many seconds a server's clock is at least ahead of ours (negative: behind).

    asked, answered: our wall clock before and after the query, in seconds. server: its clock in between. A slow
    connection is no wrong clock: any server time between the two counts as correct.

    >>> ahead_of(100.0, 101.0, 103.0), ahead_of(100.0, 110.0, 103.0), ahead_of(100.0, 95.0, 103.0)
    (0.0, 7.0, -5.0)
    """
    return max(0.0, server - answered) + min(0.0, server - asked)


def judge(facts: ServerFacts) -> Iterator[ServerVerdict]:
    if facts.version < OLDEST * 10_000:
        says = f"PostgreSQL {facts.version // 10_000} is too old"
        yield ServerVerdict(True, says, f"Use {OLDEST} or newer.")
    if facts.encoding != "UTF8":
        yield ServerVerdict(True, f"the database's encoding is {facts.encoding}", "createdb -E UTF8 -T template0 NAME")
    for name, harm in _DURABLE.items():
        if facts.settings[name] == "off":
            yield ServerVerdict(True, f"{name} is off: {harm}", f"Set {name} = on in postgresql.conf, or for the role.")
    if not facts.writable:
        says = "the server takes no writes: it is a standby, or read-only"
        yield ServerVerdict(True, says, "Name the primary, or all hosts with target_session_attrs=read-write.")
    elif not facts.may_create:
        yield ServerVerdict(True, "the role may not make tables in the schema", "GRANT CREATE ON SCHEMA public TO ROLE")
    yield from _clock(facts.ahead)
    yield from _warnings(facts)


def _clock(ahead: float) -> Iterator[ServerVerdict]:
    if abs(ahead) > SKEW_WARNS:
        side = "ahead of" if ahead > 0 else "behind"
        says = f"the server's clock is {abs(ahead):.1f} s {side} ours"
        yield ServerVerdict(abs(ahead) > SKEW_REFUSES, says, "Set both clocks: timedatectl set-ntp true")


def _warnings(facts: ServerFacts) -> Iterator[ServerVerdict]:
    if facts.asynchronous:
        says = (
            f"no commit waits for the standby {', '.join(facts.asynchronous)}: a failover to it loses the last events"
        )
        yield ServerVerdict(False, says, "Name it in synchronous_standby_names.")
    if facts.log_lock is not None and facts.log_lock[0] > LOCK_WARNS:
        held, process = facts.log_lock
        says = f"the session of process {process} has held the log's lock for {held:.0f} s, so nothing can be committed"
        yield ServerVerdict(False, says, f"End it if it hangs: SELECT pg_terminate_backend({process})")
    if facts.pooled and not facts.listens:
        says = "a pooler such as PgBouncer passes no notices on: events reach streams up to a second later"
        yield ServerVerdict(False, says, "Set listen_url to the server's own address.")


class SharedClock:
    """Seconds since 1970 by the database's clock; by our wall clock until the database has answered. An answer bounds
    the difference to within its round-trip time (Cristian's algorithm); a known difference inside the bounds stays. A
    wrong or changed wall clock does not affect this clock. Thread-safe.
    """

    def __init__(self, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._ahead: float | None = None

    def __call__(self) -> float:
        return self._wall() if self._ahead is None else self._monotonic() + self._ahead

    def own(self) -> float:
        """Return the time to pass to `hear`, taken before and after a query."""
        return self._monotonic()

    def hear(self, asked: float, database: float, answered: float) -> None:
        """Adjust to the database's time, which was read between two moments of `own`."""
        low, high = database - answered, database - asked
        self._ahead = min(max((low + high) / 2 if self._ahead is None else self._ahead, low), high)
