"""The front end's context: mailboxes, storage and a view of the tree."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from actors.catalogue import Catalogue
from actors.coverage import Shifts
from actors.destination_kinds.contract import Answer
from actors.destination_kinds.kind import Consent
from actors.destination_kinds.table import Kinds
from actors.matcher import Lag
from actors.messages.sources import RegistryMessage
from actors.messages.views import TestResult
from actors.messages.workers import DestinationMessage, ImportMessage, MatcherMessage
from actors.overseer.overseer import Figure, Figures, OpenStreams, Overseer
from actors.parts import Parts
from actors.recorder.actor import Directory
from actors.settings import Settings
from actors.signatures import Signer
from actors.sources.schedule.budgets import CheckRate
from actors.templates.instantiation import Templates
from actors.templates.template import Template
from actors.world import World
from storage.records.destination import Destination
from storage.records.identity import Millis
from storage.sql.storage import Storage
from supervision import Mailbox


@dataclass(frozen=True, slots=True)
class AppContext:
    """Everything that the API may touch.

    signer: signs with the active key. jwks: the published signing keys as a JWK Set (RFC 7517), encoded.
    look_keys: where the keys that sign checks are published, for an authority at a time; None: checks are not signed.
    readiness: checks for /readyz by name: "", or a sentence about the fault. overdue: late sources of the last round.
    mailboxes: of the actors of extras, by name. held: what extras keep between requests, by name.
    invite: asks a person once for consent to notifications; every failure is an answer.
    figures: those of the running service that the World's metrics don't count. clock_doubt: why it is doubted, or "".
    test_without_actor: sends a sample to a destination without an actor here: of another node, or not saved yet.
    origins: where the value of each setting came from (`default`, `--port`, `SANDERLING_PORT`, a file's path).
    private_since: since when a source is for its owner only, until somebody includes it by name; None: it is public.
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
    invite: Callable[[Consent, Destination, str], Awaitable[Answer]]
    overseer: Overseer
    figures: Callable[[], Sequence[Figure]]
    templates: Templates
    draining: Callable[[], bool]
    importer: Mailbox[ImportMessage]
    look_keys: Callable[[str, int], Awaitable[Directory]] | None = None
    spent: Callable[[], CheckRate] = CheckRate
    clock_doubt: Callable[[], str] = str
    test_without_actor: Callable[[Destination], Awaitable[TestResult]] | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    private_since: Callable[[str], Millis | None] = lambda source: None
    source_changes: Callable[[], int] = lambda: 0
    open_streams: OpenStreams = field(default_factory=OpenStreams)
    mailboxes: dict[str, Mailbox[Any]] = field(default_factory=dict)
    held: dict[str, Any] = field(default_factory=dict)

    def is_private(self, source: str) -> bool:
        return self.private_since(source) is not None


def context_of(parts: Parts, catalogue: Catalogue[Template]) -> AppContext:
    deliveries, matcher, registry, signing = parts.deliveries, parts.matcher, parts.registry, parts.signing
    world, settings, storage = parts.world, parts.settings, parts.storage
    return AppContext(
        world=world,
        settings=settings,
        storage=storage,
        registry=parts.registry_box,
        matcher=parts.matcher_box,
        destination=deliveries.mailbox,
        jwks=signing.published,
        look_keys=signing.directory if settings.sign_looks == "on" else None,
        signer=signing.signer,
        shifts=parts.shifts,
        readiness=parts.readiness,
        overdue=lambda: registry.overdue_monitor.last.overdue,
        lag=matcher.lag,
        kinds=parts.kinds,
        invite=deliveries.sender.invite,
        overseer=parts.overseer,
        figures=Figures(world, storage, parts.overseer, registry.overdue_monitor, matcher.lag).read,
        templates=Templates(world, settings.registry_base, storage, parts.registry_box, catalogue),
        draining=lambda: parts.stopping,
        importer=parts.importer_box,
        alert_changes=matcher.changes,
        private_since=registry.table.private_since,
        source_changes=lambda: registry.table.changes,
        spent=lambda: registry.overdue_monitor.check_rate,
        clock_doubt=lambda: parts.pruner.clock_doubt,
        test_without_actor=deliveries.test_without_actor,
    )
