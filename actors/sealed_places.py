"""Sealed values stay with the places they were given for: a change that sends one elsewhere names it again.

A key that may change a record need not know the secrets in it. If it could change their address, it could read them: it
would name a server of its own and wait. So each record says here which of its values are sealed, and which places they
are sent to; every road (API, dashboard, command line, files, import) changes records through `check_named`.
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
    """The sealed values of a record by name, and the places they are sent to. below: where a request names them.

    shown: the place that an error may name.
    """

    names: frozenset[str]
    places: frozenset[str]
    below: str
    shown: str


def of_source(source: Source) -> Sealed:
    """Return what is sealed of a source. Its hello is sent to its URL only, which never changes."""
    origin = parse_url(source.url).origin
    names = frozenset(("headers",) if source.headers is not None else ())
    return Sealed(names, frozenset((origin, *source.headers_for)), "body", origin)


def of_destination(destination: Destination, kind: DestinationKind) -> Sealed:
    """Return what is sealed of a destination. Hosts have several tenants, so its whole address counts.

    An address that is sealed itself is named by whoever changes it, and the token of a question is our own.
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
    """Raise Unprocessable for a sealed value that a change sends to a further place without naming it."""
    if after.places <= before.places:
        return
    for name in sorted((before.names & after.names) - set(named)):
        says = f"give {name} again: what is sealed was given for {before.shown}"
        raise Unprocessable(says, f"{before.below}.{name}", None)
