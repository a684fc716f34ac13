"""Notices about the service itself, as normal events: in the log, on the `alerts` channel, delivered."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from hashlib import sha256
from math import inf
from typing import Final, Literal, NamedTuple, get_args
from unicodedata import normalize
from urllib.parse import urlsplit

from storage.records.alert import Alert
from storage.records.destination import Attempt, Destination
from storage.records.event import Draft, Stored, tags_in
from storage.records.identity import SERVICE, Millis, parse_rfc3339, rfc3339, spoken
from storage.records.secrecy import without_secrets
from storage.records.tiers import Kind, SourceType

AlertType = Literal[
    "source_quiet", "source_recovered", "source_failing", "source_reset", "source_moved", "destination_failing",
    "destination_disabled", "watching_stalled", "storage_damaged", "heartbeat",
]  # fmt: skip
ALERT_TYPES: tuple[AlertType, ...] = get_args(AlertType)
EVERYBODY: Final = 1 << 31  # more seconds than any alert may wait (`notice_after`)
RESTORE: Final = "Restore a backup: sanderling restore FILE --replace (docs/backup.md)."
_DESTINATION, _ALERT = "destination:", "alert:"
_WAITS, _TOLD = "notice_after:", "told:"
_OURS = (_DESTINATION, _ALERT, _WAITS, _TOLD)
NOTICE = "kind:notice"
_FAILING = "Deliveries to {host} have failed since {since}, without one success. {last}{end}"
_DISABLED = "Nothing more is delivered to {host}: it has failed since {since}. {last}{end}"
_END_FAILING = "After 120 hours of nothing but failures it is disabled."
_END_DISABLED = "Resume it to go on; its record says from where to replay."
_GONE = "Nothing more is delivered to {host}: it answered 410, which asks for that. {last}{end}"


def damage_notice(says: str, base_url: str, at: Millis) -> Draft:
    return notice_draft("storage_damaged", base_url, "The database is damaged", f"{says}. {RESTORE}", at)


def notice_draft(
    alert_type: AlertType,
    source_url: str,
    title: str,
    content: str,
    at: Millis,
    *,
    source_type: SourceType = "html",
    tags: tuple[str, ...] = (),
    of_source: Collection[str] = (),
) -> Draft:
    """Return a notice about a source, or about the service itself (then `source_url` is its own address), without
    secrets in addresses: it has more readers. of_source: the source's tags, which alerts over a tag match, less those
    that look like a notice's own marks; otherwise a user's tag could choose the recipients.
    """
    text = normalize("NFC", without_secrets(content))
    return Draft(
        source_type=source_type,
        source_url=source_url,
        url=source_url,
        title=without_secrets(title),
        author="",
        content=text,
        content_truncated=False,
        content_hash="sha256:" + sha256(text.encode("utf-8", "replace")).hexdigest(),
        simhash=0,
        tags=(NOTICE, *tags, *(tag for tag in dict.fromkeys(of_source) if tag != NOTICE and not tag.startswith(_OURS))),
        published_at=None,
        fetched_at=at,
        alert_type=alert_type,
    )


def destination_notice(destination: Destination, last: Attempt | None, base_url: str, at: Millis) -> Draft:
    """Return the notice that a destination owes. It shows only the URL's host: the rest is often a secret."""
    assert destination.owes is not None
    failing = destination.owes == "destination_failing"
    is_gone = last is not None and last.status == 410
    since = "a while" if destination.failing_since is None else spoken(destination.failing_since)
    ending, verb = (_END_FAILING, "is failing") if failing else (_END_DISABLED, "has been disabled")
    form, host = _FAILING if failing else _GONE if is_gone else _DISABLED, urlsplit(destination.url).hostname
    text = form.format(host=host, since=since, last=_last_attempt(last), end=ending)
    url = f"{base_url}/v1/destinations/{destination.id}"
    tags = (_DESTINATION + destination.id, _ALERT + destination.alert_id)
    return notice_draft(destination.owes, url, f"A destination {verb}: {destination.label}", text, at, tags=tags)


def _last_attempt(line: Attempt | None) -> str:
    if line is None:
        return ""
    return f"The last attempt ended with {f'HTTP {line.status}' if line.status else line.error or 'no answer'}. "


def wants_notice(alert: Alert, alert_type: str, event: Stored) -> bool:
    """Return whether an alert wants a notice: one it names, about a source in its scope or one of its destinations.

    A failure goes to alerts whose `notice_after` has just passed, the recovery to alerts that got the failure.
    """
    if event.kind == Kind.HEARTBEAT or alert_type not in alert.notices:
        return alert_type in alert.notices
    recipients = _recipients(event.body)
    if not (recipients.shortest <= alert.notice_after <= recipients.longest and alert.created_at <= recipients.told_at):
        return False
    is_ours = event.source == SERVICE and _ALERT + alert.id in recipients.tags
    return is_ours or alert.scope.has(event.source, recipients.tags)


def failure_tags(notified: int | None, due: int) -> tuple[str, ...]:
    """Return a notice's tags for alerts that wait up to `due` s; those up to `notified` (None: none) got it.

    >>> failure_tags(None, 60), failure_tags(60, 3600), failure_tags(None, EVERYBODY)
    (('notice_after:0-60',), ('notice_after:61-3600',), ('notice_after:0-',))
    """
    return (f"{_WAITS}{0 if notified is None else notified + 1}-{due if due < EVERYBODY else ''}",)


def recovery_tags(failing: int | None, at: Millis) -> tuple[str, ...]:
    """Return a recovery's tags, for alerts that got the failure by `at`. failing: the longest such wait; None: any."""
    return (*failure_tags(None, EVERYBODY if failing is None else failing), f"{_TOLD}{rfc3339(at)}")


class _Audience(NamedTuple):
    """Alerts with `notice_after` in this range, ends included, created by `told_at`. tags: all of the notice's."""

    shortest: float = 0
    longest: float = inf
    told_at: float = inf
    tags: frozenset[str] = frozenset()


@lru_cache(maxsize=64)
def _recipients(body: bytes) -> _Audience:
    tags = tags_in(body)
    audience = _Audience(tags=frozenset(tags))
    for tag in tags:
        if tag.startswith(_WAITS):
            shortest, _, longest = tag.removeprefix(_WAITS).partition("-")
            audience = audience._replace(shortest=int(shortest), longest=int(longest) if longest else inf)
        elif tag.startswith(_TOLD):
            audience = audience._replace(told_at=parse_rfc3339(tag.removeprefix(_TOLD)))
    return audience


def destination_of(event: Stored) -> str | None:
    """Return the destination that a notice is about. It does not receive the notice, which could only add failures."""
    if event.source != SERVICE:
        return None
    return next((tag.removeprefix(_DESTINATION) for tag in event.tags if tag.startswith(_DESTINATION)), None)
