"""The two sides of a plan: what files want, and what a service has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from actors.catalogue.reading import Flaw
from sanderling.applying.kinds.kind import Place, Private, Wanted


class BadFiles(Exception):
    """Something is wrong with the files: all that was found, by file and line."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__(f"{len(flaws)} flaws")
        self.flaws = tuple(sorted(flaws))


class Group(NamedTuple):
    """A group by a template, as a table has it. line: of its header. told: its destinations, each for an alert to come.

    members: its sources, by their names in the files and their URLs, once the service has said which.
    """

    name: str
    place: Place
    line: int
    table: Any
    told: Sequence[Wanted] = ()
    members: Sequence[tuple[str, str]] = ()


class Wish(NamedTuple):
    """What a folder of files wants, by kind. groups: those by a template; without members they are not in `wanted`."""

    workspace: str
    wanted: Mapping[str, Sequence[Wanted]]
    groups: Sequence[Group] = ()


class State(NamedTuple):
    """The records of each kind, and which values of each kind of destination are sealed.

    templates: those by which sources are attached, where they are asked for.
    """

    records: Mapping[str, Sequence[Any]]
    private: Private
    templates: Mapping[str, Any] = {}
