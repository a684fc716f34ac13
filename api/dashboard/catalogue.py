"""Templates: the list, one with its form, a preview, and the report of an instantiation.

Named after their content, because `templates/` holds the page templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from actors.language.sentences import translated
from actors.language.speaking import noted, say
from actors.query.words import languages
from actors.templates.template import Template
from api.dashboard.forms import Form, InvalidForm
from api.dashboard.notifying.alerts import ABOUT
from api.dashboard.screen import Page, Screen, Visit, post
from api.dashboard.sources.one import lines_in
from api.nouns import templates
from api.nouns.templates import Instantiation, TemplateParameter, TemplateRecord
from api.problems import Refusal

_PLACE = re.compile(r"body\.params\.(\w+)(?:\[(\d+)\])?")


class Fill(Form, frozen=True):
    """The values of each parameter, one a line, and whether to create the suggested alerts."""

    params: dict[str, str] = {}  # noqa: RUF012  a default of a struct, which copies it
    alerts: bool = False


class Field(NamedTuple):
    """A parameter and its field's name. takes: a sentence on the number of values."""

    name: str
    parameter: TemplateParameter
    takes: str


def fields_of(parameters: Sequence[TemplateParameter]) -> list[Field]:
    several = noted("%(least)s to %(most)s values, one a line.")
    takes = [say(several, least=key.min, most=key.max) if key.max > 1 else say("One value.") for key in parameters]
    return [Field(f"params.{field.key}", field, words) for field, words in zip(parameters, takes, strict=True)]


def filled(form: Fill) -> Instantiation:
    return Instantiation({key: list(lines_in(text)) for key, text in form.params.items()}, form.alerts)


def blamed(refusal: Refusal, parameters: Sequence[TemplateParameter]) -> InvalidForm:
    keys, errors = {parameter.key for parameter in parameters}, dict[str, str]()
    for error in refusal.errors:
        place = _PLACE.match(error.location)
        if place is None or place[1] not in keys:
            return InvalidForm(translated(refusal.detail))
        name = f"params.{place[1]}"
        says = f"{place[1]} {translated(error.message)}"
        if place[2] is not None:
            says = say("value %(number)s %(fault)s", number=int(place[2]) + 1, fault=translated(error.message))
        errors[name] = f"{errors[name]}; {says}" if name in errors else says
    return InvalidForm(**errors) if errors else InvalidForm(translated(refusal.detail))


async def show_all(visit: Visit) -> Page:
    every = [templates.summary_of(template) for template in visit.context.templates.catalogue]
    command = visit.context.world.typed("templates")
    shows = {"every": every, "folder": visit.context.settings.templates, "command": command}
    return Page("catalogue/list.html", say("Templates"), shows)


async def show_one(visit: Visit) -> Page:
    template = _template(visit)
    record = templates.record_of(template)
    fields = fields_of(record.parameters)
    labels = {field.name: translated(field.parameter.key.capitalize()) for field in fields}
    shows = {"template": record, "fields": fields, "labels": labels, "tag": template.tag} | _words()
    return Page("catalogue/one.html", translated(record.name), shows)


async def preview(visit: Visit) -> Page:
    template, form = _template(visit), visit.form
    record = templates.record_of(template)
    with _beside_fields(record):
        foreseen = await templates.preview(visit, template, filled(form))
    found = templates.preview_of(foreseen, alerts=form.alerts)
    given = [(f"params.{key}", text) for key, text in form.params.items()]
    shows = {"template": record, "found": found, "given": given, "alerts": form.alerts} | _words()
    return Page("catalogue/preview.html", translated(record.name), shows)


async def attach(visit: Visit) -> Page:
    """Attach and report. No redirect: reloading the page attaches only the rest."""
    template = _template(visit)
    record = templates.record_of(template)
    with _beside_fields(record):
        done = await templates.instantiate(visit, template, filled(visit.form))
    report = templates.report_of(template, done)
    alert = next((each.alert_id for each in report.alerts if each.alert_id is not None), None)
    shows = {"template": record, "report": report, "tag": template.tag, "alert": alert}
    return Page("catalogue/report.html", translated(record.name), shows)


def _template(visit: Visit) -> Template:
    return templates.named(visit, visit.path["template_id"])


@contextmanager
def _beside_fields(record: TemplateRecord) -> Iterator[None]:
    """Show a parameter's errors at its field. Raises InvalidForm."""
    try:
        yield
    except Refusal as refusal:
        raise blamed(refusal, record.parameters) from None


def _words() -> dict[str, Any]:
    return {"named": languages(), "about": dict(ABOUT)}


_ONE = "/templates/{template_id}"
SCREENS: tuple[Screen, ...] = (
    Screen(path="/templates", run=show_all),
    Screen(path=_ONE, run=show_one),
    post(f"{_ONE}/preview", preview, Fill, show_one),
    post(f"{_ONE}/attach", attach, Fill, show_one),
)
