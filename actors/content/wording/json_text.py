"""JSON as lines, each one unit for a reader, with their places. Pure.

A list item is named by the member that distinguishes it: `plans[Team]`, not `plans[2]`. So a reordered list is the same
list, and a changed value belongs to its item wherever that moves. Such a list is never on one line, which keeps this
true for a small document too, except inside an item of another list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

Location = tuple[str | int, ...]  # the way to a value: names of members and indices of items
LONGEST: Final = 2_000  # maximum characters of a value that is not split further
NO_VALUE: Final = object()
_EXACT: Final = 4_000  # maximum digits of a number that becomes a Python int; longer ones are compared as decimals
_ON_ONE_LINE: Final = 160  # maximum characters of an object or list on one line
_BELOW: Final = "..*"
_LONGEST_PLACE: Final = 115  # with `$.` before it and `..*` after it, a place fits whole into the context of a change
_DEEPEST, _LONGEST_KEY = 100, 60
_NAMES: Final = ("name", "title", "label", "id", "key", "slug", "sku", "code", "uuid", "guid", "url", "href")
"""Members that distinguish items, in order of preference; after them, the first text that does."""
_NAMED: Final = re.compile(r"(\"(?:[^\"\\]|\\.)*\"): ")
_PLAIN_KEY: Final = re.compile(r"(?:[^\W\d]|[\x80-\ud7ff\ue000-\U0010ffff])(?:[\w-]|[\x80-\ud7ff\ue000-\U0010ffff])*")
LABEL: Final = r"(?=[^\[\]]*[^\W\d_])[^\x00-\x1f\[\]\"\\*?'][^\x00-\x1f\[\]\"\\]*"
"""A name of an item that needs no quotes in a path: no index, and nothing that a JSONPath has in brackets."""
_BARE, _BRACKETED = re.compile(rf"(?!\s){LABEL}"), re.compile(r"[\x00-\x1f\[\]\"\\]")


class Number(str):
    """A JSON number with its original spelling."""

    __slots__ = ()


class JsonUnit(NamedTuple):
    """One unit, with the place of its container ("" for the document). at: its own. is_text: a text without quotes."""

    text: str
    place: str = ""
    at: Location = ()
    is_text: bool = False


def read(text: str) -> Any:
    """Parse a JSON document that is an object or a list; NO_VALUE for any other text."""
    text = text.strip("\ufeff \t\r\n")
    if text[:1] not in ("{", "["):
        return NO_VALUE
    try:
        return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number)
    except (ValueError, RecursionError):
        return NO_VALUE


def figure(value: Any) -> Any:
    """Convert a JSON number for comparison: integers exactly, others as float."""
    if not isinstance(value, Number):
        return value
    with suppress(InvalidOperation):  # an exponent of many digits
        exact = Decimal(value)
        if not exact.is_finite():
            return str(value)
        if exact.adjusted() >= _EXACT:
            return exact
        if exact == exact.to_integral_value():
            return int(exact)
    return float(value)


def form(text: str) -> str:
    """Return a line in comparable form: members sorted, nulls omitted, numbers by value. A minus becomes a word,
    because comparison ignores punctuation.

    >>> form('{"b": 12.0, "a": -1e3, "c": null}'), form('"v": "1.10"')
    ('{"a": minus 1000, "b": 12}', '"v": "1.10"')
    """
    name, rest = named(text)
    if (value := loaded(rest)) is NO_VALUE:
        return text
    return f"{'' if name is None else _quoted(name) + ': '}{form_of(value)}"


def form_of(value: Any) -> str:
    """Return a value in comparable form. Lists of texts or groups are sorted; lists with numbers keep their order."""
    if isinstance(value, Number):
        found = str(value if isinstance(known := figure(value), Decimal) else known)
        return f"minus {found[1:]}" if found[0] == "-" else found
    if isinstance(value, dict):
        members = sorted((key, form_of(item)) for key, item in value.items() if item is not None)
        return f"{{{', '.join(f'{_quoted(key)}: {item}' for key, item in members)}}}"
    if isinstance(value, list):
        items = [form_of(item) for item in value]
        in_order = any(isinstance(item, Number) or not isinstance(item, (str, dict, list)) for item in value)
        return f"[{', '.join(items if in_order else sorted(items))}]"
    return json.dumps(value, ensure_ascii=False)


def lines(value: Any, place: str = "") -> Iterator[JsonUnit]:
    """Yield a value line by line: one line if it fits, else one for each member or item. place: of the value."""
    yield from _lines(value, "", place, place, ())


def written(value: Any, location: Location) -> str:
    place = ""
    for key in location:
        place = below(place, item_of(value, key, key_of(value))) if isinstance(key, int) else member(place, key)
        value = value[key]
    return place


def named(line: str) -> tuple[str | None, str]:
    """Split a line into its member's name (None for an item) and its value.

    >>> named('"price": 12'), named("12")
    (('price', '12'), (None, '12'))
    """
    if (found := _NAMED.match(line)) is not None:
        with suppress(ValueError):
            return json.loads(found[1]), line[found.end() :]
    return None, line


def loaded(text: str) -> Any:
    try:
        return json.loads(text, parse_int=Number, parse_float=Number)
    except (ValueError, RecursionError):
        return NO_VALUE


def on_one_line(value: Any) -> str:
    return _short(value, LONGEST) or ""


def _lines(  # noqa: PLR0917
    value: Any, name: str, place: str, above: str, at: Location, in_list: bool = False
) -> Iterator[JsonUnit]:
    """name: the start of the line. above: the container's place. at: the way to the value. in_list: in a list item."""
    short = _short(value, _ON_ONE_LINE if at else _ON_ONE_LINE // 4)
    is_group = isinstance(value, (dict, list))
    if not in_list and is_group and short is not None and _has_named_items(value):
        short = None
    if short is not None or not is_group or len(at) > _DEEPEST:
        whole = json.dumps(value, ensure_ascii=False)[: 2 * LONGEST] if short is None else short
        yield JsonUnit(f"{name}{whole}", place if is_group or not name else above, at)
        return
    if name:
        yield JsonUnit(name.rstrip(), above, at)
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _lines(item, f"{_quoted(key)}: ", member(place, key), place, (*at, key), in_list)
    else:
        learned = key_of(value)
        for number, item in enumerate(value):
            inner = below(place, item_of(value, number, learned))
            yield from _lines(item, "", inner, place, (*at, number), in_list=True)


def _has_named_items(value: Any) -> bool:
    """Whether a value is, or contains in its members, a list whose items have names."""
    if isinstance(value, dict):
        return any(map(_has_named_items, value.values()))
    return isinstance(value, list) and len(value) > 1 and key_of(value) is not None


def member(place: str, key: str) -> str:
    """Return the place of a member; a name with other characters is quoted, as in JSONPath.

    >>> member("plans[Team]", "max-seats"), member("", "per month"), member("a", "it's")
    ('plans[Team].max-seats', "['per month']", "a['it\\\\'s']")
    """
    step = f".{key}" if _PLAIN_KEY.fullmatch(key) and key.isprintable() else _step(key)
    return below(place, step).removeprefix("" if place else ".")


def below(place: str, step: str) -> str:
    """Return the place after a step; a long one ends in all that is below, so it stays a JSONPath to its value."""
    return place if place.endswith(_BELOW) else place + (step if len(place + step) <= _LONGEST_PLACE else _BELOW)


def item_of(items: Sequence[Any], at: int, key: str | None) -> str:
    """Return the step to an item of a list. key: from `key_of`."""
    if key is None:
        return f"[{at}]"
    name: str = items[at][key]
    return f"[{name}]" if _BARE.fullmatch(name) else _step(name)


def _step(name: str) -> str:
    """Return a name in single quotes, as in the normalized paths of RFC 9535 (2.7)."""
    inside = _quoted(name)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"['{inside}']"


def key_of(items: Any) -> str | None:
    """Return the member that distinguishes the items of a list; None if none does, or it is no list of objects."""
    if not isinstance(items, list) or not items or not all(isinstance(item, dict) and item for item in items):
        return None
    own = [key for key, value in items[0].items() if isinstance(value, str) and not isinstance(value, Number)]
    return next((key for key in dict.fromkeys((*_NAMES, *own)) if _distinguishes(items, key)), None)


def _distinguishes(items: Sequence[dict[str, Any]], key: str) -> bool:
    seen = set[str]()
    for item in items:
        value = item.get(key)
        if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_KEY or _BRACKETED.search(value):
            return False
        seen.add(value)
    return len(seen) == len(items)


def _short(value: Any, most: int, depth: int = 0) -> str | None:
    if isinstance(value, Number):
        found = str(value)
    elif isinstance(value, str):
        found = _quoted(value) if len(value) <= most or depth == 0 else " " * (most + 1)
    elif isinstance(value, (dict, list)):
        parts, left = list[str](), most - 2
        for item in value:
            key = f"{_quoted(item)}: " if isinstance(value, dict) else ""
            inner = value[item] if isinstance(value, dict) else item
            part = None if depth > _DEEPEST else _short(inner, left, depth + 1)
            left -= len(key) + len(part or "") + 2
            if part is None or left < 0:
                return None
            parts.append(key + part)
        inside = ", ".join(parts)
        return f"{{{inside}}}" if isinstance(value, dict) else f"[{inside}]"
    else:
        found = json.dumps(value)
    return found if len(found) <= most or depth == 0 else None


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def at(value: Any, place: Location) -> Any:
    for step in place:
        value = value[step]
    return value
