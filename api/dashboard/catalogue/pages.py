"""The template list; one template with its form; the preview of an instantiation; its report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from actors.query.languages import languages
from actors.templates.template import Template
from api.dashboard.alerts.form import ABOUT
from api.dashboard.catalogue.fields import Fill, blamed, fields_of, filled
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import say
from api.dashboard.screen import Page, Visit
from api.operations import templates
from api.problems import Refusal
from api.schemas.templates import TemplateRecord
from api.v1.templates import preview_of, record_of, report_of, summary_of


async def show_all(visit: Visit) -> Page:
    every = [summary_of(template) for template in visit.context.templates.catalogue]
    shows = {
        "every": every,
        "folder": visit.context.settings.templates,
        "command": visit.context.world.typed("templates"),
    }
    return Page("catalogue/list.html", say("Templates"), shows)


async def show_one(visit: Visit) -> Page:
    """Show a template: its parameters, sources and suggested alerts."""
    record = record_of(_template(visit))
    fields = fields_of(record.parameters)
    labels = {field.name: translated(field.parameter.key.capitalize()) for field in fields}
    shows = {"template": record, "fields": fields, "labels": labels, "tag": _tag(record)} | _words()
    return Page("catalogue/one.html", translated(record.name), shows)


async def preview(visit: Visit) -> Page:
    """Show the new and the existing parts of an instantiation, without network access."""
    record = record_of(_template(visit))
    form: Fill = visit.form
    with _beside_fields(record):
        foreseen = await templates.preview(visit, _template(visit), filled(form, record.parameters))
    found = preview_of(_template(visit), foreseen, alerts=form.alerts)
    given = [(field.name, getattr(form, field.name)) for field in fields_of(record.parameters)]
    return Page(
        "catalogue/preview.html",
        translated(record.name),
        {"template": record, "found": found, "given": given, "alerts": form.alerts} | _words(),
    )


async def attach(visit: Visit) -> Page:
    """Attach and report. No redirect: reloading the page attaches only the rest."""
    record = record_of(_template(visit))
    with _beside_fields(record):
        done = await templates.instantiate(visit, _template(visit), filled(visit.form, record.parameters))
    report = report_of(_template(visit), done)
    alert = next((each.alert_id for each in report.alerts if each.alert_id is not None), None)
    shows = {"template": record, "report": report, "tag": _tag(record), "alert": alert}
    return Page("catalogue/report.html", translated(record.name), shows)


def _template(visit: Visit) -> Template:
    return templates.named(visit, visit.path["template_id"])


@contextmanager
def _beside_fields(record: TemplateRecord) -> Iterator[None]:
    """Show a parameter's errors at its field. Raises Wrong."""
    try:
        yield
    except Refusal as refusal:
        raise blamed(refusal, record.parameters) from None


def _words() -> dict[str, Any]:
    """Return the labels for an alert's language and `match`."""
    return {"named": languages(), "about": dict(ABOUT)}


def _tag(record: TemplateRecord) -> str:
    return f"template:{record.slug}"
