"""Parameters of a template as a caller gives them: checked, each value normalized. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import json

from actors.errors import DomainError, UrlRefused
from actors.templates.template import NoDomain, Parameter, Template, Values, read_domain, try_out

DIALECT = "https://json-schema.org/draft/2020-12/schema"
LONGEST = 200
LONGEST_OF = {"string": LONGEST, "domain": 260}
"""Characters of a string value."""
_SHOWN = 60


class Wrong(NamedTuple):
    """One error: the place (`params.domain[1]`), the reason, and the value."""

    place: str
    says: str
    value: object


class BadParameters(DomainError):
    """The parameters do not fit the template (400)."""

    def __init__(self, wrong: Sequence[Wrong]) -> None:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        super().__init__(f"{wrong[0].place}: {wrong[0].says}{more}")
        self.wrong = tuple(wrong)


def described(template: Template) -> str:
    """Return a template's parameters as JSON Schema (2020-12), as text.

    It covers names, counts and lengths; domains are checked by `read_parameters` only.
    """
    taken = {parameter.key: _described(parameter) for parameter in template.parameters}
    schema = {"$schema": DIALECT, "type": "object", "additionalProperties": False, "required": list(taken)}
    return json.encode(schema | {"properties": taken}).decode()


def _described(parameter: Parameter) -> dict[str, object]:
    return {
        "type": "array",
        "minItems": parameter.min,
        "maxItems": parameter.max,
        "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_OF[parameter.type]},
        "description": parameter.description,
        "examples": [[parameter.example]],
    }


def read_parameters(template: Template, given: Mapping[str, object]) -> Values:
    """Return the values of all parameters, each value once. Raises BadParameters with all errors."""
    names = [parameter.key for parameter in template.parameters]
    takes = f"it takes {', '.join(names)}" if names else f"{template.id} takes none"
    wrong = [
        Wrong(f"params.{key[:_SHOWN]}", f"there is no such parameter; {takes}", value)
        for key, value in given.items()
        if key not in names
    ]
    values = {
        parameter.key: _values(template, parameter, given.get(parameter.key), wrong)
        for parameter in template.parameters
    }
    if wrong:
        raise BadParameters(wrong)
    return values


def _values(template: Template, parameter: Parameter, given: object, wrong: list[Wrong]) -> tuple[str, ...]:
    place = f"params.{parameter.key}"
    wanted = f"{parameter.min} to {parameter.max} values"
    if given is None:
        wrong.append(Wrong(place, f"required, but missing: an array of {wanted}", None))
    elif not isinstance(given, list):
        wrong.append(Wrong(place, f"must be an array of {wanted}", given))
    elif not parameter.min <= len(given) <= parameter.max:
        wrong.append(Wrong(place, f"takes {wanted}, not {len(given)}", given))
    else:
        found: dict[str, None] = {}
        for index, value in enumerate(given):
            try:
                found[_value(template, parameter, value)] = None
            except ValueError as error:
                wrong.append(Wrong(f"{place}[{index}]", str(error), value))
        return tuple(found)
    return ()


def _value(template: Template, parameter: Parameter, given: object) -> str:
    """Return a normalized value. Raises ValueError."""
    if not isinstance(given, str):
        raise ValueError("must be a string")
    value = read_domain(given) if parameter.type == "domain" else _read_string(given)
    try:
        try_out(template, parameter.key, value)
    except UrlRefused as refusal:
        raise NoDomain(f"gives no URL that can be watched: {refusal.detail}") from None
    return value


def _read_string(text: str) -> str:
    value = unicodedata.normalize("NFC", text).strip()
    if not value:
        raise ValueError("is empty")
    if len(value) > LONGEST:
        raise ValueError(f"has {len(value)} characters; at most {LONGEST}")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value):
        raise ValueError("has a control character or a line break")
    return value
