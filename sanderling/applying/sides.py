"""The two sides of a plan: what files want, and what a service has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sanderling.applying.kinds.kind import Private, Wanted


class Wish(NamedTuple):
    """What a folder of files wants, by kind."""

    workspace: str
    wanted: Mapping[str, Sequence[Wanted]]


class State(NamedTuple):
    """The records of each kind, and which values of each kind of destination are sealed."""

    records: Mapping[str, Sequence[Any]]
    private: Private
