"""Patches, answers and tables made from a noun's declaration, so that a field is declared once.

Each is a class with the fields that are its own; a decorator adds the declared ones. `order` names fields as they are
shown; those that it does not name come last.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from types import FunctionType, NoneType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, field
from msgspec.structs import FieldInfo, fields

from storage.records.identity import Millis, interval_text, rfc3339

S = TypeVar("S", bound=Struct)
_TIME = Meta(extra_json_schema={"format": "date-time"})
Time = Annotated[str, _TIME]
Revision = Annotated[str, Meta(description="The value of its ETag, for If-Match")]
UpdatedBy = Annotated[
    str, Meta(description="The author of the last change: a key's name, the dashboard, this machine; else the service")
]


class Declared(Struct, frozen=True):
    """A struct with fields that a decorator adds, unseen by type checkers."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


_METHODS = (FunctionType, property)


def option(help: str, name: str = "") -> Meta:
    """Make a field an option of commands. name: unless it is that of the field."""
    return Meta(extra={"help": help, "option": name})


def texts_in(package: str, file: str) -> Callable[..., Meta]:
    """Return a function that makes the Meta of a field from its bounds, and its texts in a TOML file: description,
    examples, form (a pattern in words), help and option (see `option`).
    """
    texts = tomllib.loads(files(package).joinpath(file).read_text("utf-8"))

    def meta(name: str, **bounds: Any) -> Meta:
        known = dict(texts[name])
        extra = {key: known.pop(key) for key in ("form", "help", "option") if key in known}
        if "help" in extra:
            extra.setdefault("option", "")
        return Meta(**bounds, **known, extra=extra or None)

    return meta


def part_of(declared: type[Struct], names: Collection[str]) -> Callable[[type[S]], type[S]]:
    """Add these of the declared fields, with their defaults."""
    made = {each.name: (each.type, _own(each)) for each in fields(declared) if each.name in names}
    return lambda kind: _with(kind, made, " ".join(names))


def patch_of(
    declared: type[Struct], record: type[Struct] | None = None, without: Collection[str] = (), order: str = ""
) -> Callable[[type[S]], type[S]]:
    """Add the declared fields, none of them required. Null is a value where the stored record may be without it."""
    empty = {each.name for each in fields(record) if NoneType in get_args(each.type)} if record else ()
    made = {
        each.name: (Union[(*_members(each.type, null=each.name in empty), UnsetType)], UNSET)
        for each in fields(declared)
        if each.name not in without
    }
    return lambda kind: _with(kind, made, order)


def record_of(stored: type, shown: str) -> Callable[[type[S]], type[S]]:
    """Add the named fields of a stored record, all required, times as text. A field not named may be secret."""
    declared = get_type_hints(stored, include_extras=True)
    made = {name: (_shown(name, declared[name]),) for name in shown.split() if name in declared}
    return lambda kind: _with(kind, made, shown)


def shown_whole(made: type[Struct]) -> Callable[[type[S]], type[S]]:
    """Add all fields of a record that is made to be shown, in its order."""
    return record_of(made, " ".join(made.__struct_fields__))


def _shown(name: str, stored: Any) -> Any:
    kind: Any = Time if Millis in _parts(stored) else str if name == "schedule" else None
    return stored if kind is None else kind | None if NoneType in get_args(stored) else kind


def _members(kind: Any, *, null: bool) -> Sequence[Any]:
    parts = get_args(kind) if NoneType in get_args(kind) else (kind,)
    return [part for part in parts if null or part is not NoneType]


def _with(kind: type[S], made: Mapping[str, tuple[Any, ...]], order: str) -> type[S]:
    """Return a class with further fields, except where it has its own."""
    known = dict(made) | {each.name: (each.type, _own(each)) for each in fields(kind)}
    places = {name: place for place, name in enumerate(dict.fromkeys(order.split()))}
    names = sorted(known, key=lambda name: places.get(name, len(places)))
    config = kind.__struct_config__
    return defstruct(  # type: ignore[return-value]
        kind.__name__,
        [(name, *known[name]) for name in names],
        bases=kind.__bases__,
        module=kind.__module__,
        namespace={"__doc__": kind.__doc__} | {n: it for n, it in vars(kind).items() if isinstance(it, _METHODS)},
        frozen=config.frozen,
        forbid_unknown_fields=config.forbid_unknown_fields,
        kw_only=True,
    )


def _own(info: FieldInfo) -> Any:
    own: dict[str, Any] = {"default": info.default, "default_factory": info.default_factory, "name": info.encode_name}
    return field(**own)


def made_of(shape: type[S], *records: object, **own: Any) -> S:
    """Make a shape. Each field that is not given comes from the first record that has one of its name."""
    for record in records:
        own |= mirrored(record, shape, own)
    return shape(**own)


def mirrored(record: object, shape: type[Struct], without: Collection[str] = ()) -> dict[str, Any]:
    """Return a shape's fields from a record, by name, with times as text or nested shapes as the shape says."""
    found = {}
    for name, convert in _conversions(shape):
        if name not in without and (value := getattr(record, name, UNSET)) is not UNSET:
            found[name] = value if convert is None else convert(value)
    return found


@cache
def _conversions(shape: type[Struct]) -> Sequence[tuple[str, Callable[[Any], Any] | None]]:
    return [(each.name, _conversion(each.name, each.type)) for each in fields(shape)]


def _conversion(name: str, kind: Any) -> Callable[[Any], Any] | None:
    if name == "schedule":
        return lambda seconds: interval_text(seconds) if isinstance(seconds, int) else seconds
    parts = [*_parts(kind)]
    inner = next((part for part in parts if isinstance(part, type) and issubclass(part, Struct)), None)
    if inner is not None:
        return partial(_nested, inner)
    return (lambda value: rfc3339(Millis(value)) if isinstance(value, int) else value) if _TIME in parts else None


def _parts(kind: Any) -> Iterator[Any]:
    yield kind
    for part in get_args(kind):
        yield from _parts(part)


def _nested(shape: type[Struct], value: Any) -> Any:
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return tuple(_nested(shape, item) for item in value)
    return value if value is None or isinstance(value, shape) else made_of(shape, value)
