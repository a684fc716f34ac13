"""Strict validation between bytes and typed requests.

JSON as RFC 8259 and I-JSON (RFC 7493) define it: UTF-8, no duplicate names, no NaN, no lone surrogates, integers within
2^53. The body is parsed twice on purpose: the standard library's hooks see duplicate names, and msgspec checks the
type. Each refusal is a 400 with the location, rule and value.
"""

from __future__ import annotations

import json
import math
import re
from codecs import BOM_UTF8
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct, inspect
from werkzeug.datastructures import Headers
from werkzeug.http import parse_options_header

from actors.errors import Violation, violation_of
from actors.messages.requests import SECRETS
from api.problems import FieldError, Refusal, invalid

S = TypeVar("S", bound=Struct)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_FIELDS = {"unknown": "unknown field", "required": "required, but missing"}
_FIELDS_AT_MOST = 400
_UNSHOWN = frozenset(SECRETS)
"""Fields that may hold a secret. Refusals never show their values, because clients log refusals."""


class _Wrong(ValueError):
    """JSON that breaks a rule."""


def read_body(raw: bytes, content_type: str, kinds: tuple[type[Struct], ...]) -> Any:
    """Return the body as the one of `kinds` with the most matching fields. Raises Refusal (400, 415)."""
    _check_media(content_type)
    tree = _strict_json(raw)
    names = tree.keys() if isinstance(tree, dict) else ()
    kind = max(kinds, key=lambda kind: sum(name in kind.__struct_encode_fields__ for name in names))
    return _convert(tree, kind, "body", strict=True)


def check_form(headers: Headers) -> None:
    """Refuse a body by its headers, before reading it: not JSON, not UTF-8, or compressed. Raises Refusal."""
    types = headers.getlist("Content-Type")
    if len(types) > 1:
        raise invalid("header.Content-Type", "may be given once only", ", ".join(types))
    _check_media(types[0] if types else "")
    coding = ", ".join(headers.getlist("Content-Encoding")).strip().lower()
    if coding not in ("", "identity"):  # no decompression bombs
        raise _unsupported("header.Content-Encoding", f"The body must not be compressed, and this is {coding[:60]!r}.")


def _check_media(content_type: str) -> None:
    media, parameters = parse_options_header(content_type)
    media = media.lower()
    if media != "application/json" and not (media.startswith("application/") and media.endswith("+json")):
        raise _unsupported(
            "header.Content-Type", f"The body must be application/json, not {media[:60] or 'without a type'}."
        )
    if parameters.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise _unsupported("header.Content-Type", f"JSON is UTF-8, not {parameters['charset'][:60]!r}.")


def _unsupported(location: str, says: str) -> Refusal:
    return Refusal("unsupported-media-type", says, [FieldError(location, says)])


def read_query(raw: bytes, kind: type[S]) -> S:
    """Return the query's parameters. Raises Refusal (400) for repeated, undecodable or wrong ones, and for unknown ones
    if the type forbids them.
    """
    try:
        pairs = parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_FIELDS_AT_MOST)
    except ValueError:
        raise invalid("query", f"must be percent-encoded UTF-8 with at most {_FIELDS_AT_MOST} parameters") from None
    repeatable = _repeatable(kind)
    tree: dict[str, Any] = {}
    for name, value in pairs:
        if name not in repeatable:
            if not kind.__struct_config__.forbid_unknown_fields:
                continue
            raise invalid(f"query.{name[:60]}", "unknown parameter", value)
        if repeatable[name]:
            tree.setdefault(name, []).append(value)
        elif name in tree:
            raise invalid(f"query.{name}", "may be given once only", value)
        else:
            tree[name] = value
    query = _convert(tree, kind, "query", strict=False)
    for field, name in zip(kind.__struct_fields__, kind.__struct_encode_fields__, strict=True):
        if name in tree and getattr(query, field) is None:  # msgspec reads the word "null" as None for optional fields
            raise invalid(f"query.{name}", "null is no value of it", tree[name])
    return query


@cache
def _repeatable(kind: type[Struct]) -> dict[str, bool]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return {field.encode_name: isinstance(_members(field.type)[0], inspect.VarTupleType) for field in info.fields}


def _convert(tree: Any, kind: type[S], where: str, *, strict: bool) -> S:
    try:
        return msgspec.convert(tree, kind, strict=strict)
    except msgspec.ValidationError as error:
        found = violation_of(error)
        raise invalid(where + found.path, _explained(found, kind), _value_at(tree, found.path)) from None


def _explained(found: Violation, kind: type[Struct]) -> str:
    if found.rule in _FIELDS:
        return _FIELDS[found.rule]
    if found.rule == "choice" and (choices := _choices(kind, found.path)):
        return f"{found.says}: use one of {', '.join(choices)}"
    if found.rule == "pattern" and (form := next(filter(None, map(_form_of, _types_at(kind, found.path))), "")):
        return f"must be {form}"
    return found.says


def _choices(kind: type[Struct], path: str) -> list[str]:
    found = _types_at(kind, path)
    values = [value for kind in found if isinstance(kind, inspect.LiteralType) for value in kind.values]
    values += [item.value for kind in found if isinstance(kind, inspect.EnumType) for item in kind.cls]
    return sorted(map(str, values))


def _form_of(kind: inspect.Type) -> str:
    return str((kind.extra or {}).get("form", "")) if isinstance(kind, inspect.Metadata) else ""


def _types_at(kind: type[Struct], path: str) -> list[inspect.Type]:
    found: list[inspect.Type] = [inspect.type_info(kind)]
    for name, _index in _STEP.findall(path):
        found = [inner for outer in found for inner in _inside(outer, name)]
    return found


def _inside(outer: inspect.Type, name: str) -> list[inspect.Type]:
    match outer:
        case inspect.StructType(fields=fields) if name:
            return [inner for field in fields if field.encode_name == name for inner in _members(field.type)]
        case inspect.CollectionType(item_type=item) if not name:
            return _members(item)
        case _:
            return []


def _members(kind: inspect.Type) -> list[inspect.Type]:
    match kind:
        case inspect.UnionType(types=types):
            return [inner for part in types for inner in _members(part)]
        case inspect.Metadata(type=bare) if not _form_of(kind):
            return _members(bare)
        case _:
            return [kind]


def _value_at(tree: Any, path: str) -> Any:
    for name, index in _STEP.findall(path):
        if name in _UNSHOWN:
            return None
        try:
            tree = tree[name] if name else tree[int(index)]
        except (LookupError, TypeError):
            return None
    return tree


def _strict_json(raw: bytes) -> Any:
    if not raw.strip():
        raise invalid("body", "a JSON body is required")
    if raw.startswith(BOM_UTF8):
        raise invalid("body", "begins with a byte order mark (U+FEFF), which JSON forbids (RFC 8259, 8.1)")
    try:
        tree = json.loads(
            raw.decode(), object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_exact, parse_float=_finite
        )
        msgspec.json.encode(tree)  # refuses lone surrogates
    except UnicodeDecodeError:
        raise invalid("body", "not UTF-8") from None
    except UnicodeEncodeError:
        raise invalid("body", "a lone surrogate is no character") from None
    except RecursionError:
        raise invalid("body", "nested too deeply") from None
    except json.JSONDecodeError as error:
        raise invalid("body", f"not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except _Wrong as error:
        raise invalid("body", str(error)) from None
    return tree


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]  # set.add returns None on purpose
        raise _Wrong(f"the name {twice[:60]!r} is given twice")
    return tree


def _no_constant(word: str) -> Any:
    raise _Wrong(f"{word} is not JSON")


def _exact(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) >= 2**53:
        raise _Wrong(f"{digits[:30]} is beyond 2^53, where JSON numbers are no longer exact")
    return int(digits)


def _finite(digits: str) -> float | int:
    if not math.isfinite(value := float(digits)):
        raise _Wrong(f"{digits[:30]} is too large for a number")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value  # in JSON, 41.0 and 41 are one number
