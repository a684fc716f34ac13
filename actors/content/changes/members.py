"""JSON members that change on every request: ids, clocks, durations, counters. Each value is masked by itself.

A value is identified by place and name. If it looks machine-made and changes on the check after its last change, it
waits for the next check. It is reported if it stays; if it changes again it is noise, and with every change it must
stay longer to end that. Values that change together with content are content. A word, a price and a version never wait.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from actors.content.changes.difference import StateDifference, StateSide
from actors.content.changes.memory import PageMemory, SettledState, Slot, states_in
from actors.content.values.reading import Writing, values_in
from actors.content.wording import json_text
from actors.content.wording.canonical import key
from actors.content.wording.words import digest16

_WRITING: Final = Writing(exact=True)
_MOST_SLOTS, _LONGEST_STAY = 500, 8
PROVEN: Final = 2  # changes in quick succession that make a value noise
_CONTENT: Final = frozenset({"money", "version", "availability", "percent"})
_MOMENT: Final = r'"?[12]\d{9}(?:\d{3}){0,3}(?:\.\d+)?"?|".*\d\d:\d\d:\d\d.*"'
_DRAWN: Final = r'"(?=\S*\d)[\w+/=.:-]{8,}"|"(?=\S*[a-z])(?=\S*[A-Z])[\w+/=-]{12,}"'
_LIKELY: Final = re.compile(f"{_MOMENT}|{_DRAWN}")  # a moment or a random value, in comparable form
_MADE: Final = re.compile(rf'{_MOMENT}|{_DRAWN}|\d\S*|"\S*\d\S*"|"[0-9a-f]{{4,}}"')
"""The same, or any figure, for example a counter; also a random value that happens to have none."""
_ITEM: Final = re.compile(r"\[[^\]]*\]")
_MASK: Final = "⟨made⟩"


class MaskedStates(NamedTuple):
    """Both states with keys that ignore masked values. waits: a masked value differs from the reported one. soon: it
    does so for the first time, and another check settles it.
    """

    before: SettledState
    now: SettledState
    slots: tuple[Slot, ...]
    waits: bool = False
    soon: bool = False


def masked(
    memory: PageMemory, before: SettledState, now: SettledState, apart: StateDifference, number: int
) -> MaskedStates:
    """Mask the values that change on each request, at the check with this number. before: the reported state, with
    places. apart: the difference of the two states.
    """
    old, new = _members(before, apart.went), _members(now, apart.came)
    differ = {path: (old[path], value) for path, value in new.items() if old.get(path, value) != value}
    content = any(value != "null" for path, value in (*old.items(), *new.items()) if (path in old) != (path in new))
    slots, seen = {slot.key: slot for slot in memory.slots}, dict[str, Slot]()
    masks, unproven = set[str](), dict[str, Slot]()
    for path, slot, limit, stay in _known(memory, slots, differ, number):
        if limit:
            seen[path] = slot
        if limit and slot.brief and stay < min(max(slot.brief + limit - 2, 1), _LONGEST_STAY):
            masks.add(path)
            if not stay and slot.brief <= PROVEN:
                unproven[path] = replace(slot, brief=slot.brief - 1)
        else:
            content = True
    if content:
        seen |= unproven
        masks -= unproven.keys()
    back = (replace(slot, since=number, value="") if slot.value else slot for slot in slots.values())
    return MaskedStates(
        _without(before, apart.went, masks),
        _without(now, apart.came, masks),
        (*back, *seen.values())[-_MOST_SLOTS:],
        bool(masks),
        not masks.isdisjoint(unproven),
    )


def _known(
    memory: PageMemory, slots: dict[str, Slot], differ: Mapping[str, tuple[str, str]], number: int
) -> Iterator[tuple[str, Slot, int, int]]:
    """Remove each differing value from `slots`; yield it as known after this check, its `_limit`, and the checks it
    stayed. A new list item inherits its siblings' noise. If nothing moved, as in a cached response, known noise counts
    as staying half as long; once it moves again, that time is not counted.
    """
    first = memory.told if len(states_in(memory.states)) == 1 else 0
    names = {path: digest16(f"member {path}") for path in differ}
    kin = {_ITEM.sub("[]", path): slots[name].brief for path, name in names.items() if name in slots}
    before = dict[str, Slot]()
    for path, name in names.items():
        brief = kin.get(_ITEM.sub("[]", path), 0)
        unknown = Slot(name, brief, number - 1 if brief else first)
        before[path] = slots.pop(name) if name in slots else unknown
    limits = {path: min(_limit(path.rpartition(".")[2], said) for said in both) for path, both in differ.items()}
    digests = {path: digest16(now) for path, (_, now) in differ.items()}
    moved = {path for path, slot in before.items() if digests[path] != slot.value}
    still = number - bool(moved) - max((slot.since for slot in before.values()), default=number)
    company = {path for path in moved if before[path].brief > PROVEN - limits[path]}
    for path, slot in before.items():
        limit = limits[path]
        since = slot.since + still if company - {path} else slot.since
        stay = number - since
        if limit and path in moved:
            brief = slot.brief + 1 if stay <= max(slot.brief + bool(slot.brief), limit) else 0
            yield path, Slot(slot.key, brief, number, digests[path]), limit, 0
        else:
            half = 0 if moved or slot.brief < PROVEN else (still + 1) // 2
            yield path, replace(slot, since=since), limit, stay - half


def as_reported(slots: tuple[Slot, ...]) -> tuple[Slot, ...]:
    return tuple(replace(slot, value="") for slot in slots)


def _members(state: SettledState, side: StateSide) -> dict[str, str]:
    """Return the values of these lines in comparable form; of places with equal names, the last."""
    found = dict[str, str]()
    for i in side.positions:
        name, value, path = _parsed(state, i)
        if value is json_text.NO_VALUE:
            found[f"{path}.{name}: {state.texts[i]}"] = ""
        else:
            found.update(_below(value, path))
    return found


def _parsed(state: SettledState, i: int) -> tuple[str | None, Any, str]:
    name, said = json_text.named(state.texts[i])
    place = state.places[i] if i < len(state.places) else None
    value, above = json_text.loaded(said), place.row if place else ""
    return name, value, above if name is None or isinstance(value, (dict, list)) else f"{above}.{name}"


def _below(value: Any, path: str) -> Iterator[tuple[str, str]]:
    for step, item in _items(value):
        yield from _below(item, path + step)
    if not isinstance(value, (dict, list)) or not value:
        yield path, json_text.form_of(value)


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from ((f".{name}", item) for name, item in value.items())
    elif isinstance(value, list):
        learned = json_text.key_of(value)
        yield from ((json_text.item_of(value, at, learned), item) for at, item in enumerate(value))


def _limit(name: str, said: str) -> int:
    """Return how many checks a brief stay of a value takes at most; 0 if it is always content."""
    bare = said.removeprefix("minus ")
    if not _MADE.fullmatch(bare):
        return 0
    if any(found.value.type in _CONTENT for found in values_in(f'"{name}": {said}', _WRITING)):
        return 0
    return 2 if _LIKELY.fullmatch(bare) else 1


def _without(state: SettledState, side: StateSide, masks: Collection[str]) -> SettledState:
    """Return the state with keys that ignore the masked values in these lines."""
    keys = list(state.keys)
    for i in side.positions:
        name, value, path = _parsed(state, i)
        if value is not json_text.NO_VALUE:
            left = json_text.form_of(_taken(value, path, masks))
            keys[i] = key(left if name is None else f"{name}: {left}", cell=True)
    return replace(state, keys=tuple(keys))


def _taken(value: Any, path: str, masks: Collection[str]) -> Any:
    if path in masks:
        return _MASK
    taken = [_taken(item, path + step, masks) for step, item in _items(value)]
    if isinstance(value, dict):
        return dict(zip(value, taken, strict=True))
    return taken if isinstance(value, list) else value
