"""Completion for filters and jumps. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from storage.records.states import HEALTH, PARTS
from storage.records.tiers import TIERS

_VALUES: Final[Mapping[str, Sequence[str]]] = {
    "state": sorted({*PARTS, *(state for state in HEALTH if state != "ok")}),
    "kind": sorted(("part", "destination", *TIERS)),
    "host": (),
    "tag": (),
}
PLACES: Final = ("alerts", "destinations", "streams", "keys", "log", "sources", "parts", "trouble", "all")
"""Names of places that a jump knows."""


def filters(text: str) -> Sequence[str]:
    """Complete a filter's last word.

    >>> filters("shop state:q"), filters("sta"), filters("shop")
    (['shop state:quarantined'], ['state:'], [])
    """
    head, space, word = text.rpartition(" ")
    name, colon, value = word.partition(":")
    if colon:
        found = [f"{name}:{each}" for each in _VALUES.get(name, ()) if each.startswith(value) and each != value]
    else:
        found = [f"{each}:" for each in _VALUES if word and each.startswith(word)]
    return [head + space + each for each in found]


def places(text: str) -> Sequence[str]:
    """Complete the place of a jump.

    >>> places("al")
    ['alerts', 'all']
    """
    return [place for place in PLACES if place.startswith(text) and place != text]
