"""An overseer of a tree without running parts, for front ends without actors."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from actors.messages.views import SourceExamination, SourceView
from actors.overseer.overseer import Journal, Overseer
from actors.settings import Settings
from actors.sources.explanation import examine
from actors.sources.ports import LiveSource, limits_of
from actors.sources.schedule.pause import PauseSwitch
from actors.world import World
from storage.ownership import Members
from storage.records.source import RANK, SOURCES
from supervision import DynamicSupervisor, Supervisor
from tests.support.build import NOW


class ScriptedTable:
    """The table of sources, from the views of a fake registry."""

    def __init__(self, views: Mapping[str, SourceView]) -> None:
        self._views = views

    def __len__(self) -> int:
        return len(self._views)

    def look_up(self, source: str) -> LiveSource | None:
        view = self._views.get(source)
        return None if view is None else LiveSource(view.source, view.hot)

    def describe(self, source: str) -> SourceView:
        return self._views[source]

    def examine(self, source: str) -> SourceExamination:
        view = self._views[source]
        return examine(view, limits_of(view.source, Settings()), NOW)

    def slices(self) -> Iterator[list[LiveSource]]:
        yield [LiveSource(view.source, view.hot) for view in self._views.values()]

    def flag_counts(self) -> dict[str, int]:
        found = Counter(view.hot.health.flag for view in self._views.values())
        return {flag: found[flag] for flag in RANK}

    def states(self) -> dict[str, int]:
        found = Counter(view.state for view in self._views.values())
        return {state: found[state] for state in SOURCES}


def an_overseer(world: World, views: Mapping[str, SourceView]) -> Overseer:
    root = Supervisor("sanderling", [], chance=random.Random(1))
    table: Any = ScriptedTable(views)
    deliveries: Any = None
    return Overseer(
        world,
        lambda: root,
        sources=DynamicSupervisor("sources", chance=random.Random(2)),
        table=table,
        destinations=DynamicSupervisor("destinations", chance=random.Random(3)),
        deliveries=deliveries,
        pause_switch=PauseSwitch(),
        members=Members("alone"),
        journal=Journal(),
        started_at=NOW,
        version="9.9",
    )
