"""A coverage receipt: the known checks of a source in a period, signed like an event.

It proves who states it and that it was not altered; outsiders cannot verify that the checks were made. It lists its own
gaps. Numbers are integers, so the canonical form has one spelling. It stays below 2 KB: a hash replaces a long address.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType, json

from sanderling_client.receiver.receipt import WHYS
from storage.records.coverage import Coverage, Why
from storage.records.identity import Millis, rfc3339
from storage.records.message import Message, joined, message
from storage.records.trail import Verdict

MOST_BYTES: Final = 2_048
MOST_URL: Final = 256
"""Maximum bytes of an address in a receipt."""
MOST_WHYS: Final = 2
"""Maximum reasons in the sentence; each unknown period has its own."""


class UnknownTime(Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """A period without records, and why."""

    start: str
    end: str
    why: Why


class LongestGap(Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """The longest known time without an answered check; an hour at the edge of a known period may lengthen it."""

    start: str
    end: str
    seconds: int


class CoverageReceipt(Struct, frozen=True, kw_only=True, rename={"start": "from", "end": "to"}):
    """The known checks of one source in a period."""

    type: Literal["coverage"] = "coverage"
    source_id: str
    url: str | UnsetType = UNSET
    url_sha256: str | UnsetType = UNSET
    start: str
    end: str
    says: str
    looks: int
    answered: int
    outcomes: Mapping[str, int]
    versions: int
    first_answered_at: str | None
    last_answered_at: str | None
    longest_gap: LongestGap | None
    unknown_seconds: int
    unknown: Sequence[UnknownTime]
    not_running_seconds: int
    first_event_id: str | None
    last_event_id: str | None
    events_since: str | None
    signed_at: str | UnsetType = UNSET
    key_id: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class LoggedEvents(NamedTuple):
    """The source's events in the period: the ids of the first and last. since: the log has none before this time."""

    first: str | None
    last: str | None
    since: Millis | None


def receipt_of(source: str, url: str, coverage: Coverage, logged: LoggedEvents) -> CoverageReceipt:
    gap = coverage.gap
    is_short = len(json.encode(url)) <= MOST_URL
    return CoverageReceipt(
        source_id=source,
        url=url if is_short else UNSET,
        url_sha256=UNSET if is_short else sha256(url.encode("utf-8", "replace")).hexdigest(),
        start=rfc3339(coverage.start),
        end=rfc3339(coverage.end),
        says=str(summary(coverage)),
        looks=sum(coverage.looks),
        answered=coverage.answered,
        outcomes={verdict.name.lower(): coverage.looks[verdict] for verdict in Verdict},
        versions=coverage.bodies,
        first_answered_at=_moment(coverage.first),
        last_answered_at=_moment(coverage.last),
        longest_gap=None if gap is None else LongestGap(rfc3339(gap.start), rfc3339(gap.end), gap.seconds),
        unknown_seconds=-(-coverage.unknown_ms // 1000),
        unknown=[UnknownTime(rfc3339(span.start), rfc3339(span.end), span.why) for span in coverage.unknown],
        not_running_seconds=coverage.resting // 1000,
        first_event_id=logged.first,
        last_event_id=logged.last,
        events_since=_moment(logged.since),
    )


def summary(coverage: Coverage) -> Message:
    if coverage.unknown_ms >= coverage.end - coverage.start:
        return message("Nothing is known of this time: %(reason)s.", reason=WHYS[coverage.unknown[0].why])
    looks = _check_counts(coverage.answered, sum(coverage.looks) - coverage.answered)
    if coverage.gap is not None:
        looks = message("%(rest)s, the longest pause was %(span)s", rest=looks, span=length(coverage.gap.seconds))
    if not coverage.unknown:
        return message("%(what)s; nothing is unknown.", what=looks)
    times, span = len(coverage.unknown), length(-(-coverage.unknown_ms // 1000))
    why = joined(list(dict.fromkeys(WHYS[span.why] for span in coverage.unknown))[:MOST_WHYS], "; ")
    if times == 1:
        says = "%(what)s; one time is unknown, %(span)s in all (%(reason)s)."
        return message(says, what=looks, span=span, reason=why)
    says = "%(what)s; %(times)s times are unknown, %(span)s in all (%(reason)s)."
    return message(says, what=looks, times=times, span=span, reason=why)


def _check_counts(answered: int, failed: int) -> Message:
    successes, failures = f"{answered:,}", f"{failed:,}"
    if not failed:
        return message("1 check succeeded") if answered == 1 else message("%(count)s checks succeeded", count=successes)
    if answered == 1:
        return message("1 check succeeded, %(bad)s failed", bad=failures)
    return message("%(count)s checks succeeded, %(bad)s failed", count=successes, bad=failures)


def length(seconds: int) -> Message:
    """Format a duration in at most two units, rounded up to the smaller one.

    >>> [str(length(seconds)) for seconds in (0, 59, 720, 5_401, 90_000, 86_400 * 12 + 1)]
    ['0 s', '59 s', '12 min', '1 h 31 min', '1 d 1 h', '12 d 1 h']
    """
    if seconds < 60:
        return message("%(count)s s", count=seconds)
    minutes = -(-seconds // 60)
    if minutes < 60:
        return message("%(count)s min", count=minutes)
    hours, rest = divmod(minutes, 60)
    if hours < 24:
        both = message("%(hours)s h %(minutes)s min", hours=hours, minutes=rest)
        return both if rest else message("%(count)s h", count=hours)
    days, hours = divmod(-(-minutes // 60), 24)
    return message("%(days)s d %(hours)s h", days=days, hours=hours) if hours else message("%(count)s d", count=days)


def _moment(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)
