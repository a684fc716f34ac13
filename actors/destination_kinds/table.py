"""The kinds of destinations: those that need code, a row each, and one of each messenger's file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from actors.catalogue.catalogue import Catalogue
from actors.destination_kinds.kind import DestinationKind
from actors.destination_kinds.messengers.catalogue import built_in
from actors.destination_kinds.messengers.kind import kind_of
from actors.destination_kinds.messengers.messenger import Messenger
from actors.destination_kinds.webhook.kind import KIND as WEBHOOK

Kinds = Mapping[str, DestinationKind]
OWN: Final = (WEBHOOK,)


@cache
def built_in_kinds() -> Kinds:
    """Return the kinds of the program, read once."""
    return kinds_of(built_in())


def kinds_of(messengers: Catalogue[Messenger]) -> Kinds:
    """Return all kinds by id, in the order in which they are offered."""
    return {kind.id: kind for kind in (*OWN, *map(kind_of, sorted(messengers, key=lambda one: one.label.casefold())))}
