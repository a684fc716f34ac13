"""Templates: list, show, preview, instantiate."""

from __future__ import annotations

from collections import Counter
from typing import Any

from actors.templates.parameters import described
from actors.templates.report import AlertOutcome, Foreseen, Report, SourceOutcome
from actors.templates.template import Template
from api.operations import templates as operations
from api.route import LETS_OUT, Answer, Call, Route
from api.schemas import templates as wire

# --- records to answers ----------------------------------------------------------------------------------------------


def _parameters(template: Template) -> tuple[wire.TemplateParameter, ...]:
    return tuple(
        wire.TemplateParameter(
            key=parameter.key,
            type=parameter.type,
            description=parameter.description,
            example=parameter.example,
            required=True,
            repeatable=parameter.max > 1,
            min=parameter.min,
            max=parameter.max,
        )
        for parameter in template.parameters
    )


def _about(template: Template) -> dict[str, Any]:
    return {
        "slug": template.id,
        "name": template.name,
        "summary": template.summary,
        "category": template.category,
        "version": template.version,
        "source_count": len(template.sources),
    }


def summary_of(template: Template) -> wire.TemplateSummary:
    return wire.TemplateSummary(**_about(template), parameters=tuple(each.key for each in template.parameters))


def record_of(template: Template) -> wire.TemplateRecord:
    """Return all parameters of a template, and everything it attaches."""
    return wire.TemplateRecord(
        **_about(template),
        parameters=_parameters(template),
        schema=described(template),
        sources=tuple(wire.TemplateSource(pattern.url, pattern.type, pattern.tags) for pattern in template.sources),
        alerts=tuple(
            wire.TemplateAlert(each.key, each.name, each.query, each.language, each.channel, each.match)
            for each in template.alerts
        ),
    )


def preview_of(template: Template, found: Foreseen, *, alerts: bool) -> wire.TemplatePreview:
    """Return the preview of an instantiation, in the wire format."""
    sources = tuple(
        wire.PreviewedSource(wanted.url, "new" if known is None else "existing", known, wanted.type, wanted.tags)
        for wanted, known in found.sources
    )
    suggested = tuple(_previewed_alert(template, found, key.key) for key in template.alerts) if alerts else ()
    count = Counter(source.status for source in sources)
    alert_count = Counter(alert.status for alert in suggested)
    summary = wire.PreviewSummary(count["new"], count["existing"], alert_count["new"], alert_count["existing"])
    return wire.TemplatePreview(template.id, template.version, sources, suggested, summary)


def _previewed_alert(template: Template, found: Foreseen, key: str) -> wire.PreviewedAlert:
    known = found.alerts.get(key)
    if known is not None:
        there = (known.filter_query, known.language, known.channel, known.match)
        return wire.PreviewedAlert(known.name, "existing", known.id, *there)
    suggestion = next(each for each in template.alerts if each.key == key)
    words = (suggestion.query, suggestion.language, suggestion.channel, suggestion.match)
    return wire.PreviewedAlert(suggestion.name, "new", None, *words)


def _reported_source(outcome: SourceOutcome) -> wire.ReportedSource:
    return wire.ReportedSource(outcome.wanted.url, outcome.status, outcome.source, outcome.type, outcome.reason)


def _reported_alert(outcome: AlertOutcome) -> wire.ReportedAlert:
    return wire.ReportedAlert(outcome.name, outcome.status, outcome.alert, outcome.count, outcome.reason)


def report_of(template: Template, report: Report) -> wire.TemplateReport:
    """Return an instantiation's report in the wire format."""
    count = Counter(outcome.status for outcome in report.sources)
    first = next((outcome.alert for outcome in report.alerts if outcome.alert is not None), None)
    return wire.TemplateReport(
        template=template.id,
        version=template.version,
        status="complete" if report.complete else "partial",
        sources=tuple(map(_reported_source, report.sources)),
        alerts=tuple(map(_reported_alert, report.alerts)),
        next_steps=wire.NextSteps(
            add_destination=None if first is None else f"/alerts/{first}/destinations",
            stream=f"/v1/stream?tag={template.tag}",
        ),
        summary=wire.ReportSummary(
            attached=count["attached_new"],
            already=count["attached_existing"],
            failed=count["failed"],
            alerts_created=sum(outcome.status == "created" for outcome in report.alerts),
            skipped_cap=sum(outcome.full for outcome in report.sources),
        ),
    )


# --- handlers --------------------------------------------------------------------------------------------------------


def _template(call: Call) -> Template:
    return operations.named(call, call.path["template_id"])


async def list_templates(call: Call) -> Answer:
    return Answer([summary_of(template) for template in call.context.templates.catalogue])


async def describe(call: Call) -> Answer:
    return Answer(record_of(_template(call)))


async def preview(call: Call) -> Answer:
    template = _template(call)
    found = await operations.preview(call, template, call.body)
    return Answer(preview_of(template, found, alerts=call.body.alerts))


async def instantiate(call: Call) -> Answer:
    template = _template(call)
    report = await operations.instantiate(call, template, call.body)
    return Answer(report_of(template, report), settled=not report.late)


_ONE = "/v1/templates/{template_id}"
ROUTES = (
    Route(
        method="GET",
        path="/v1/templates",
        scope="alerts:read",
        run=list_templates,
        says="List the templates.",
        answers={200: list[wire.TemplateSummary]},
    ),
    Route(
        method="GET",
        path=_ONE,
        scope="alerts:read",
        run=describe,
        says="Read one template: its parameters, sources and suggested alerts.",
        answers={200: wire.TemplateRecord},
        refuses=("not-found",),
    ),
    Route(
        method="POST",
        path=f"{_ONE}/preview",
        scope="alerts:read",
        beside=("sources:read",),
        run=preview,
        says="Preview an instantiation without doing it.",
        answers={200: wire.TemplatePreview},
        refuses=("not-found", "url-refused"),
        body=(wire.Instantiation,),
    ),
    Route(
        method="POST",
        path=f"{_ONE}/instantiate",
        scope="alerts:write",
        beside=("sources:write", *LETS_OUT),
        run=instantiate,
        says="Add a template's sources, and optionally its alerts. A repetition does the rest.",
        answers={200: wire.TemplateReport},
        refuses=("not-found", "url-refused"),
        body=(wire.Instantiation,),
        repeatable=True,
    ),
)
