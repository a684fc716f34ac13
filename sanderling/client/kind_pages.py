"""Kinds of destinations in the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from actors.destination_kinds.kind import DestinationKind
from sanderling.environment import typed
from storage.records.secrecy import plain


def as_record(kind: DestinationKind) -> dict[str, Any]:
    """Return a kind for JSON: its fields, without internals."""
    names = ("name", "label", "help", "example", "default", "required", "private")
    return {
        "id": kind.id,
        "label": kind.label,
        "family": kind.family,
        "where": kind.where,
        "address": kind.address.label,
        "fields": [{name: getattr(field, name) for name in names} for field in kind.fields],
    }


def as_page(kind: DestinationKind) -> str:
    """Return a kind as a page: where to get its values, its fields, the command."""
    return "\n".join(_lines(kind))


def _lines(kind: DestinationKind) -> Iterator[str]:
    yield f"{kind.id}: {plain(kind.label)}"
    yield plain(kind.where)
    address = kind.address
    yield f"\nAddress: {plain(address.label)}"
    if address.default:
        yield f"  need not be given: {plain(address.default)}"
    elif address.example:
        yield f"  such as {plain(address.example)}"
    if address.private:
        yield "  It is sealed; only its host is shown."
    for field in kind.fields:
        need = (
            "" if field.required and not field.default else f", else {field.default}" if field.default else ", optional"
        )
        yield f"\n--option {field.name}: {plain(field.label)}{need}{', sealed' if field.private else ''}"
        if field.help:
            yield f"  {plain(field.help)}"
        if field.example:
            yield f"  such as {plain(field.example)}"
    wanted = [f"--option {field.name}=..." for field in kind.fields if field.required and not field.default]
    target = [] if address.default else ["URL"]
    yield "\n" + " ".join([typed("alerts deliver ALERT"), *target, f"--kind {kind.id}", *wanted])
