"""The front end's context: mailboxes, storage and a view of the tree. Made by `system.py`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actors.destination_kinds.kind import Inviter
from actors.destination_kinds.table import Kinds
from actors.egress.traffic import SendingOutlet
from actors.matcher.actor import Lag
from actors.messages.sources import RegistryMessage
from actors.messages.views import TestResult
from actors.messages.workers import DestinationMessage, ImportMessage, MatcherMessage
from actors.open_streams import OpenStreams
from actors.overseer.figures import Figure
from actors.overseer.overseer import Overseer
from actors.settings import Settings
from actors.shifts import Shifts
from actors.signatures.event import Signer
from actors.signing import Directory
from actors.sources.schedule.budgets import LookRate
from actors.templates.instantiation import Templates
from actors.world import World
from extras.cluster.members.ownership import Ownership
from extras.cluster.members.usage import Usage
from storage.records.destination import Destination
from storage.records.identity import Millis
from storage.records.member import ReplicaState
from storage.sql.storage import Storage
from supervision import Mailbox


@dataclass(frozen=True, slots=True)
class AppContext:
    """Everything that the API may touch.

    destination: the mailbox of a destination's actor, None when there is none.
    signer: signs with the key that is active. shifts: when the service ran by one steady clock.
    jwks: the published signing keys as a JWK Set (RFC 7517), encoded.
    look_keys: where the keys that sign looks are published, for an authority at a time; None: looks are not signed.
    readiness: what must hold for /readyz, by name: an empty string is well, else a sentence says what is not.
    overdue: how many sources' due looks had not happened at the watchman's last round.
    lag: how far the matcher is behind the log.
    alert_changes: how often alerts have changed. mailboxes: of the actors of extras, by name.
    callbacks: the way out to the hub's subscribers.
    kinds: the kinds of destinations, by id. inviter: asks people whether they want to be told.
    figures: what is read off the running service, beside what the World's metrics count.
    overseer: the tree as rows, and the acts on its parts.
    templates: what can be instantiated.
    importer: the mailbox of who adds whole lists of sources.
    spent: how many looks are made, and whether that is within the budget.
    clock_doubt: why the clock is not believed, "" while it is.
    ownership: which node does what; of a node that is alone, everything is its own.
    usage: what other nodes have let pass of rate limits.
    replica: how far the copy for a standby is; None where none is kept.
    test_elsewhere: sends a sample to a destination that another node delivers to; None where there are no others.
    origins: where the value of each setting came from (`default`, `--port`, `SANDERLING_PORT`, a file's path).
    draining: whether the service is stopping (new work is refused with 503).
    private_since: since when a source is for its owner only, until somebody includes it by name; None: it is public.
    source_changes: how often sources were added, edited or deleted.
    open_streams: the streams that are open at this node, whatever the listener.
    """

    world: World
    settings: Settings
    storage: Storage
    registry: Mailbox[RegistryMessage]
    matcher: Mailbox[MatcherMessage]
    destination: Callable[[str], Mailbox[DestinationMessage] | None]
    jwks: Callable[[], Awaitable[bytes]]
    signer: Callable[[], Awaitable[Signer]]
    shifts: Shifts
    readiness: Callable[[], Mapping[str, str]]
    overdue: Callable[[], int]
    lag: Callable[[], Lag]
    alert_changes: Callable[[], int]
    kinds: Kinds
    inviter: Inviter
    overseer: Overseer
    figures: Callable[[], Sequence[Figure]]
    templates: Templates
    draining: Callable[[], bool]
    importer: Mailbox[ImportMessage]
    callbacks: SendingOutlet
    look_keys: Callable[[str, int], Awaitable[Directory]] | None = None
    spent: Callable[[], LookRate] = LookRate
    clock_doubt: Callable[[], str] = str
    ownership: Ownership = field(default_factory=Ownership)
    usage: Usage = field(default_factory=Usage)
    replica: ReplicaState | None = None
    test_elsewhere: Callable[[Destination], Awaitable[TestResult]] | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    private_since: Callable[[str], Millis | None] = lambda source: None
    source_changes: Callable[[], int] = lambda: 0
    open_streams: OpenStreams = field(default_factory=OpenStreams)
    mailboxes: dict[str, Mailbox[Any]] = field(default_factory=dict)

    def is_private(self, source: str) -> bool:
        return self.private_since(source) is not None
