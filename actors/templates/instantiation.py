"""The attaching of a template's sources and suggested alerts.

Only the results of an instantiation are stored: sources are recognized by their URLs, alerts by their stored key. So
the same call, repeated, concurrent or interrupted by a crash, leads to the same library, and each call does the rest.
The registry adds the sources with its usual politeness; this module only limits the parallel requests and the total
time, and takes hosts in turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import trio

from actors.catalogue.catalogue import Catalogue
from actors.egress.url import parse_url
from actors.errors import DomainError, LibraryFull
from actors.interleaving import in_turns
from actors.messages.requests import NewSource
from actors.messages.sources import AddSource, RegistryMessage
from actors.messages.views import AddedSource
from actors.refusals import words_of
from actors.templates.expansion import PlannedSource, Values, expand
from actors.templates.parameters import BadParameters, Wrong
from actors.templates.report import LATE, Foreseen, Report, SourceOutcome
from actors.templates.suggesting import Suggesting
from actors.templates.template import Template
from actors.world import World
from storage.errors import StorageError
from storage.interface import Storage
from supervision import Mailbox, Reply, Stopping, Unanswered

AT_ONCE = 16
"""Parallel requests for all calls together: half of the registry's own limit."""
WITHIN = 20.0
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
        self._sources, self._registry = storage.sources, registry
        self._slots = trio.CapacityLimiter(AT_ONCE)
        self._suggesting = Suggesting(world, storage.alerts)

    async def preview(self, template: Template, values: Values, *, only: Sequence[str] | None = None) -> Foreseen:
        """Return the expected result of an instantiation. Reads the storage only. Raises UrlRefused."""
        sources = []
        for wanted in self._planned(template, values, only):
            known = await self._sources.by_url(wanted.url)
            sources.append((wanted, None if known is None else known.id))
        return Foreseen(sources, await self._suggesting.known(template))

    async def instantiate(
        self, template: Template, values: Values, *, alerts: bool, only: Sequence[str] | None = None
    ) -> Report:
        """Attach missing sources, and report on all. Takes 25 seconds at most.

        only: the URLs of the chosen sources. If cancelled, the work so far stays, and the next call finishes it.
        Raises UrlRefused and BadParameters before any change. The caller must notify the matcher of the alerts.
        """
        sources = await self._attach_all(self._planned(template, values, only))
        attached = tuple(outcome.source for outcome in sources if outcome.source is not None)
        report = Report(sources, await self._suggesting.suggest(template, attached) if alerts else ())
        self._world.log("template.instantiated", template=template.id, sources=len(sources), attached=len(attached))
        return report

    def _planned(self, template: Template, values: Values, only: Sequence[str] | None) -> Sequence[PlannedSource]:
        """Return the chosen sources. Raises UrlRefused; BadParameters for a URL outside the expansion."""
        every = expand(template, values, self._registry_base)
        if only is None:
            return every
        known, meant = {wanted.url for wanted in every}, [parse_url(text).text for text in only]
        says = "is none of the sources that come of these parameters"
        wrong = [Wrong(f"only[{index}]", says, url) for index, url in enumerate(meant) if url not in known]
        if wrong:
            raise BadParameters(wrong)
        return [wanted for wanted in every if wanted.url in meant]

    async def _attach_all(self, wanted: Sequence[PlannedSource]) -> Sequence[SourceOutcome]:
        found: dict[str, SourceOutcome] = {}
        waiting = in_turns(wanted, lambda one: one.host)

        async def work() -> None:
            for one in waiting:
                async with self._slots:
                    found[one.url] = await self._attach(one)

        with trio.move_on_after(WITHIN):
            async with trio.open_nursery() as nursery:
                for _ in range(min(AT_ONCE, len(wanted))):
                    nursery.start_soon(work)
        return [found.get(one.url) or SourceOutcome(one, "failed", reason=LATE) for one in wanted]

    async def _attach(self, wanted: PlannedSource) -> SourceOutcome:
        *tags, mark = wanted.tags

        def message(reply: Reply[AddedSource]) -> AddSource:
            return AddSource(NewSource(wanted.url, type=wanted.type, tags=tuple(tags)), reply, (mark,))

        try:
            added = await self._registry.ask(message)
        except (DomainError, StorageError, Unanswered, Stopping) as error:
            return SourceOutcome(wanted, "failed", reason=words_of(error), full=isinstance(error, LibraryFull))
        source = added.view.source
        asleep = None if source.enabled else "it is paused: resume it to watch it"
        return SourceOutcome(
            wanted, "attached_new" if added.created else "attached_existing", source.id, source.detection.type, asleep
        )
