"""Patches, answers and tables made from a noun's declaration, so that a field stands in one place.

Each is a class with the fields that are its own; a decorator adds the declared ones. `order` names fields as they are
shown; those that it does not name come last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import NoneType
from typing import Any, TypeVar, Union, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, field
from msgspec.structs import FieldInfo, fields

from api.schemas.sources import Time
from storage.records.identity import rfc3339

S = TypeVar("S", bound=Struct)


def option(help: str, name: str = "") -> Meta:
    """Make a field an option of commands. name: unless it is that of the field."""
    return Meta(extra={"help": help, "option": name})


def patch_of(
    declared: type[Struct], record: type[Struct] | None = None, without: Collection[str] = (), order: str = ""
) -> Callable[[type[S]], type[S]]:
    """Add the declared fields, none of them required. Null is a value where the stored record may be without it."""
    empty = {one.name for one in fields(record) if NoneType in get_args(one.type)} if record else ()
    made = {
        one.name: (Union[(*_members(one.type, null=one.name in empty), UnsetType)], UNSET)
        for one in fields(declared)
        if one.name not in without
    }
    return lambda kind: _with(kind, made, order)


def record_of(stored: type[Struct], shown: str) -> Callable[[type[S]], type[S]]:
    """Add the named fields of a stored record, all of them required. Fields ending in `_at` become RFC 3339.

    Only these: a new stored field may be a secret.
    """
    made = {one.name: (_shown(one),) for one in fields(stored) if one.name in shown.split()}
    return lambda kind: _with(kind, made, shown)


def _shown(one: FieldInfo) -> Any:
    if not one.name.endswith("_at"):
        return one.type
    return Time | None if NoneType in get_args(one.type) else Time


def _members(kind: Any, *, null: bool) -> Sequence[Any]:
    parts = get_args(kind) if NoneType in get_args(kind) else (kind,)
    return [part for part in parts if null or part is not NoneType]


def _with(kind: type[S], made: Mapping[str, tuple[Any, ...]], order: str) -> type[S]:
    """Return a class with further fields, except where it has its own."""
    known = dict(made)
    for one in fields(kind):
        own: dict[str, Any] = {"default": one.default, "default_factory": one.default_factory, "name": one.encode_name}
        known[one.name] = (one.type, field(**own))
    places = {name: place for place, name in enumerate(order.split())}
    names = sorted(known, key=lambda name: places.get(name, len(places)))
    config = kind.__struct_config__
    return defstruct(  # type: ignore[return-value]
        kind.__name__,
        [(name, *known[name]) for name in names],
        bases=kind.__bases__,
        module=kind.__module__,
        namespace={"__doc__": kind.__doc__},
        frozen=config.frozen,
        forbid_unknown_fields=config.forbid_unknown_fields,
        kw_only=True,
    )


def mirrored(record: Struct, shape: type[Struct]) -> dict[str, Any]:
    """Return a shape's fields from a record, by name. Fields ending in `_at` become RFC 3339 or None."""
    pairs = ((name, getattr(record, name)) for name in shape.__struct_fields__ if name in record.__struct_fields__)
    return {name: rfc3339(at) if name.endswith("_at") and at is not None else at for name, at in pairs}
