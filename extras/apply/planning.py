"""The plan: everything to do until a service matches the files, decided from two sets of values. Pure.

A record with our mark is ours under any name. A record without a mark stays unchanged unless it may be adopted; one
with another workspace's mark belongs to that workspace.

A plan as text: acts, with each field before and after. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from extras.apply.groups import Attachment, DesiredState, Group, State
from extras.apply.kinds.destinations import DESTINATIONS
from extras.apply.kinds.kind import PART, DesiredRecord, Kind, Names, Secret, ServiceRecord, Values, digest_of
from extras.apply.kinds.sources import SOURCES, url_of
from extras.apply.kinds.table import KINDS
from extras.apply.people import PersonStep
from storage.records.secrecy import plain

Verb = Literal["make", "change", "take over", "delete", "keep"]
Cause = Literal["files", "service", "both"]
MOST_APPLIED = 2000  # maximum characters of the applied digests that the service stores
SOME = 3  # so many deletions are always allowed, unless they are everything managed
TOO_MANY = 0.25  # a larger share of deletions among managed records needs explicit consent


class FieldChange(NamedTuple):
    """cause: whether the files changed since the last apply, or the service. secret: hide its values."""

    field: str
    before: Any
    after: Any
    cause: Cause = "files"
    secret: bool = False


class Act(NamedTuple):
    """wanted: None to delete; there: None to create. was: its old name. replaces: one deleted for a fixed value."""

    verb: Verb
    kind: str
    name: str
    wanted: DesiredRecord | None = None
    there: ServiceRecord | None = None
    changes: Sequence[FieldChange] = ()
    was: str = ""
    replaces: str = ""


class Doubt(NamedTuple):
    """A secret that only the service can compare."""

    kind: str
    id: str
    field: str
    value: str

    def __repr__(self) -> str:
        return f"Doubt({self.kind!r}, {self.id!r}, {self.field!r})"


class Plan(NamedTuple):
    """The acts in order. notes: remarks for the user. faults: why it cannot run. managed: how many records the files
    manage now. names: of all existing records. doubts: secrets that the service must compare. attach: groups whose
    sources lack the template's tag or are yet to be created. people: roles to give.
    """

    workspace: str
    acts: Sequence[Act]
    notes: Sequence[str]
    faults: Sequence[str]
    managed: int
    names: Names
    doubts: Sequence[Doubt] = ()
    attach: Sequence[Attachment] = ()
    people: Sequence[PersonStep] = ()

    def of(self, *verbs: Verb) -> list[Act]:
        return [act for act in self.acts if act.verb in verbs]

    @property
    def empty(self) -> bool:
        return not self.attach and not self.people and not [act for act in self.acts if act.verb != "keep"]


class Options(NamedTuple):
    """The permissions of the user. adopt: take over unmanaged records. delete: remove records that no file names."""

    adopt: bool = False
    delete: bool = True


def plan_of(wish: DesiredState, state: State, options: Options, other: frozenset[Doubt] = frozenset()) -> Plan:
    """other: secrets known to differ. With `doubts` the plan assumes that they match; ask, and plan again."""
    planner = _Planner(wish, state, options, other)
    planner.run()
    deletions = [act for act in planner.acts if act.verb in ("delete", "keep")][::-1]
    acts = [act for act in planner.acts if act.verb not in ("delete", "keep")] + deletions
    found = (planner.notes, planner.faults, planner.managed, planner.names)
    return Plan(wish.workspace, acts, *found, planner.doubts, planner.attach)


def too_many(plan: Plan) -> str:
    gone = sum(act.verb == "delete" and not act.replaces for act in plan.acts)
    if not gone or (gone < plan.managed and (gone <= SOME or gone <= TOO_MANY * plan.managed)):
        return ""
    what = "all" if gone == plan.managed else f"{gone:,} of the {plan.managed:,}"
    return f"{what} things that these files manage would be deleted"


def applied_of(kind: Kind, wanted: DesiredRecord) -> str:
    """Return the applied values for the mark: a digest of each value that is not the default."""
    defaults = kind.defaults
    return " ".join(
        f"{name}={digest_of(value)}"
        for name, value in sorted(wanted.values.items())
        if name not in defaults or value != defaults[name]
    )[:MOST_APPLIED]


class Matches:
    """Matches the files' records to the service's. left: ours that no file describes any more."""

    def __init__(
        self, kind: Kind, wanted: Sequence[DesiredRecord], there: Sequence[ServiceRecord], workspace: str
    ) -> None:
        self._kind = kind
        natural: Callable[[DesiredRecord], object] = lambda one: kind.natural(one.name, one.values)  # noqa: E731
        self.ours = [record for record in there if record.mark is not None and record.mark.workspace == workspace]
        self.found: dict[str, ServiceRecord] = {}
        if kind.unique:
            self._take(wanted, _by(there, lambda one: kind.natural("", one.values)), natural)
        else:
            ours = _by(self.ours, lambda one: (one.known_as, self._fixed(one.values)))
            self._take(wanted, ours, lambda one: (one.name, self._fixed(one.values)))
            free = self._free(self.ours)
            self._take(wanted, _by(free, lambda one: kind.natural(one.known_as, one.values)), natural)
            for some in (self._free(free), [record for record in there if record.mark is None]):
                alike = _by(some, lambda one: kind.alike("", one.values))
                self._take(wanted, alike, lambda one: kind.alike(one.name, one.values))
        self.left = self._free(self.ours)

    def _take(
        self,
        wanted: Iterable[DesiredRecord],
        there: Mapping[object, list[ServiceRecord]],
        key: Callable[[DesiredRecord], object],
    ) -> None:
        for record in wanted:
            if record.name not in self.found and (some := there.get(key(record))):
                self.found[record.name] = some.pop(0)

    def _free(self, there: Iterable[ServiceRecord]) -> list[ServiceRecord]:
        taken = {one.record.id for one in self.found.values()}
        return [record for record in there if record.record.id not in taken]

    def _fixed(self, values: Values) -> tuple[object, ...]:
        return tuple(values.get(name) for name in self._kind.fixed)


def _by(there: Sequence[ServiceRecord], key: Callable[[ServiceRecord], object]) -> Mapping[object, list[ServiceRecord]]:
    found = defaultdict[object, list[ServiceRecord]](list)
    for record in sorted(there, key=lambda record: (record.record.created_at, record.record.id)):
        found[key(record)].append(record)
    return found


def changes_of(kind: Kind, wanted: DesiredRecord, there: ServiceRecord, names: Names) -> Iterator[FieldChange]:
    before = _applied(there)
    for name, value in {**{name: None for name in there.values if PART in name}, **wanted.values}.items():
        if name in wanted.secrets or (name not in there.values and PART not in name):
            continue
        now = there.values.get(name)
        if now != value:
            yield FieldChange(name, now, value, _cause(kind, before, name, _as_before(kind, name, now, names), value))


def _as_before(kind: Kind, field: str, value: Any, names: Names) -> Any:
    of = kind.refers.get(field)
    if of is None:
        return value
    if isinstance(value, str):
        return names.before(of, value)
    return tuple(sorted(names.before(of, name) for name in value))


def _applied(there: ServiceRecord) -> Mapping[str, str] | None:
    if there.mark is None or not there.mark.applied:
        return None
    return dict(part.split("=", 1) for part in there.mark.applied.split(" ") if "=" in part)


def _cause(kind: Kind, applied: Mapping[str, str] | None, name: str, now: object, wanted: object) -> Cause:
    if applied is None:
        return "files"
    before = applied.get(name) or digest_of(kind.defaults.get(name))
    by_files, by_service = before != digest_of(wanted), before != digest_of(now)
    return "both" if by_files and by_service else "service" if by_service else "files"


def _attachment(group: Group, found: Mapping[str, ServiceRecord]) -> Attachment:
    tag = f"template:{group.table.template}"
    tags: dict[str, Sequence[str]] = {name: getattr(there.record, "tags", ()) for name, there in found.items()}
    lacking = [name for name, _ in group.members if tag not in tags.get(name, ())]
    return Attachment(group.name, group.table.template, group.table.params, group.members, len(lacking))


class _Planner:
    """Goes through the kinds in order and collects the plan."""

    def __init__(self, wish: DesiredState, state: State, options: Options, other: frozenset[Doubt]) -> None:
        self._wish, self._state, self._options, self._other = wish, state, options, other
        self.names = Names()
        self.acts: list[Act] = []
        self.notes: list[str] = []
        self.faults: list[str] = []
        self.doubts: list[Doubt] = []
        self.managed = 0
        self.attach: list[Attachment] = []
        self._by_url: dict[str, str] = {}

    def run(self) -> None:
        for kind in KINDS.values():
            self._kind(kind)

    def _kind(self, kind: Kind) -> None:
        there = [kind.there(record, self.names) for record in self._state.records[kind.id]]
        wanted = [self._settled(kind, one) for one in self._wish.wanted[kind.id]]
        self._refuse_twins(kind, wanted)
        matches = Matches(kind, wanted, there, self._wish.workspace)
        self.managed += len(matches.ours)
        left = {one.known_as: one for one in matches.left}
        for one in wanted:
            found = matches.found.get(one.name)
            if found is None:
                self._make(kind, one, left.get(one.name))
            else:
                kind.put(self.names, found.record.id, one.name, found.known_as)
                self._found(kind, one, found)
        names = {one.name for one in wanted}
        for gone in matches.left:
            self.names.put(kind.id, gone.record.id, gone.record.id, kind.known(gone.known_as))
            replaced = gone.known_as if gone.known_as in names else ""
            verb: Verb = "delete" if self._options.delete or replaced else "keep"
            self.acts.append(Act(verb, kind.id, gone.known_as, there=gone, replaces=replaced))
        if kind.id == SOURCES:
            groups = [_attachment(group, matches.found) for group in self._wish.groups]
            self.attach = [group for group in groups if group.lacking]
            # Sources outside these files may be named by URL.
            known = {found.record.id for found in matches.found.values()}
            gone_ids = {gone.record.id for gone in matches.left}
            for one_there in there:
                if one_there.record.id not in known:
                    before = one_there.known_as if one_there.record.id in gone_ids else ""
                    self.names.put(kind.id, one_there.record.id, one_there.values["url"], before)

    def _settled(self, kind: Kind, wanted: DesiredRecord) -> DesiredRecord:
        if not kind.refers:
            return wanted  # normalized on reading
        values = dict(wanted.values)
        for field, of in kind.refers.items():
            if of == SOURCES:
                values[field] = tuple(self._source_named(kind, wanted, name) for name in values[field])
        values, secrets = kind.spelt(values), dict(wanted.secrets)
        for name in self._state.private.get(str(values.get("kind")), frozenset()) if kind.id == DESTINATIONS else ():
            if values.get(name):
                secrets[name] = Secret(str(values[name]), "the file itself")
                says = f"{wanted.place.table}.{name} is a secret, and is written in {wanted.place.file}"
                self.notes.append(f'{says}: better say where it is, as {{ env = "NAME" }}')
            values.pop(name, None)
        return wanted._replace(values=values, secrets=secrets)

    def _source_named(self, kind: Kind, wanted: DesiredRecord, name: str) -> str:
        if "://" not in name:
            return name
        if not self._by_url:
            self._by_url = {one.values["url"]: one.name for one in self._wish.wanted[SOURCES]}
        url = url_of(name)
        if url in self._by_url:
            return self._by_url[url]
        if (SOURCES, url) not in self.names:
            self._fault(kind, wanted.name, f"no source watches {name}: add it to these files, or take it out")
        return url

    def _refuse_twins(self, kind: Kind, wanted: Sequence[DesiredRecord]) -> None:
        seen = dict[object, str]()
        for record in wanted if kind.unique else ():
            key = kind.natural(record.name, record.values)
            if key in seen:
                self._fault(kind, record.name, kind.twins.format(seen[key]))
            seen[key] = record.name

    def _make(self, kind: Kind, wanted: DesiredRecord, old: ServiceRecord | None) -> None:
        for name, secret in wanted.secrets.items():
            if secret.value is None:
                self._fault(kind, wanted.name, f"{name}: {secret.says} is not set; a new {kind.noun} needs it")
        self.acts.append(Act("make", kind.id, wanted.name, wanted, replaces="" if old is None else old.known_as))

    def _found(self, kind: Kind, wanted: DesiredRecord, there: ServiceRecord) -> None:
        mark = there.mark
        changes = [*changes_of(kind, wanted, there, self.names), *self._secrets(kind, wanted, there)]
        if wanted.values.get("enabled") and "enabled" not in there.values:  # the service holds it back
            if any(change.secret for change in changes):
                changes.append(FieldChange("enabled", False, True))
            else:
                says = "nothing is sent to it yet: it needs a secret, or the recipient has not agreed"
                self.notes.append(f"{kind.id}.{wanted.name}: {says}")
        if mark is None:
            if not self._options.adopt:
                what = kind.natural("", there.values) if kind.unique else f"one that is like it ({there.record.id})"
                self._fault(kind, wanted.name, f"{what} exists already, and no files manage it: --adopt takes it over")
            self.acts.append(Act("take over", kind.id, wanted.name, wanted, there, changes))
        elif mark.workspace != self._wish.workspace:
            says = f"exists already, and the files of {mark.workspace} manage it as {mark.name}"
            self._fault(kind, wanted.name, says)
        elif changes or mark.name != wanted.name:
            was = mark.name if mark.name != wanted.name else ""
            self.acts.append(Act("change", kind.id, wanted.name, wanted, there, changes, was))

    def _secrets(self, kind: Kind, wanted: DesiredRecord, there: ServiceRecord) -> Iterator[FieldChange]:
        """Yield the secrets to change, never their values."""
        for name, secret in wanted.secrets.items():
            if secret.value is None and (name in there.sealed or name in there.values or name == "secret"):
                self.notes.append(f"{kind.id}.{wanted.name}: {name} is not compared: {secret.says} is not set")
            elif secret.value is None:
                self._fault(kind, wanted.name, f"{name}: {secret.says} is not set, and the service has none either")
            elif self._is_other(kind, wanted, there, name, secret.value):
                yield FieldChange(name, None, None, secret=True)
        for name in sorted(there.sealed - wanted.secrets.keys() - {"url"}):
            yield FieldChange(name, "a secret", None, secret=True)

    def _is_other(self, kind: Kind, wanted: DesiredRecord, there: ServiceRecord, name: str, value: str) -> bool:
        """Return whether a secret differs from the service's; only the service can compare sealed ones."""
        if name in there.values and name not in self._state.private.get(str(wanted.values.get("kind")), ()):
            return bool(kind.spelt({**wanted.values, name: value}).get(name) != there.values[name])
        if name not in there.sealed and name != "secret":
            return True
        doubt = Doubt(kind.id, there.record.id, name, value)
        self.doubts.append(doubt)
        return doubt in self._other

    def _fault(self, kind: Kind, name: str, says: str) -> None:
        self.faults.append(f"{kind.id}.{name}: {says}")


SIGNS: Final[Mapping[Verb, str]] = {"make": "+", "change": "~", "take over": "=", "delete": "-", "keep": " "}
_COLOURS: Final[Mapping[Verb, str]] = {"make": "32", "change": "33", "take over": "36", "delete": "31", "keep": "2"}
_SUMS: Final[Sequence[tuple[Verb, str]]] = (
    ("make", "to make"),
    ("change", "to change"),
    ("take over", "to take over"),
    ("delete", "to delete"),
    ("keep", "kept, although no file has it"),
)
LONGEST: Final = 160  # maximum characters of a value
UNTOLD: Final = "(a secret)"
NOTHING: Final = "Nothing to do: the service matches the files."


def lines_of(plan: Plan, *, colour: bool = False) -> Iterator[str]:
    for act in plan.acts:
        sign, code = SIGNS[act.verb], _COLOURS[act.verb]
        yield f"\x1b[{code}m{sign}\x1b[0m {_head(act)}" if colour else f"{sign} {_head(act)}"
        yield from _fields(act)
    for group in plan.attach:
        sign = f"\x1b[{_COLOURS['change']}m~\x1b[0m" if colour else "~"
        yield f"{sign} templates.{plain(group.name)}: {_lacking(group)}"
    for step in plan.people:
        does = f"{step.before} -> {step.role}" if step.before else f"is invited as {step.role}"
        yield f"{SIGNS['change' if step.before else 'make']} people.{plain(step.email)}: {does}"
    for note in plan.notes:
        yield f"! {plain(note)}"
    if plan.acts or plan.notes or plan.attach or plan.people:
        yield ""
    yield NOTHING if plan.empty else f"{sums(plan)}."


def sums(plan: Plan) -> str:
    """Return the counts of acts.

    >>> from extras.apply.kinds.kind import Names
    >>> sums(Plan("shop", [Act("make", "alerts", "prices")], [], [], 0, Names()))
    '1 to make, 0 to change, 0 to delete'
    """
    counts = {verb: len(plan.of(verb)) for verb, _ in _SUMS}
    always = ("make", "change", "delete")
    said = [f"{counts[verb]:,} {words}" for verb, words in _SUMS if counts[verb] or verb in always]
    rest = ((plan.attach, "to attach"), (plan.people, "of people"))
    return ", ".join([*said, *(f"{len(some):,} {words}" for some, words in rest if some)])


def _lacking(group: Attachment) -> str:
    some = "1 source gets" if group.lacking == 1 else f"{group.lacking:,} sources get"
    return f"{some} the tag template:{group.template}"


def _head(act: Act) -> str:
    what = f"{act.kind}.{plain(act.name)}"
    if act.verb == "delete" and act.replaces:
        kind = KINDS[act.kind]
        fixed = f"{' or '.join(kind.fixed)} of a {kind.noun}"
        return f"{what}: deleted once its successor exists: {fixed} can't change"
    if act.verb == "make" and act.replaces:
        return f"{what}: made anew"
    if act.verb == "delete":
        return f"{what}: no file has it any more{_known(act)}"
    if act.verb == "keep":
        return f"{what}: no file has it any more; it stays (--no-delete)"
    if act.verb == "take over":
        return f"{what}: exists; these files manage it from now on{_known(act)}"
    return f"{what}: was {plain(act.was)}" if act.was else what


def _known(act: Act) -> str:
    """Return a familiar value of an existing record, such as its URL."""
    values = {} if act.there is None else act.there.values
    known = next((str(values[name]) for name in ("url", "query", "title") if values.get(name)), "")
    return f" ({shortened(known)})" if known else ""


def _fields(act: Act) -> Iterator[str]:
    rows: list[tuple[str, str]] = []
    if act.verb == "make" and act.wanted is not None:
        kind = KINDS[act.kind]
        given = {name: value for name, value in act.wanted.values.items() if value != kind.defaults.get(name)}
        if kind.itself:  # the table's name contains it
            del given[kind.named]
        rows = [(name, told(value)) for name, value in {**given, **act.wanted.new}.items()]
        rows += [(name, f"{UNTOLD} from {secret.says}") for name, secret in act.wanted.secrets.items()]
    rows += [(change.field, _change(act, change)) for change in act.changes]
    order = KINDS[act.kind].table.__struct_fields__
    rows.sort(key=lambda row: [*order, row[0]].index(row[0].partition(PART)[0] if PART in row[0] else row[0]))
    wide = max((len(name) for name, _ in rows), default=0)
    for name, words in rows:
        yield f"    {name:<{wide}}  {words}"


def _change(act: Act, change: FieldChange) -> str:
    if change.secret:
        return "a secret that is taken away" if change.before else "another secret than at the service"
    words = f"{told(change.before)} -> {told(change.after)}"
    if act.there is None or change.cause == "files":
        return words
    record = act.there.record
    who = plain(record.updated_by) or "the service itself"
    also = ", and in the files as well" if change.cause == "both" else ""
    return f"{words}   changed at the service by {who} at {record.updated_at}{also}"


def told(value: Any) -> str:
    """Return a value as text for people.

    >>> told(()), told(("a", "b")), told(None), told(True), told("x y")
    ('none', 'a, b', 'none', 'true', 'x y')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return shortened(", ".join(f"{name} {told(one)}" for name, one in value.items()))
    if isinstance(value, list | tuple):
        return shortened(", ".join(map(str, value))) or "none"
    return "none" if value in (None, "") else shortened(str(value))


def shortened(text: str) -> str:
    text = plain(" ".join(text.split()))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def as_json(plan: Plan) -> dict[str, Any]:
    acts = []
    for act in plan.acts:
        record = None if act.there is None else act.there.record
        acts.append(
            {
                "act": act.verb,
                "kind": act.kind,
                "name": act.name,
                "id": None if record is None else record.id,
                "was": act.was or None,
                "replaces": bool(act.replaces),
                "updated_at": None if record is None else record.updated_at,
                "updated_by": None if record is None else record.updated_by,
                "values": None if act.verb != "make" or act.wanted is None else act.wanted.values,
                "changes": [
                    {"field": change.field, "secret": True}
                    if change.secret
                    else {"field": change.field, "before": change.before, "after": change.after, "cause": change.cause}
                    for change in act.changes
                ],
            }
        )
    return {
        "workspace": plan.workspace,
        "acts": acts,
        "notes": plan.notes,
        "faults": plan.faults,
        "attach": [
            {"name": one.name, "template": one.template, "sources": [url for _, url in one.members]}
            for one in plan.attach
        ],
        "people": [
            {"email": person.email, "role": person.role, "before": person.before or None} for person in plan.people
        ],
        "sums": {verb: len(plan.of(verb)) for verb, _ in _SUMS}
        | {"attach": len(plan.attach), "people": len(plan.people)},
    }
