"""The attaching of a template's sources and suggested alerts.

Only the results of an instantiation are stored: sources are recognized by their URLs, alerts by their stored key. So
the same call, repeated, concurrent or interrupted by a crash, leads to the same library, and each call does the rest.
The registry adds the sources with its usual politeness; this module only limits the parallel requests and the total
time, and takes hosts in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import trio
from msgspec import Struct
from msgspec.structs import replace

from actors.catalogue import Catalogue
from actors.egress.url import parse_url
from actors.errors import DomainError, LibraryFull
from actors.messages.declaring import made_of
from actors.messages.requests import NewSource
from actors.messages.sources import AddSource, RegistryMessage
from actors.messages.views import AddedSource
from actors.sources.importer import reason_of
from actors.sources.ordering import KeyedLocks, in_turns
from actors.templates.template import (
    BadParameters,
    ParameterError,
    PlannedSource,
    Suggestion,
    Template,
    Values,
    expand,
    with_values,
)
from actors.world import World
from storage.errors import StorageError
from storage.records.alert import MOST_ALERTS, MOST_SOURCES, Alert
from storage.records.identity import Millis, SourceId
from storage.records.tiers import SourceType
from storage.sql.storage import Storage
from supervision import Mailbox, Stopping, Unanswered

TIMED_OUT = "timeout: it was not done in time; call again to do the rest"


class SourceOutcome(Struct, frozen=True):
    """One source. failed: `reason` explains it. full: it failed because the library is full."""

    wanted: PlannedSource
    status: Literal["attached_new", "attached_existing", "failed"]
    source: SourceId | None = None
    type: SourceType | None = None
    reason: str | None = None
    full: bool = False


class AlertOutcome(Struct, frozen=True):
    """One suggested alert. name: its current name, maybe edited. count: its sources, 0 for the whole library."""

    name: str
    status: Literal["created", "exists", "failed"]
    alert: str | None = None
    count: int = 0
    reason: str | None = None


class Report(Struct, frozen=True):
    """The results for all sources and alerts, in the template's order."""

    sources: Sequence[SourceOutcome]
    alerts: Sequence[AlertOutcome]

    @property
    def complete(self) -> bool:
        return "failed" not in {*(item.status for item in self.sources), *(item.status for item in self.alerts)}

    @property
    def timed_out(self) -> bool:
        """Whether something ran out of time and is left for the next call."""
        return TIMED_OUT in (*(item.reason for item in self.sources), *(item.reason for item in self.alerts))


class InstantiationPreview(Struct, frozen=True):
    """The expected result: each source with its id if it is already watched, alerts by the keys of the template."""

    template: Template
    sources: Sequence[tuple[PlannedSource, SourceId | None]]
    alerts: Mapping[str, Alert]


ALERTS_TIMEOUT = 5.0  # seconds for all of them
NO_SOURCE = "no source is attached, and an alert over none would be one over the whole library: call again later"
NO_STORAGE = "the storage accepts no writes now: call again"
FULL = f"there are {MOST_ALERTS} alerts, and there is no room for more"
TOO_MANY_SOURCES = f"an alert names at most {MOST_SOURCES} sources: make another one over those that are new"


def _existing_alerts(template: Template, alerts: Sequence[Alert]) -> Mapping[str, Alert]:
    keys = {template.alert_key(suggestion): suggestion.key for suggestion in template.alerts}
    return {keys[alert.template]: alert for alert in alerts if alert.template in keys}


def _covers(alert: Alert, sources: Sequence[SourceId]) -> bool:
    return alert.scope.everywhere or set(sources) <= set(alert.source_ids)


def _with_sources(alert: Alert, sources: Sequence[SourceId], now: Millis) -> Alert:
    ids = tuple(dict.fromkeys((*alert.source_ids, *sources)))
    if _covers(alert, sources) or len(ids) > MOST_SOURCES:
        return alert
    return replace(alert, source_ids=ids, updated_at=now)


AT_ONCE = 16  # parallel requests for all calls together: half of the registry's own limit
ATTACH_TIMEOUT = 20.0
"""Seconds for the sources; with the alerts' limit, less than the half minute after which clients give up."""


class Templates:
    """The templates and their instantiation. `registry_base` is the setting of this name."""

    def __init__(
        self,
        world: World,
        registry_base: str,
        storage: Storage,
        registry: Mailbox[RegistryMessage],
        catalogue: Catalogue[Template],
    ) -> None:
        self.catalogue = catalogue
        self._world, self._registry_base = world, registry_base
        self._sources, self._alerts, self._registry = storage.sources, storage.alerts, registry
        self._slots = trio.CapacityLimiter(AT_ONCE)
        self._locks = KeyedLocks()
        """By template, so that no two calls create the same alert."""

    async def preview(
        self, template: Template, values: Values, *, only: Sequence[str] | None = None
    ) -> InstantiationPreview:
        """Return the expected result of an instantiation. Reads the storage only. Raises UrlRefused."""
        sources = []
        for planned in self._planned(template, values, only):
            known = await self._sources.by_url(planned.url)
            sources.append((planned, None if known is None else known.id))
        template = with_values(template, values)
        return InstantiationPreview(template, sources, _existing_alerts(template, await self._alerts.all()))

    async def instantiate(
        self, template: Template, values: Values, *, alerts: bool, only: Sequence[str] | None = None
    ) -> Report:
        """Attach missing sources, and report on all. Takes 25 seconds at most. only: the URLs of the chosen sources. If
        cancelled, the work so far stays, and the next call finishes it. Raises UrlRefused and BadParameters before any
        change. The caller must notify the matcher of the alerts.
        """
        sources = await self._attach_all(self._planned(template, values, only))
        attached = tuple(outcome.source for outcome in sources if outcome.source is not None)
        report = Report(sources, await self._suggest(with_values(template, values), attached) if alerts else ())
        self._world.log("template.instantiated", template=template.id, sources=len(sources), attached=len(attached))
        return report

    def _planned(self, template: Template, values: Values, only: Sequence[str] | None) -> Sequence[PlannedSource]:
        """Return the chosen sources. Raises UrlRefused; BadParameters for a URL outside the expansion."""
        sources = expand(template, values, self._registry_base)
        if only is None:
            return sources
        known, chosen = {source.url for source in sources}, [parse_url(text).text for text in only]
        error = "is none of the sources that come of these parameters"
        errors = [ParameterError(f"only[{index}]", error, url) for index, url in enumerate(chosen) if url not in known]
        if errors:
            raise BadParameters(errors)
        return [source for source in sources if source.url in chosen]

    async def _attach_all(self, planned: Sequence[PlannedSource]) -> Sequence[SourceOutcome]:
        outcomes: dict[str, SourceOutcome] = {}
        queue = in_turns(planned, lambda source: source.host)

        async def work() -> None:
            for source in queue:
                async with self._slots:
                    outcomes[source.url] = await self._attach(source)

        with trio.move_on_after(ATTACH_TIMEOUT):
            async with trio.open_nursery() as nursery:
                for _ in range(min(AT_ONCE, len(planned))):
                    nursery.start_soon(work)
        return [outcomes.get(source.url) or SourceOutcome(source, "failed", reason=TIMED_OUT) for source in planned]

    async def _attach(self, planned: PlannedSource) -> SourceOutcome:
        *tags, mark = planned.tags
        new = NewSource(planned.url, type=planned.type, tags=tuple(tags))
        try:
            added: AddedSource = await self._registry.ask(lambda reply: AddSource(new, reply, (mark,)))
        except (DomainError, StorageError, Unanswered, Stopping) as error:
            return SourceOutcome(planned, "failed", reason=reason_of(error), full=isinstance(error, LibraryFull))
        source = added.view.source
        pause_note = None if source.enabled else "it is paused: resume it to watch it"
        status: Literal["attached_new", "attached_existing"] = "attached_new" if added.created else "attached_existing"
        return SourceOutcome(planned, status, source.id, source.detection.type, pause_note)

    async def _suggest(self, template: Template, sources: Sequence[SourceId]) -> Sequence[AlertOutcome]:
        """Create or extend all suggested alerts for these sources. Failed or late ones carry a reason."""
        outcomes: list[AlertOutcome] = []
        reason = TIMED_OUT
        with trio.move_on_after(ALERTS_TIMEOUT):
            async with self._locks.hold(template.id):
                try:
                    existing = await self._alerts.all()
                    known, room = _existing_alerts(template, existing), MOST_ALERTS - len(existing)
                    for suggestion in template.alerts:
                        alert = known.get(suggestion.key)
                        outcome = await self._suggest_one(template, suggestion, alert, sources, room)
                        room -= outcome.status == "created"
                        outcomes.append(outcome)
                except StorageError:
                    reason = NO_STORAGE
        remaining = template.alerts[len(outcomes) :]
        return [*outcomes, *(AlertOutcome(suggestion.name, "failed", reason=reason) for suggestion in remaining)]

    async def _suggest_one(
        self, template: Template, suggestion: Suggestion, known: Alert | None, sources: Sequence[SourceId], room: int
    ) -> AlertOutcome:
        if known is not None and (alert := await self._extended(known, sources)) is not None:
            full = not _covers(alert, sources)
            reason = TOO_MANY_SOURCES if full else None
            return AlertOutcome(alert.name, "failed" if full else "exists", alert.id, len(alert.source_ids), reason)
        if not sources or room <= 0:
            return AlertOutcome(suggestion.name, "failed", reason=FULL if sources else NO_SOURCE)
        now = self._world.now()
        alert = made_of(
            Alert,
            suggestion,
            id=self._world.new_id(),
            filter_query=suggestion.query,
            source_ids=tuple(sources),
            created_at=now,
            updated_at=now,
            template=template.alert_key(suggestion),
            once_per_story=None,
        )
        await self._alerts.put(alert)
        return AlertOutcome(alert.name, "created", alert.id, len(sources))

    async def _extended(self, alert: Alert, sources: Sequence[SourceId]) -> Alert | None:
        """Return the alert extended by these sources, if they fit; None if it has just been deleted."""
        if _covers(alert, sources):
            return alert
        now = self._world.now()
        return await self._alerts.edit(alert.id, lambda alert: _with_sources(alert, sources, now))
