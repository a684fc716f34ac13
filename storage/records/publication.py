"""Publications: events that anyone with the address can read."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from msgspec import Struct

from storage.records.alert import Alert, Scope
from storage.records.identity import Managed, Millis, Seq, rfc3339
from storage.records.source import Source, SourceRuntime

MOST_PUBLICATIONS = 1_000


class Publication(Struct, frozen=True):
    """The events published under a title: events that meet all that is named here, of several values of one any.

    channel: as in a stream. alert_ids: what any of these alerts matches. token: the unguessable part of the address;
    None when it came here without it: then only its readers know the address. token_hash: SHA-256 of the token; it
    admits a reader.
    """

    id: str
    title: str
    token_hash: str
    created_at: Millis
    updated_at: Millis
    source_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    channel: str | None = None
    alert_ids: tuple[str, ...] = ()
    token: str | None = None
    updated_by: str = ""
    managed: Managed | None = None
    private_source_ids: tuple[str, ...] = ()
    """Private sources that a person included by name; those in `source_ids` count too."""
    ends_on: str | None = None
    """Its last day in UTC, as `2026-12-31`."""

    def has_ended(self, now: Millis) -> bool:
        return self.ends_on is not None and rfc3339(now)[:10] > self.ends_on

    @property
    def scope(self) -> Scope:
        """The sources that it covers; its alerts or channel may narrow them."""
        return Scope(self.source_ids, self.tags, self.private_source_ids)

    def has_left(self, source: Source, hot: SourceRuntime, alerts: Iterable[Alert]) -> bool:
        of = [alert.scope for alert in alerts if alert.id in self.alert_ids or alert.channel == (self.channel or "")]
        shown = any(scope.has(source.id, source.tags) for scope in of or [self.scope])
        return shown and self.scope.has_left(source, hot, self.updated_at)

    def __repr__(self) -> str:
        return f"Publication({self.id!r}, {self.title!r})"


def hash_of(token: str) -> str:
    """Hash a token for storage; a stored hash is enough to recognise the token."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


class Retraction(NamedTuple):
    """A published event that a person marked as churn and that is no longer published. seq, id: of the event."""

    seq: Seq
    id: str
    at: Millis
