"""The two sides of a plan: the files' wishes and the service's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from actors.catalogue import Flaw
from extras.apply.kinds.kind import Place, Private, Wanted


class BadFiles(Exception):
    """The files have errors: all of them, by file and line."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__(f"{len(flaws)} flaws")
        self.flaws = tuple(sorted(flaws))


class Group(NamedTuple):
    """A group by template, from a table. line: of its header. told: its destinations, not yet assigned to alerts.

    members: names and URLs of its sources, once the service has expanded it.
    """

    name: str
    place: Place
    line: int
    table: Any
    told: Sequence[Wanted] = ()
    members: Sequence[tuple[str, str]] = ()


class Wish(NamedTuple):
    """The records that a folder's files want, by kind. groups: by template; unexpanded ones are not in `wanted`."""

    workspace: str
    wanted: Mapping[str, Sequence[Wanted]]
    groups: Sequence[Group] = ()


class State(NamedTuple):
    """The service's records by kind, and the sealed values of each kind of destination.

    templates: the templates of attached sources, if fetched.
    """

    records: Mapping[str, Sequence[Any]]
    private: Private
    templates: Mapping[str, Any] = {}
