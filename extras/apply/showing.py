"""A plan as text: acts, with each field before and after. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from extras.apply.groups import Attachment
from extras.apply.kinds.kind import PART
from extras.apply.kinds.table import KINDS
from extras.apply.planning import Act, FieldChange, Plan, Verb
from storage.records.secrecy import plain

SIGNS: Final[Mapping[Verb, str]] = {"make": "+", "change": "~", "take over": "=", "delete": "-", "keep": " "}
_COLOURS: Final[Mapping[Verb, str]] = {"make": "32", "change": "33", "take over": "36", "delete": "31", "keep": "2"}
_SUMS: Final[Sequence[tuple[Verb, str]]] = (
    ("make", "to make"),
    ("change", "to change"),
    ("take over", "to take over"),
    ("delete", "to delete"),
    ("keep", "kept, though no file has it"),
)
LONGEST: Final = 160
"""Maximum characters of a value."""
UNTOLD: Final = "(a secret)"
NOTHING: Final = "Nothing is to be done: the service is as the files say."


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
        return f"{what}: deleted, once its successor is there: {fixed} is fixed"
    if act.verb == "make" and act.replaces:
        return f"{what}: made anew"
    if act.verb == "delete":
        return f"{what}: no file has it any more{_known(act)}"
    if act.verb == "keep":
        return f"{what}: no file has it any more, and it stays (--no-delete)"
    if act.verb == "take over":
        return f"{what}: is there, and is managed by these files from now on{_known(act)}"
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
                    {"field": one.field, "secret": True}
                    if one.secret
                    else {"field": one.field, "before": one.before, "after": one.after, "cause": one.cause}
                    for one in act.changes
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
        "people": [{"email": one.email, "role": one.role, "before": one.before or None} for one in plan.people],
        "sums": {verb: len(plan.of(verb)) for verb, _ in _SUMS}
        | {"attach": len(plan.attach), "people": len(plan.people)},
    }
