"""A template's parameters as form fields, one value a line, with errors next to each. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Final, NamedTuple

from msgspec import Meta

from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say
from api.problems import Refusal
from api.schemas.templates import Instantiation, TemplateParameter

NAMES: Final = ("first", "second", "third", "fourth", "fifth")
"""A form's fields have fixed names; a template has at most five parameters."""
_PLACE = re.compile(r"body\.params\.(\w+)(?:\[(\d+)\])?")
_Values = Annotated[str, Meta(max_length=12_000)]


class Fill(Form, frozen=True):
    """The values, in the order of the parameters, and whether to create the suggested alerts."""

    first: _Values = ""
    second: _Values = ""
    third: _Values = ""
    fourth: _Values = ""
    fifth: _Values = ""
    alerts: bool = False


class Field(NamedTuple):
    """A parameter and its field's name. takes: a sentence on the number of values."""

    name: str
    parameter: TemplateParameter
    takes: str


def fields_of(parameters: Sequence[TemplateParameter]) -> list[Field]:
    return [Field(name, parameter, _takes(parameter)) for name, parameter in zip(NAMES, parameters, strict=False)]


def _takes(parameter: TemplateParameter) -> str:
    if parameter.max == 1:
        return say("One value.")
    return say("%(least)s to %(most)s values, one a line.", least=parameter.min, most=parameter.max)


def filled(form: Fill, parameters: Sequence[TemplateParameter]) -> Instantiation:
    """Return the API request. Empty parameters are left out."""
    params = {}
    for field in fields_of(parameters):
        values = [line.strip() for line in getattr(form, field.name).splitlines() if line.strip()]
        if values:
            params[field.parameter.key] = values
    return Instantiation(params, form.alerts)


def blamed(refusal: Refusal, parameters: Sequence[TemplateParameter]) -> Wrong:
    """Return the API's refusal as errors of the fields."""
    names = {field.parameter.key: field.name for field in fields_of(parameters)}
    errors: dict[str, str] = {}
    for error in refusal.errors:
        place = _PLACE.match(error.location)
        if place is None or place[1] not in names:
            return Wrong(translated(refusal.detail))
        says = f"{place[1]} {translated(error.message)}"
        if place[2] is not None:
            says = say("value %(number)s %(fault)s", number=int(place[2]) + 1, fault=translated(error.message))
        errors[names[place[1]]] = f"{errors[names[place[1]]]}; {says}" if names[place[1]] in errors else says
    return Wrong(**errors) if errors else Wrong(translated(refusal.detail))
