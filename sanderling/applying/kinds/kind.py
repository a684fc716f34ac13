"""A kind of thing that files describe: its table in a file, its record at the service, and how the two compare.

Both become *values*: fields by the names that files have for them, in one spelling, with names in the place of ids. So
whether anything is to change is whether two values are equal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Struct

from sanderling.applying.references import Reference, Secret
from storage.records.managed import Managed

Values = Mapping[str, Any]
Ids = Callable[[str, str], str]
"""From a kind and a name to an id. Raises LookupError for what is not there."""
PART = "."
"""Between a field and a part of it that is compared by itself: `options.topic`. Left out, such a part is None."""


class Place(NamedTuple):
    """Where something is described: a file, and the header of its table."""

    file: str
    table: str


class Wanted(NamedTuple):
    """A thing as files describe it. new: values that count only when it is made. secrets: by name."""

    name: str
    place: Place
    values: dict[str, Any]
    new: Values
    secrets: dict[str, Secret]


class Record(Protocol):
    """What every record of the service tells."""

    @property
    def id(self) -> str: ...
    @property
    def revision(self) -> str: ...
    @property
    def created_at(self) -> str: ...
    @property
    def updated_at(self) -> str: ...
    @property
    def updated_by(self) -> str: ...
    @property
    def managed(self) -> Managed | None: ...


class There(NamedTuple):
    """A thing as the service has it. sealed: the names of the secrets that it has."""

    record: Record
    values: Values
    sealed: frozenset[str] = frozenset()

    @property
    def mark(self) -> Managed | None:
        return self.record.managed

    @property
    def known_as(self) -> str:
        """The name that files have for it; "" where none do."""
        return "" if self.record.managed is None else self.record.managed.name


class Names:
    """The names of what is there, by kind and id, and the ids of names. What has no name is called by its id."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._ids: dict[tuple[str, str], str] = {}
        self._before: dict[tuple[str, str], str] = {}

    def put(self, kind: str, id: str, name: str, before: str = "") -> None:
        """Name something. before: the name that the files had for it."""
        self._names[kind, id] = name
        self._ids[kind, name] = id
        if before:
            self._before[kind, name] = before

    def before(self, kind: str, name: str) -> str:
        """Return the name that the files had for what is called so now."""
        return self._before.get((kind, name), name)

    def name_of(self, kind: str, id: str) -> str:
        return self._names.get((kind, id), id)

    def id_of(self, kind: str, name: str) -> str:
        """Return an id. Raises LookupError."""
        return self._ids[kind, name]

    def __contains__(self, known: tuple[str, str]) -> bool:
        return known in self._ids


Private = Mapping[str, frozenset[str]]
"""Of each kind of destination, the names of its values that are sealed; `url` for the address."""


_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 ._-]{0,98}")
_NAMED = "a name is 1 to 99 letters, digits, spaces and the signs . _ -, and begins with a letter or a digit"


def flaw_of_name(name: str) -> str:
    """Return why files may not call anything so; "" when they may.

    >>> flaw_of_name("no. 5"), flaw_of_name("#") == _NAMED
    ('', True)
    """
    return "" if _NAME.fullmatch(name) else _NAMED


class Kind(NamedTuple):
    """A kind, as a row.

    id: the table in a file. noun: one of it, in words. table: what a table may hold. path: where all are listed, and
    below which each is. record: what is read of a record; query: which of them, and in which order.
    defaults: the values of fields that a file leaves out; one that is not in here is not compared then. named: the
    field that is the table's own name then. new: fields that count only when it is made. refers: fields that hold
    names of another kind. secrets: fields that are secrets whatever else is said.
    spelt: values in the one spelling in which they are compared. there: a record as values.
    natural: what one is known by under another name. unique: the service has no two that are alike in that, so what
    is there already is not made again; twins: what is said where files have two. alike: by what one is known that
    nobody manages. fixed: values that can't be changed: what has others is another one.
    body: values and secrets (None: taken away) as the API takes them. make: the path of what makes one; making: what is
    asked for then beside the values; batch: how many are made at once. whole: it is made by a PUT, and each change is
    a PUT of all its values. counts: which records there are as far as files know.
    flaw_of_name, flaw: what is wrong with a name, and with values as a whole.
    called: how an export calls what has no name yet; itself: that is its name in any case. trimmed: the fields that an
    export leaves out. file: where an export puts it. known: what others call it, by its name.
    """

    id: str
    noun: str
    table: type[Struct]
    path: str
    record: type[Any]
    defaults: Values
    spelt: Callable[[dict[str, Any]], dict[str, Any]]
    there: Callable[[Any, Names], There]
    natural: Callable[[str, Values], object]
    alike: Callable[[str, Values], object]
    body: Callable[[Values, Mapping[str, str | None], Ids], dict[str, Any]]
    make: Callable[[Values, Ids], str]
    called: Callable[[Values], str]
    file: str
    query: Mapping[str, str] = {}
    new: frozenset[str] = frozenset()
    named: str = ""
    refers: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    making: Mapping[str, Any] = {}
    unique: bool = False
    twins: str = ""
    batch: int = 1
    whole: bool = False
    itself: bool = False
    counts: Callable[[Any], bool] = lambda _record: True
    flaw_of_name: Callable[[str], str] = flaw_of_name
    flaw: Callable[[Values], str] = lambda _values: ""
    trimmed: Callable[[Any, Values], frozenset[str]] = lambda _record, _values: frozenset()
    known: Callable[[str], str] = lambda name: name

    def at(self, id: str) -> str:
        """Return the path of one."""
        return f"{self.path}/{quote(id, safe=':')}"

    def put(self, names: Names, id: str, name: str, before: str = "") -> None:
        """Tell the others what one is called, and was called before."""
        names.put(self.id, id, self.known(name), self.known(before))

    def wanted(self, name: str, place: Place, table: Struct, found: Callable[[str, Reference], Secret]) -> Wanted:
        """Return what a table asks for. found: looks a secret up, by the name of its field.

        What refers to others has the names that stand in the file, and is not spelt before they are known.
        """
        values = dict(self.defaults) | ({self.named: name} if self.named else {})
        new, secrets = dict[str, Any](), dict[str, Secret]()
        for field in table.__struct_fields__:
            given = getattr(table, field)
            if given is UNSET:
                continue
            for part, value in _parts(field, given):
                if isinstance(value, Reference):
                    secrets[part] = found(part, value)
                else:
                    (new if field in self.new else values)[part] = value
        return Wanted(name, place, values if self.refers else self.spelt(values), new, secrets)


def _parts(field: str, given: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(given, dict):
        for name, value in given.items():
            yield f"{field}{PART}{name}", value
    else:
        yield field, given


def digest_of(value: Any) -> str:
    """Return a value as a short word.

    >>> digest_of("1h")
    'b3d3fbc6'
    """
    return blake2b(msgspec.json.encode(value, order="sorted"), digest_size=4).hexdigest()
