"""Sealed values stay with the places they were given for: a change that moves one must name it again.

A key that may edit a record need not know its secrets. If it could change their address, it could read them: it would
name its own server and wait. So each record lists its sealed values and the places they are sent to; every way to
change one (API, dashboard, command line, files, import) goes through `check_named`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from actors.destination_kinds.kind import DestinationKind
from actors.egress.url import parse_url
from actors.errors import Unprocessable
from storage.records.destination import ADDRESS, Destination
from storage.records.source import Source


class Sealed(NamedTuple):
    """The sealed values of a record by name, and the places they are sent to. below: their path in a request.

    shown: the place that an error may name.
    """

    names: frozenset[str]
    places: frozenset[str]
    below: str
    shown: str


def of_source(source: Source) -> Sealed:
    """Return a source's sealed values. Its hello goes only to its URL, which never changes."""
    origin = parse_url(source.url).origin
    names = frozenset(("headers",) if source.headers is not None else ())
    return Sealed(names, frozenset((origin, *source.headers_for)), "body", origin)


def of_destination(destination: Destination, kind: DestinationKind) -> Sealed:
    """Return a destination's sealed values. Hosts have several tenants, so the whole address counts.

    Changing a sealed address names it anyway; the consent token is our own.
    """
    ours = {ADDRESS, kind.consent.name if kind.consent else ADDRESS}
    led = (f"{name}={destination.options.get(name, '')}" for name in kind.in_path)
    return Sealed(
        frozenset(destination.private.keys() - ours),
        frozenset((destination.address, *led)),
        "body.options",
        destination.url,
    )


def check_named(before: Sealed, after: Sealed, named: Collection[str]) -> None:
    """Raise Unprocessable if a change sends a sealed value to a new place without naming it."""
    if after.places <= before.places:
        return
    for name in sorted((before.names & after.names) - set(named)):
        says = f"give {name} again: the stored value was given for {before.shown}"
        raise Unprocessable(says, f"{before.below}.{name}", None)
