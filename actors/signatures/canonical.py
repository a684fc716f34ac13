"""The JSON Canonicalization Scheme (RFC 8785): one byte form for each JSON value.

Every event is signed, so signing takes a shortcut: an `Event` has ASCII keys, no floats and only integers within 2^53.
For such a value sorted compact JSON is already canonical (a property test compares it with an independent
implementation). A verifier cannot know who wrote the JSON, so `canonical_json` is the full scheme.
"""

from __future__ import annotations

import math
from typing import Any

import msgspec

from storage.records.event import Event

_SORTED = msgspec.json.Encoder(order="sorted")
_SAFE = 2**53 - 1


def canonical(event: Event) -> bytes:
    """Return the RFC 8785 form of an event without its `signature`. Raises UnicodeEncodeError on lone surrogates."""
    if event.signature is not msgspec.UNSET:
        event = msgspec.structs.replace(event, signature=msgspec.UNSET)
    return _SORTED.encode(event)


def canonical_json(value: Any) -> bytes:
    """Return the RFC 8785 form of a decoded JSON value.

    Raises ValueError for values outside I-JSON (RFC 7493): infinities, integers that readers would alter, lone
    surrogates, and non-JSON values.
    """
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts).encode()


def es_number(number: float) -> str:
    """Format a finite double as ECMAScript does (RFC 8785, 3.2.2.3).

    >>> es_number(1e21), es_number(4.5), es_number(-0.0), es_number(2e-7), es_number(100.0)
    ('1e+21', '4.5', '0', '2e-7', '100')
    """
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a JSON number")
    if number == 0:
        return "0"
    # Python's repr has the same shortest digits; only the point and the exponent are placed differently.
    mantissa, _, power = repr(abs(number)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(power or 0) - (len(whole + fraction) - len(digits))
    return ("-" if number < 0 else "") + _place(digits.rstrip("0"), point)


def _place(digits: str, point: int) -> str:
    """Format 0.`digits` times ten to the `point` as ECMAScript does (ECMA-262, Number::toString)."""
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{point - 1:+d}"


def _write(value: Any, out: list[str]) -> None:
    match value:
        case None | bool() | str():
            out.append(_SORTED.encode(value).decode())
        case int():
            out.append(str(value) if abs(value) <= _SAFE else _large(value))
        case float():
            out.append(es_number(value))
        case list() | tuple():
            _write_array(value, out)
        case dict():
            _write_object(value, out)
        case _:
            raise ValueError(f"{type(value).__name__} is not a JSON type")


def _large(value: int) -> str:
    """Format an integer beyond 2^53 if it is a double in ECMAScript's spelling; readers would alter any other."""
    text = str(value)
    if len(text) > 22 or es_number(float(value)) != text:
        raise ValueError("an integer beyond 2^53 that is not spelled as a double")
    return text


def _write_array(items: list[Any] | tuple[Any, ...], out: list[str]) -> None:
    out.append("[")
    for number, item in enumerate(items):
        if number:
            out.append(",")
        _write(item, out)
    out.append("]")


def _write_object(members: dict[str, Any], out: list[str]) -> None:
    out.append("{")
    # RFC 8785, 3.2.3: by UTF-16 code units; beyond the BMP this is not the order of code points.
    for number, key in enumerate(sorted(members, key=lambda name: name.encode("utf-16-be"))):
        if number:
            out.append(",")
        _write(key, out)
        out.append(":")
        _write(members[key], out)
    out.append("}")
