"""Sources that have never answered: added on request although the first check failed, and classified by a later one.

`Detection.pending` is stored, so a restart changes nothing. The source's own actor retries as for any source, with the
same breaker, until a check succeeds; that check classifies the URL and makes the baseline.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from actors.egress.failures import Blame, CheckFailed
from actors.egress.hosts import TurnRequest
from actors.egress.url import Url, parse_url
from actors.errors import DomainError, Overloaded, Unprocessable
from actors.sources.checks import progress
from actors.sources.checks.access import Renewal
from actors.sources.detection.classify import Classification, classify_request, detect
from actors.sources.health.score import flag_of
from actors.sources.ports import LiveSource, Ports, limits_of, new_version
from actors.sources.schedule.cadence import START_INTERVAL
from storage.records.identity import Millis
from storage.records.message import message
from storage.records.source import Detection, Source, SourceRuntime
from storage.records.states import Health
from storage.records.tiers import SOCKETS, TIERS, SourceType
from storage.records.trail import Verdict, look, noted

MOST_SCORE: Final = 0.5
"""The highest score of a source that has never answered."""


def provisional_detection(url: Url, requested: SourceType | None, error: DomainError) -> Detection:
    """Return a provisional detection until the URL answers: a page, unless something else is known."""
    type: SourceType = requested or ("push" if url.scheme in SOCKETS else "html")
    reason = error.__cause__.reason if isinstance(error.__cause__, CheckFailed) else error.detail
    evidence = f"it has yet to answer: {reason}"
    return Detection(type, "low", evidence, url.text, "", forced=requested is not None, pending=True)


async def check_addable(ports: Ports, url: Url, requested: SourceType | None, error: DomainError) -> None:
    """Raise for an unreachable URL that can't be stored: wrong type, refused by the guard, or a name that does not
    resolve: the guard must know its addresses before watching.
    """
    if requested is not None and url.scheme not in TIERS[requested].schemes:
        raise Unprocessable(f"a {url.scheme} URL can't be watched as {requested}", "body.type", requested)
    try:
        await ports.egress.guard.check(url)
    except CheckFailed:
        raise error from None


def first_state(ports: Ports, source: Source, error: DomainError) -> SourceRuntime:
    now = ports.world.now()
    failure = error.__cause__
    if not isinstance(failure, CheckFailed):
        failure = CheckFailed(Blame.REMOTE_TRANSIENT, error.detail)
    draw = ports.world.chance(f"source/{source.id}/first").random()
    limits = limits_of(source, ports.settings)
    after = progress.failed(SourceRuntime(interval=START_INTERVAL), failure, now, limits, draw)
    row = look(now, Verdict[failure.blame.name], failure.status)
    return with_pending_health(replace(after, trail=noted(after.trail, row)), now)


def with_pending_health(hot: SourceRuntime, now: Millis) -> SourceRuntime:
    health = hot.health
    score = min(health.score, MOST_SCORE)
    reason = message("It has yet to answer.")
    if hot.last_error:
        reason = message("It has yet to answer: %(reason)s", reason=hot.last_error)
    since = now if health.down_since is None else min(now, health.down_since)
    pending_health = Health(score, flag_of(score, health.flag), "", since, "reach")
    return replace(hot, health=pending_health.explained(reason))


async def classify_pending(ports: Ports, source: Source, claim: TurnRequest, renewal: Renewal) -> Classification:
    """Classify a URL on the source's own turn. renewal: tracks its cookies. Raises CheckFailed, also for a URL that
    can't be watched.
    """
    detection = source.detection
    requested = source.type if detection.forced or source.type != detection.type else None
    request = classify_request(source, requested, source.headers)
    try:
        return await detect(ports, parse_url(source.url), request, claim, renewal)
    except (Unprocessable, Overloaded) as error:
        raise CheckFailed(Blame.REMOTE_PERMANENT, f"it can't be watched: {error.detail}") from None


async def store_classification(ports: Ports, live: LiveSource, found: Classification) -> None:
    """Store the classification in the source's record. Raises StorageError."""
    after = replace(live.source, type=found.type, watch_url=found.watch_url, detection=found.detection)
    version = new_version(ports.world)
    await ports.storage.sources.update(after, ports.storage.lease, version, before=live.source)
    live.source, live.hot, live.version = after, replace(live.hot, health=Health()), version
    ports.world.log("source.answered", source_id=after.id, type=after.type)
