"""All templates; one with its form; what it would attach, shown before anything is done; what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from actors.query.languages import languages
from api.dashboard.alerts.form import ABOUT
from api.dashboard.catalogue.fields import Fill, blamed, fields_of, filled
from api.dashboard.screen import Page, Visit
from api.problems import Refusal
from api.route import Answer, Call
from api.schemas.templates import TemplatePreview, TemplateRecord, TemplateReport, TemplateSummary
from api.v1 import templates


async def show_all(visit: Visit) -> Page:
    """List the templates."""
    every: list[TemplateSummary] = await visit.api(templates.list_templates)
    return Page("catalogue/list.html", "Templates", {"every": every, "folder": visit.context.settings.templates})


async def show_one(visit: Visit) -> Page:
    """Show a template: what it takes, what it attaches, what it suggests."""
    record = await _record(visit)
    fields = fields_of(record.parameters)
    labels = {field.name: field.parameter.key.capitalize() for field in fields}
    shows = {"template": record, "fields": fields, "labels": labels, "tag": _tag(record)} | _words()
    return Page("catalogue/one.html", record.name, shows)


async def preview(visit: Visit) -> Page:
    """Show what would be attached, and what is there already. Nothing is asked of the network."""
    record = await _record(visit)
    found: TemplatePreview = await _ask(visit, templates.preview, record)
    form: Fill = visit.form
    given = [(field.name, getattr(form, field.name)) for field in fields_of(record.parameters)]
    return Page(
        "catalogue/preview.html",
        record.name,
        {"template": record, "found": found, "given": given, "alerts": form.alerts} | _words(),
    )


async def attach(visit: Visit) -> Page:
    """Attach, and report. A page of its own without a redirect: to load it again does what is left, and no more."""
    record = await _record(visit)
    report: TemplateReport = await _ask(visit, templates.instantiate, record)
    alert = next((each.alert_id for each in report.alerts if each.alert_id is not None), None)
    shows = {"template": record, "report": report, "tag": _tag(record), "alert": alert}
    return Page("catalogue/report.html", record.name, shows)


async def _record(visit: Visit) -> TemplateRecord:
    record: TemplateRecord = await visit.api(templates.describe)
    return record


async def _ask(visit: Visit, run: Callable[[Call], Awaitable[Answer]], record: TemplateRecord) -> Any:
    """Return a handler's answer to what was filled in. Raises Wrong."""
    try:
        return await visit.api(run, body=filled(visit.form, record.parameters))
    except Refusal as refusal:
        raise blamed(refusal, record.parameters) from None


def _words() -> dict[str, Any]:
    """Return what an alert's language and `match` are called."""
    return {"named": languages(), "about": dict(ABOUT)}


def _tag(record: TemplateRecord) -> str:
    return f"template:{record.slug}"
