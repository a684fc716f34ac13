"""The kinds of a change: values before and after, each with its label; JSON member by member; values on a page.

The values of a changed block are paired by order if the words around them are equal, else after removing those that
both sides have. Any other difference is a negation, a name or text.

JSON is compared member by member. So an object with reordered members, or a list with reordered named items, has not
changed. A list of plain values is one member, as its items cannot be distinguished.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from actors.content.values.reading import ValueSpan, Writing, has_prices, is_price, names_in, same_wording, values_in
from actors.content.wording import json_text
from actors.content.wording.canonical import spelled, stripped
from actors.content.wording.words import cut, line, surplus, word_lists
from storage.records.event import (
    MOST_CHANGES,
    MOST_STANDING,
    MOST_VALUE_TEXT,
    Change,
    ChangeKind,
    Context,
    Diff,
    StandingValue,
    TypedChange,
    Value,
    ValueType,
)


class MemberSide(NamedTuple):
    """A member on one side: its text, with its values. parts: for a list of plain values, the end and path of each."""

    noted: AnnotatedText
    path: str
    parts: tuple[tuple[int, str], ...] = ()

    def path_of(self, found: ValueSpan | None) -> str:
        return next((path for end, path in self.parts if found is not None and found.end <= end), self.path)


class MemberPair(NamedTuple):
    """A member before and after; None on the side that lacks it."""

    path: str
    before: MemberSide | None
    after: MemberSide | None


def paired(before: AnnotatedText, after: AnnotatedText, row: str) -> tuple[MemberPair, ...]:
    """Pair the members of a changed block; () if a side is not JSON. row: its place, "" for the top."""
    olds, news = (_sides(noted, members_of(noted.text, row)) for noted in (before, after))
    if not olds or not news:
        return ()
    return tuple(MemberPair(path, olds.get(path), news.get(path)) for path in dict.fromkeys((*news, *olds)))


def _sides(noted: AnnotatedText, members: Sequence[MemberSpan]) -> Mapping[str, MemberSide]:
    groups: dict[str, list[MemberSpan]] = {}
    for member in members:
        groups.setdefault(member.group, []).append(member)
    return {path: _side(noted, path, own) for path, own in groups.items()}


def _side(noted: AnnotatedText, path: str, members: Sequence[MemberSpan]) -> MemberSide:
    start, end = members[0].start, members[-1].end
    is_quoted = len(members) == 1 and noted.text[start] == '"'
    own = [span for span in noted.values if start < span.end <= end]
    start, end = start + is_quoted, end - is_quoted
    text = noted.text[start:end]
    values = tuple(span._replace(start=max(0, span.start - start), end=min(span.end, end) - start) for span in own)
    parts = tuple((span.end - start, span.path) for span in members) if members[0].path != path else ()
    return MemberSide(noted_with(text, values), path, parts)


_KINDS: dict[ValueType, ChangeKind] = {
    "money": "price",
    "number": "number",
    "percent": "number",
    "date": "date",
    "time": "date",
    "version": "version",
    "availability": "availability",
}
_NO_BY_LANGUAGE = word_lists("values")["negations"]
_NO_ANYWHERE = (
    r"\b(?:not|no|never|cannot|without|\w+n't|nicht|kein\w{0,2}|pas|jamais|não|niet|geen|inte|ikke|nie|не|нет)\b"
)
"""Negations to use if the language is unknown."""
_NO_SIGNS = "ない|ません|なし|不|没|沒|無|无|未|禁|않|없|ไม่"
_LETTERS = re.compile(r"[^\W\d_]{2}")
_FEW_WORDS = 8  # words that may differ if a change is about a negation
_CONTRACTED = re.compile(
    r"\bcannot\b|\b(?:ca|do|does|did|is|are|was|were|wo|would|should|could|have|has|had|must|need|might)n t\b"
)
"""In compared texts, which have no apostrophes."""
_READ_OF_ENTRY, _OF_ENTRY = 1_000, 6
"""Characters of an entry's text that are read, and the maximum number of values reported for it."""
_ANY = re.compile(r"\d")
_OF_ENTRIES = frozenset({"percent", "version"})  # values, other than prices, that are reported for an entry


def kinds_of(diff: Diff, writing: Writing) -> tuple[TypedChange, ...]:
    """Return the changed values of a page's difference, at most `MOST_CHANGES`, in the order of the diff."""
    found: list[TypedChange] = []
    for change in _all(diff, writing):
        if change not in found:
            found.append(change)
        if len(found) >= MOST_CHANGES:
            break
    return tuple(_with_states_paired(found))


def values_of_entry(title: str, content: str) -> tuple[TypedChange, ...]:
    """Return the values in a new feed entry or frame: of its title, else of its first lines."""
    for text in (title, content[:_READ_OF_ENTRY]):
        writing = Writing(exact=text.startswith(("{", "[")))
        if not _ANY.search(text) or not has_prices(text, writing):
            continue
        noted = AnnotatedText(text, tuple(values_in(text, writing)), "")
        told = [i for i, span in enumerate(noted.values) if is_price(span, text) or span.value.type in _OF_ENTRIES]
        if told:
            values = ((noted.values[i].value, around(noted, i)) for i in told[:_OF_ENTRY])
            return tuple(_sided("added", value, label, "", came=True) for value, label in values)
    return ()


def _with_states_paired(found: list[TypedChange]) -> list[TypedChange]:
    """Merge an added and a removed availability label into one change, if there is one of each."""
    states = [change for change in found if change.kind == "availability"]
    went = [change for change in states if change.after is UNSET]
    came = [change for change in states if change.before is UNSET]
    if len(went) != 1 or len(came) != 1:
        return found
    paired = replace(came[0], before=went[0].before)
    return [paired if change is came[0] else change for change in found if change is not went[0]]


def _all(diff: Diff, writing: Writing) -> Iterator[TypedChange]:
    for change in diff.changed:
        yield from _of_altered(change, writing)
    contexts = diff.context or None
    for i, text in enumerate(diff.added):
        yield from _of_single(text, contexts.added[i] if contexts else None, writing, came=True)
    for i, text in enumerate(diff.removed):
        yield from _of_single(text, contexts.removed[i] if contexts else None, writing, came=False)


def _of_single(text: str, context: Context | None, writing: Writing, *, came: bool) -> Iterator[TypedChange]:
    """Yield an added or removed block, once per price in it; a lone availability is a change of the state."""
    noted = as_noted(text, writing, context)
    label = label_of(context)
    if len(noted.values) == 1 and not _LETTERS.search(noted.around) and noted.values[0].value.type == "availability":
        path = path_of(text, context, noted.values[0], writing)
        yield _sided("availability", noted.values[0].value, label, path, came=came)
        return
    kind: ChangeKind = "added" if came else "removed"
    told = [i for i, span in enumerate(noted.values) if is_price(span, text) or span.value.type == "availability"]
    for i in told:
        own = labelled(context) or around(noted, i) or label_of(context)
        yield _sided(kind, noted.values[i].value, own, path_of(text, context, noted.values[i], writing), came=came)
    if not told:
        yield _sided(kind, Value(short(text)), label, path_of(text, context, None, writing), came=came)


def _sided(kind: ChangeKind, value: Value, label: str, path: str, *, came: bool) -> TypedChange:
    return TypedChange(kind, label, path, UNSET if came else value, value if came else UNSET)


def _of_altered(change: Change, writing: Writing) -> Iterator[TypedChange]:
    context = change.context or None
    before, after = (as_noted(text, writing, context) for text in (change.before, change.after))
    pairs = paired(before, after, context.row if context else "") if writing.exact else ()
    if found := [change for pair in pairs for change in _of_member(pair, writing)]:
        yield from found
        return
    path = path_of(change.after, context, None, writing)
    told = False
    for old, new, label in _pairs(before, after):
        own = fitting(path or labelled(context) or label) or label_of(context)
        yield _of_pair(old, new, (after if new else before).text, own, path)
        told = True
    if before.around == after.around and told:
        return
    if words := _words_kind(before, after, writing, told=told):
        kind, old_text, new_text = words
        yield TypedChange(kind, label_of(context), path, Value(short(old_text)), Value(short(new_text)))


def _of_pair(old: ValueSpan | None, new: ValueSpan | None, text: str, label: str, path: str) -> TypedChange:
    first = new or old
    assert first is not None
    kind = _KINDS[first.value.type]  # type: ignore[index]  # a value that was read has a type
    if kind == "price" and not is_price(first, text):
        kind = "number"
    return TypedChange(kind, label, path, old.value if old else UNSET, new.value if new else UNSET)


def _of_member(pair: MemberPair, writing: Writing) -> Iterator[TypedChange]:
    """Yield the changes of a JSON member, labelled by its path."""
    before, after = pair.before, pair.after
    olds, news = (side.noted if side else AnnotatedText("", (), "") for side in (before, after))
    told = False
    for old, new, _ in _pairs(olds, news):
        side = after if new else before
        assert side is not None, "a value stands on a side"
        path = side.path_of(new or old)
        yield _of_pair(old, new, side.noted.text, fitting(path), path)
        told = True
    if olds.around == news.around and (told or olds.text == news.text):
        return
    path = pair.path
    if before and after:
        if words := _words_kind(olds, news, writing, told=told):
            kind, old_text, new_text = words
            yield TypedChange(kind, fitting(path), path, Value(short(old_text)), Value(short(new_text)))
    elif not told:
        change_kind: ChangeKind = "added" if after else "removed"
        yield _sided(change_kind, Value(short(news.text or olds.text)), fitting(path), path, came=after is not None)


def _pairs(before: AnnotatedText, after: AnnotatedText) -> Iterator[tuple[ValueSpan | None, ValueSpan | None, str]]:
    """Yield the values that differ, each with its counterpart and the words around it."""
    types = [span.value.type for span in before.values], [span.value.type for span in after.values]
    if before.around == after.around and types[0] == types[1]:
        for i, pair in enumerate(zip(before.values, after.values, strict=True)):
            if not pair[0].value.same_as(pair[1].value):
                yield *pair, around(after, i)
        return
    for type in dict.fromkeys(types[0] + types[1]):
        olds = [(i, span) for i, span in enumerate(before.values) if span.value.type == type]
        news = [(i, span) for i, span in enumerate(after.values) if span.value.type == type]
        gone, come = (surplus(*sides, lambda span: span[1].value.meaning()) for sides in ((olds, news), (news, olds)))
        for n in range(max(len(gone), len(come))):
            old = gone[n][1] if n < len(gone) else None
            new = come[n][1] if n < len(come) else None
            label = around(after, come[n][0]) if n < len(come) else around(before, gone[n][0])
            yield old, new, label


def _words_kind(
    before: AnnotatedText, after: AnnotatedText, writing: Writing, *, told: bool
) -> tuple[ChangeKind, str, str] | None:
    """Return the kind of the non-value difference, with both sides' words; None if only punctuation differs."""
    old, new = before.around.replace(HOLE, " "), after.around.replace(HOLE, " ")
    if old.split() == new.split():
        return None if told else ("text", before.text, after.text)
    if told and not (_LETTERS.search(old) and _LETTERS.search(new)):
        return None  # a figure replaces a range
    if told and same_wording(before.text, after.text):
        return None
    no = _no(writing.spoken)
    lone = (Counter(old.split()) - Counter(new.split())).total() + (Counter(new.split()) - Counter(old.split())).total()
    if lone <= _FEW_WORDS and _negations(no, old) != _negations(no, new):
        return "negation", before.text, after.text
    if names := names_in(before.text, after.text, writing):
        return "name", *names
    return "text", before.text, after.text


def _negations(no: re.Pattern[str], text: str) -> int:
    return len(no.findall(_CONTRACTED.sub(" not", text)))


@cache
def _no(language: str) -> re.Pattern[str]:
    words = _NO_BY_LANGUAGE.get({"no": "nb", "nn": "nb"}.get(language, language))
    return re.compile(rf"\b(?:{words})\b|{_NO_SIGNS}" if words else f"{_NO_ANYWHERE}|{_NO_SIGNS}")


MOST_READ: Final = 20_000  # maximum number of values that are read and counted
_ORDER: Final[dict[ValueType, int]] = {
    "money": 0, "availability": 1, "percent": 2, "version": 3, "date": 4, "number": 5,
}  # fmt: skip
"""Priority of types if there are too many; a time of day is no value to follow."""


def standing_in(
    texts: Sequence[str], contexts: Sequence[Context], writing: Writing
) -> tuple[tuple[StandingValue, ...], int]:
    """Return the values of a page's texts in order, at most `MOST_STANDING`, and the number of the others."""
    found: list[StandingValue] = []
    for block, text in enumerate(texts):
        found += _of_text(text, block, contexts[block], writing)
        if len(found) >= MOST_READ:
            break
    kept = sorted(found, key=lambda item: _ORDER[item.value.type])[:MOST_STANDING]  # type: ignore[index]  # it has one
    return tuple(kept), len(found) - len(kept)


def _of_text(text: str, block: int, context: Context, writing: Writing) -> Iterator[StandingValue]:
    noted = as_noted(text, writing, context)
    for i, found in enumerate(noted.values):
        if found.value.type in _ORDER:
            path = path_of(text, context, found, writing)
            label = fitting(path or labelled(context) or around(noted, i)) or label_of(context)
            yield StandingValue(found.value, block, label, path)


ROOT: Final = "$"


class MemberSpan(NamedTuple):
    """A value without members, from `start` to `end`. group: the path of its list of plain values, else its own."""

    start: int
    end: int
    path: str
    group: str


class _OtherHand(Exception):
    """The text differs from our own JSON format."""


def root_of(row: str) -> str:
    """Return the path of a block's place.

    >>> root_of(""), root_of("plans[Team]"), root_of("[7]")
    ('$', '$.plans[Team]', '$[7]')
    """
    row = row.removeprefix("$").removeprefix(".")
    return f"${row}" if row.startswith("[") or not row else f"$.{row}"


def path_of_block(text: str, row: str) -> str:
    """Return the path of a whole block. row: its place; for a single value, that of its container."""
    name, rest = json_text.named(text)
    is_held = name is not None and rest and rest[0] not in "{["
    return json_text.member(root_of(row), name) if is_held and name is not None else root_of(row)


@lru_cache(maxsize=256)
def members_of(text: str, row: str) -> tuple[MemberSpan, ...]:
    """Return the values of a block in order; () if it is a part of one, or no JSON.

    >>> [(one.path, '{"a": 1, "b": [2, 3]}'[one.start : one.end]) for one in members_of('{"a": 1, "b": [2, 3]}', "x")]
    [('$.x.a', '1'), ('$.x.b[0]', '2'), ('$.x.b[1]', '3')]
    """
    _, rest = json_text.named(text)
    value = json_text.loaded(rest)
    if value is json_text.NO_VALUE:
        return ()
    try:
        return tuple(_walk(value, text, len(text) - len(rest), path_of_block(text, row)))
    except (_OtherHand, RecursionError):
        return ()


def _walk(value: Any, text: str, at: int, path: str, group: str = "") -> Iterator[MemberSpan]:
    if not isinstance(value, (dict, list)) or not value:
        end = at + len(json_text.on_one_line(value))
        if text[at:end] != json_text.on_one_line(value):
            raise _OtherHand
        yield MemberSpan(at, end, path, group or path)
        return
    at += 1
    is_plain = isinstance(value, list) and not any(isinstance(item, (dict, list)) for item in value)
    if isinstance(value, dict):
        steps = [(json_text.on_one_line(key), json_text.member(path, key), item) for key, item in value.items()]
    else:
        learned = json_text.key_of(value)
        named = (json_text.item_of(value, number, learned) for number in range(len(value)))
        steps = [("", json_text.below(path, step), item) for step, item in zip(named, value, strict=True)]
    for name, place, item in steps:
        start = at + len(name) + 2 if name else at
        yield from _walk(item, text, start, place, path if is_plain else "")
        at = start + len(json_text.on_one_line(item)) + 2


def path_at(text: str, row: str, end: int) -> str:
    """Return the path of the value that ends at this position, else that of the block."""
    found = (span.path for span in members_of(text, row) if span.start < end <= span.end)
    return next(found, path_of_block(text, row))


HOLE: Final = "\u2205"
_WORDS_OF_LABEL: Final = 48


class AnnotatedText(NamedTuple):
    """A text for comparison: its values, and its words with a hole for each value."""

    text: str
    values: tuple[ValueSpan, ...]
    around: str


def as_noted(text: str, writing: Writing, context: Context | None) -> AnnotatedText:
    cell = "" if context is None else f"{context.row} {context.column}".strip()
    return noted_with(text, tuple(values_in(text, writing, cell)))


def noted_with(text: str, values: tuple[ValueSpan, ...]) -> AnnotatedText:
    parts, at = [], 0
    for span in values:
        parts += [text[at : span.start], f" {HOLE} "]
        at = span.end
    return AnnotatedText(text, values, stripped(spelled("".join((*parts, text[at:])))))


def around(noted: AnnotatedText, i: int) -> str:
    """Return the words around a value, with dots in its place: "Team … per month"."""
    span = noted.values[i]
    start = noted.values[i - 1].end if i else 0
    end = noted.values[i + 1].start if i + 1 < len(noted.values) else len(noted.text)
    head, tail = line(noted.text[start : span.start]), line(noted.text[span.end : end])
    head, tail = head.strip(" ,;|(·–-").lstrip(". "), tail.strip(" .,;|)·–-")
    if len(head) > _WORDS_OF_LABEL:
        head = head[-_WORDS_OF_LABEL:].partition(" ")[2]
    return fitting(f"{head.rstrip(':')} … {cut(tail, 24)}" if head and tail else head.rstrip(": ") or cut(tail, 24))


def labelled(context: Context | None) -> str:
    """Return a block's row and column; nothing in a document with paths."""
    if context is None:
        return ""
    return fitting(" · ".join(filter(None, (line(context.row), line(context.column)))))


def label_of(context: Context | None) -> str:
    return labelled(context) or (fitting(line(context.heading)) if context and context.heading else "")


def path_of(text: str, context: Context | None, found: ValueSpan | None, writing: Writing) -> str:
    if not writing.exact:
        return ""
    row = context.row if context else ""
    path = path_of_block(text, row) if found is None else path_at(text, row, found.end)
    return "" if path == ROOT else path


def fitting(text: str) -> str:
    return cut(text, MOST_VALUE_TEXT)


def short(text: str) -> str:
    return cut(line(text), MOST_VALUE_TEXT)
