"""An event as lines for people: its difference with the changed words of a line (`ui.diff`), typed changes. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from actors.language.speaking import say
from actors.versions import DiffParagraph
from storage.records.event import ChangeKind, Delta, Diff, Event, Span, Spans, TypedChange, Value

MOST_WORDS: Final = 600
"""Words of both sides of a line; beyond this, mark the whole line. Comparing takes their product."""
LIKE: Final = 0.5
"""Lines with a smaller similarity are one removed and one added line, not one changed line."""
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


class LinePiece(NamedTuple):
    """A stretch of a line. marked: the other side differs here."""

    text: str
    marked: bool = False


class DifferenceLine(NamedTuple):
    """An added ("+"), removed ("-") or unchanged ("=") line, or a remark (" "). where: its place, "" if as above."""

    sign: Literal["+", "-", "=", " "]
    pieces: tuple[LinePiece, ...]
    where: str = ""


class EventChange(Struct, frozen=True):
    """The fields of an event that describe the change."""

    diff: Diff | None = None
    delta: Delta | None = None


def lines_of(changed: EventChange, most: int | None = None) -> list[DifferenceLine]:
    """Return the lines of a difference, `most` at most. The delta has every counter, and only gives the order."""
    lines = list(_each_place_once(_in_order(changed.diff or Diff((), (), ()), changed.delta)))
    shown = lines[:most]
    if len(shown) < len(lines):
        shown.append(_said(say("%(count)s more lines: the event has them all.", count=len(lines) - len(shown))))
    elif (changed.delta or changed.diff or Diff((), (), ())).truncated:
        shown.append(_said(say("The event stores only a part of the difference.")))
    return shown


def in_the_text(content: str, changed: EventChange) -> list[DifferenceLine]:
    """Return a text line by line, changes marked in place: a changed line below its old wording, removals last."""
    diff = changed.diff or Diff((), (), ())
    came = Counter(diff.added)
    altered_to = {pair.after: pair for pair in diff.changed}
    lines: list[DifferenceLine] = []
    for text in content.split("\n"):
        pair = altered_to.pop(text, None)
        if pair is not None:
            lines += _pair(pair.before, pair.after, pair.spans, "")
        elif came[text]:
            came[text] -= 1
            lines.append(_whole("+", text))
        elif text.strip():
            lines.append(DifferenceLine("=", (LinePiece(text),)))
    # Show changes too that are not on a line of their own in the text.
    for pair in altered_to.values():
        lines += _pair(pair.before, pair.after, pair.spans, str(pair.context or ""))
    lines += (_whole("+", text) for text in (+came).elements())
    lines += (_whole("-", text, str(at)) for came, text, at in diff.singles() if not came)
    return lines


def of_steps(steps: Sequence[DiffParagraph], most: int) -> list[DifferenceLine]:
    lines: list[DifferenceLine] = []
    for step in steps[:most]:
        where = str(step.context)
        if step.before is None or step.after is None:
            came = step.before is None
            lines.append(_whole("+" if came else "-", step.after if came else step.before, where))
        elif step.same:
            lines.append(DifferenceLine("=", (LinePiece(step.after),)))
        else:
            lines += _pair(step.before, step.after, step.spans or Spans((), ()), where)
    lines = list(_each_place_once(lines))
    if len(steps) > most:
        lines.append(_said(say("%(count)s more texts are not shown.", count=len(steps) - most)))
    return lines


def _each_place_once(lines: Iterable[DifferenceLine]) -> Iterator[DifferenceLine]:
    last = ""
    for line in lines:
        yield line if line.where != last else line._replace(where="")
        last = line.where


def _in_order(diff: Diff, delta: Delta | None) -> Iterator[DifferenceLine]:
    ops = delta.ops if delta is not None else ()
    at = {text: n for n, op in enumerate(ops) for text in (op.before, op.text, op.after) if text}
    found = [
        (pair.after, [*_pair(pair.before, pair.after, pair.spans, str(pair.context or ""))]) for pair in diff.changed
    ]
    for came, text, place in diff.singles():
        found.append((text, [_whole("+", text, str(place)) if came else _whole("-", text, str(place))]))
    for _, lines in sorted(found, key=lambda one: at.get(one[0], len(at))):
        yield from lines


def _pair(before: str, after: str, spans: Spans | UnsetType, where: str) -> Iterator[DifferenceLine]:
    if spans is UNSET:
        gone, came = altered(before, after)
    else:
        gone = DifferenceLine("-", _marked(before, spans.before))
        came = DifferenceLine("+", _marked(after, spans.after))
    yield from (gone._replace(where=where), came._replace(where=where))


def _marked(text: str, spans: Sequence[Span]) -> tuple[LinePiece, ...]:
    pieces: list[LinePiece] = []
    done = 0
    for start, end in spans:
        if done <= start < end <= len(text):
            pieces += [LinePiece(text[done:start])] if start > done else []
            pieces.append(LinePiece(text[start:end], marked=True))
            done = end
    return (*pieces, LinePiece(text[done:])) if done < len(text) or not pieces else tuple(pieces)


def altered(before: str, after: str) -> tuple[DifferenceLine, DifferenceLine]:
    """Return the old and the new line, with the differing words marked.

    >>> [[piece.text for piece in line.pieces if piece.marked] for line in altered("costs 19 euros", "costs 29 euros")]
    [['19'], ['29']]
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    if len(old) + len(new) > MOST_WORDS:
        return _whole("-", before), _whole("+", after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < LIKE:
        return _whole("-", before), _whole("+", after)
    steps = matcher.get_opcodes()
    gone = _pieces(old, [(start, end, sort != "equal") for sort, start, end, _, _ in steps])
    came = _pieces(new, [(start, end, sort != "equal") for sort, _, _, start, end in steps])
    return DifferenceLine("-", gone), DifferenceLine("+", came)


def _pieces(words: Sequence[str], spans: Sequence[tuple[int, int, bool]]) -> tuple[LinePiece, ...]:
    return tuple(LinePiece("".join(words[start:end]), marked) for start, end, marked in spans if end > start)


def _whole(sign: Literal["+", "-"], text: object, where: str = "") -> DifferenceLine:
    return DifferenceLine(sign, (LinePiece(text if isinstance(text, str) else ""),), where)


def _said(text: str) -> DifferenceLine:
    return DifferenceLine(" ", (LinePiece(text),))


_SHOWN: frozenset[ChangeKind] = frozenset({"price", "availability", "date", "number", "version", "name", "negation"})
MOST_TYPED = 12


def typed_lines(event: Event) -> list[dict[str, Any]]:
    """Return an event's changes beyond added or removed text. record: of a price, highest or lowest, and since when."""
    found = []
    for one in event.changes if isinstance(event.changes, tuple) else ():
        value = one.before if not isinstance(one.after, Value) else one.after
        if one.kind in _SHOWN or (isinstance(value, Value) and isinstance(value.type, str)):
            before, after = (side.text if isinstance(side, Value) else "" for side in (one.before, one.after))
            line = {"kind": one.kind, "label": one.path or one.label, "before": before, "after": after}
            found.append(line | {"record": _record(one)})
    return found[:MOST_TYPED]


def _record(change: TypedChange) -> tuple[str, str] | None:
    if isinstance(change.lowest_since, str):
        return "lowest", change.lowest_since
    return ("highest", change.highest_since) if isinstance(change.highest_since, str) else None
