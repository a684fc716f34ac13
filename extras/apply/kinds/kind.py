"""A kind of record in files: its table, its record at the service, and how to compare them.

Both become *values*: fields by their names in files, normalized, with names in place of ids. A change is needed if the
values differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Meta, Struct

from storage.records.identity import Managed


class Reference(Struct, frozen=True, forbid_unknown_fields=True):
    """Where a secret is: in a variable of the environment, or in a file beside these."""

    env: Annotated[str, Meta(min_length=1, max_length=200, description="The name of a variable")] | None = None
    file: Annotated[str, Meta(min_length=1, max_length=1000, description="A path, from this folder")] | None = None

    def __str__(self) -> str:
        return f"${self.env}" if self.env is not None else f"the file {self.file}"


class Secret(NamedTuple):
    """A secret. value: None if unavailable here; says: its place, for messages."""

    value: str | None
    says: str

    def __repr__(self) -> str:
        return f"Secret({self.says!r})"


def flaw_of(reference: Reference) -> str:
    if (reference.env is None) == (reference.file is None):
        return 'name one place: { env = "NAME" } or { file = "path" }'
    return ""


LARGEST = 32_768  # maximum bytes of a secret in a file


def looked_up(reference: Reference, folder: Path, variables: Mapping[str, str]) -> Secret:
    """Return the secret of a reference. Raises ValueError for an unreadable file."""
    if reference.env is not None:
        return Secret(variables.get(reference.env, "").strip() or None, str(reference))
    path = folder / (reference.file or "")
    try:
        if not path.exists():
            return Secret(None, str(reference))
        with path.open("rb") as opened:
            data = opened.read(LARGEST + 1)
        text = data.decode("utf-8").strip()
    except OSError as error:
        raise ValueError(f"{reference} can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{reference} is not text in UTF-8") from None
    if len(data) > LARGEST:
        raise ValueError(f"{reference} is larger than {LARGEST >> 10} KiB")
    return Secret(text or None, str(reference))


Values = Mapping[str, Any]
Ids = Callable[[str, str], str]  # from kind and name to id. Raises LookupError if missing.
PART = "."  # separates a field from a part compared by itself, as in `options.topic`. An omitted part is None.


class FilePlace(NamedTuple):
    """A place in the files: file name and table header."""

    file: str
    table: str


class DesiredRecord(NamedTuple):
    """A record as files describe it. new: values used only on creation. secrets: by field."""

    name: str
    place: FilePlace
    values: dict[str, Any]
    new: Values
    secrets: dict[str, Secret]


class Record(Protocol):
    """The fields that every record of the service has."""

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


class ServiceRecord(NamedTuple):
    """A record at the service. sealed: fields whose secret is set."""

    record: Record
    values: Values
    sealed: frozenset[str] = frozenset()

    @property
    def mark(self) -> Managed | None:
        return self.record.managed

    @property
    def known_as(self) -> str:
        """Its name in the files; "" if unmanaged."""
        return "" if self.record.managed is None else self.record.managed.name


class Names:
    """Names of existing records by kind and id, and the reverse. A record without a name goes by its id."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}
        self._ids: dict[tuple[str, str], str] = {}
        self._before: dict[tuple[str, str], str] = {}

    def put(self, kind: str, id: str, name: str, before: str = "") -> None:
        self._names[kind, id] = name
        self._ids[kind, name] = id
        if before:
            self._before[kind, name] = before

    def before(self, kind: str, name: str) -> str:
        return self._before.get((kind, name), name)

    def name_of(self, kind: str, id: str) -> str:
        return self._names.get((kind, id), id)

    def id_of(self, kind: str, name: str) -> str:
        """Raises LookupError."""
        return self._ids[kind, name]

    def __contains__(self, known: tuple[str, str]) -> bool:
        return known in self._ids


Private = Mapping[str, frozenset[str]]  # for each kind of destination, its sealed fields; `url` means the address

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9 ._-]{0,98}")
_NAMED = "a name is 1 to 99 letters, digits, spaces and the signs . _ -, and begins with a letter or a digit"


def flaw_of_name(name: str) -> str:
    """Return why a name is invalid in files; "" if valid.

    >>> flaw_of_name("no. 5"), flaw_of_name("#") == _NAMED
    ('', True)
    """
    return "" if _NAME.fullmatch(name) else _NAMED


class Kind(NamedTuple):
    """A kind, as a row.

    id: the table in a file. noun: singular, for messages. table: its fields. path: the API's list, and the prefix of
    each record. record: the fields read from a record; query: filter and order of the list.
    defaults: values of omitted fields; an omitted field without default is not compared. named: the field that defaults
    to the table's name. new: fields used only on creation. refers: fields that name records of another kind. secrets:
    fields that are always secret.
    spelt: normalizes values. there: turns a record into values.
    natural: the identity under another name. unique: the service has no two of the same identity and reuses an existing
    one; twins: the message if files have two. alike: the identity of unmanaged records. fixed: values that cannot
    change; other values mean another record.
    body: values and secrets (None: remove) as the API takes them. make: the path for creation, if another; making:
    extra fields for it; batch: records per request. whole: created and changed by PUT of all values. counts: whether a
    record exists for files.
    flaw_of_name, flaw: why a name, or the values as a whole, are invalid.
    called: the exported name of an unnamed record; itself: use that name always. trimmed: fields to leave out of an
    export. file: the export's file. known: its name in other records.
    """

    id: str
    noun: str
    table: type[Struct]
    path: str
    record: type[Any]
    defaults: Values
    spelt: Callable[[dict[str, Any]], dict[str, Any]]
    there: Callable[[Any, Names], ServiceRecord]
    natural: Callable[[str, Values], object]
    alike: Callable[[str, Values], object]
    body: Callable[[Values, Mapping[str, str | None], Ids], dict[str, Any]]
    called: Callable[[Values], str]
    file: str
    query: Mapping[str, str] = {}
    new: frozenset[str] = frozenset()
    named: str = ""
    refers: Mapping[str, str] = {}
    secrets: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    make: Callable[[Values, Ids], str] = lambda _values, _ids: ""
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
        return f"{self.path}/{quote(id, safe=':')}"

    def put(self, names: Names, id: str, name: str, before: str = "") -> None:
        names.put(self.id, id, self.known(name), self.known(before))

    def wanted(
        self, name: str, place: FilePlace, table: Struct, found: Callable[[str, Reference], Secret]
    ) -> DesiredRecord:
        """found: resolves a secret by field. References keep their names until those of the records are known."""
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
        return DesiredRecord(name, place, values if self.refers else self.spelt(values), new, secrets)


def _parts(field: str, given: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(given, dict):
        for name, value in given.items():
            yield f"{field}{PART}{name}", value
    else:
        yield field, given


def digest_of(value: Any) -> str:
    """Return a short digest of a value.

    >>> digest_of("1h")
    '7a39def4'
    """
    return blake2b(msgspec.json.encode(value, order="sorted"), digest_size=4).hexdigest()
