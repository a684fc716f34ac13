"""Templates: find, preview, instantiate; their routes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from actors.messages.declaring import Declared, made_of, part_of
from actors.messages.declaring import record_of as shown_of
from actors.templates.instantiation import AlertOutcome, InstantiationPreview, Report
from actors.templates.template import MOST_SOURCES, BadParameters, ParameterType, Template, json_schema, read_parameters
from api.fields import WORDS
from api.nouns.context import OperationContext, existing, put_in_force
from api.problems import FieldError, Refusal, shown
from api.route import LETS_OUT, Answer, Call, Routes
from storage.records.alert import Alert
from storage.records.tiers import SourceType

_VALUES = {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 260}}
_PARAMS = Meta(max_length=20, description=WORDS["params"], extra_json_schema={"additionalProperties": _VALUES})
Params = Annotated[dict[str, Any], _PARAMS]
Url = Annotated[str, Meta(min_length=1, max_length=2048)]
Only = Annotated[tuple[Url, ...], Meta(min_length=1, max_length=MOST_SOURCES, description=WORDS["only"])]


class Instantiation(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters, whether to create the suggested alerts, and the sources to add."""

    params: Params = {}
    alerts: bool = False
    only: Only | None = None


class TemplateParameter(Struct, frozen=True):
    """A parameter of a template: `min` to `max` values. A domain has no scheme and no path."""

    key: str
    type: ParameterType
    description: str
    example: str
    required: bool
    repeatable: bool
    min: int
    max: int


class TemplateSummary(Struct, frozen=True):
    """A template in the list."""

    slug: str
    name: str
    summary: str
    category: str
    version: int
    source_count: int
    parameters: tuple[str, ...]


class TemplateSource(Struct, frozen=True):
    """A source, with `{key}` as the place of a parameter's value."""

    url: str
    type: SourceType
    tags: tuple[str, ...]


@shown_of(Alert, "key name filter_query language channel match")
class TemplateAlert(Declared, frozen=True):
    """A suggested alert."""

    key: str


@part_of(TemplateSummary, ("slug", "name", "summary", "category", "version", "source_count"))
class TemplateRecord(Declared, frozen=True):
    """A whole template. `schema`: the JSON Schema (2020-12) of `params`, as JSON text."""

    parameters: tuple[TemplateParameter, ...]
    sources: tuple[TemplateSource, ...]
    alerts: tuple[TemplateAlert, ...]
    schema: str


class PreviewedSource(Struct, frozen=True):
    """A source to add; `existing` ones are already watched."""

    url: str
    status: Literal["new", "existing"]
    source_id: str | None
    type: SourceType
    tags: tuple[str, ...]


@shown_of(Alert, "name status alert_id filter_query language channel match")
class PreviewedAlert(Declared, frozen=True):
    """An alert to create, or the existing one with its owner's changes."""

    status: Literal["new", "existing"]
    alert_id: str | None


class PreviewSummary(Struct, frozen=True):
    """The number of each."""

    new: int
    existing: int
    alerts_new: int
    alerts_existing: int


class TemplatePreview(Struct, frozen=True):
    """The sources and alerts that an instantiation would add. Nothing was fetched, so a page may not exist."""

    template: str
    version: int
    sources: tuple[PreviewedSource, ...]
    alerts: tuple[PreviewedAlert, ...]
    summary: PreviewSummary


class ReportedSource(Struct, frozen=True):
    """The result for a source. `reason`: the failure, or a remark."""

    url: str
    status: Literal["attached_new", "attached_existing", "failed"]
    source_id: str | None
    detected_type: SourceType | None
    reason: str | None


@shown_of(AlertOutcome, "name status alert_id source_count reason")
class ReportedAlert(Declared, frozen=True):
    """The result for a suggested alert. `source_count` 0: it covers all sources, or was not created."""

    alert_id: str | None
    source_count: int


class NextSteps(Struct, frozen=True):
    """`add_destination`: a path below /v1 for the first alert; null without one. `stream`: the path of the events."""

    add_destination: str | None
    stream: str


class ReportSummary(Struct, frozen=True):
    """Counts: sources added, already watched, failed, and failed because `max_sources` is reached (`skipped_cap`)."""

    attached: int
    already: int
    failed: int
    alerts_created: int
    skipped_cap: int


class TemplateReport(Struct, frozen=True):
    """The result of an instantiation; partial if something failed. The same call again does the rest."""

    template: str
    version: int
    status: Literal["complete", "partial"]
    sources: tuple[ReportedSource, ...]
    alerts: tuple[ReportedAlert, ...]
    next_steps: NextSteps
    summary: ReportSummary


def named(call: OperationContext, id: str) -> Template:
    """Return a template. Raises NotFound."""
    found = call.context.templates.catalogue.get(id)
    return existing(found, "There is no such template; GET /v1/templates lists them.")


async def preview(call: OperationContext, template: Template, request: Instantiation) -> InstantiationPreview:
    """Return the attachments of an instantiation. Raises Refusal (400)."""
    with _refusing():
        values = read_parameters(template, request.params)
        return await call.context.templates.preview(template, values, only=request.only)


async def instantiate(call: OperationContext, template: Template, request: Instantiation) -> Report:
    """Attach the missing parts. Raises Refusal (400); TooSlowError if alerts cannot be put in force now."""
    with _refusing():
        values = read_parameters(template, request.params)
        report = await call.context.templates.instantiate(template, values, alerts=request.alerts, only=request.only)
    if report.alerts:  # even if all existed: an interrupted call may not have reached this
        await put_in_force(call)
    return report


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except BadParameters as error:
        wrong = [FieldError(f"body.{place}", says, shown(value)) for place, says, value in error.wrong]
        raise Refusal("invalid-request", f"body.{error.detail}", wrong) from None


# --- records to answers ----------------------------------------------------------------------------------------------


def summary_of(template: Template) -> TemplateSummary:
    keys = tuple(each.key for each in template.parameters)
    return made_of(TemplateSummary, template, slug=template.id, source_count=len(template.sources), parameters=keys)


def record_of(template: Template) -> TemplateRecord:
    taken = (made_of(TemplateParameter, key, required=True, repeatable=key.max > 1) for key in template.parameters)
    return made_of(
        TemplateRecord,
        template,
        slug=template.id,
        source_count=len(template.sources),
        parameters=tuple(taken),
        schema=json_schema(template),
        alerts=tuple(made_of(TemplateAlert, each, filter_query=each.query) for each in template.alerts),
    )


def preview_of(found: InstantiationPreview, *, alerts: bool) -> TemplatePreview:
    template = found.template
    sources = tuple(
        made_of(PreviewedSource, wanted, status="new" if known is None else "existing", source_id=known)
        for wanted, known in found.sources
    )
    suggested = []
    for alert in template.alerts if alerts else ():
        if (known := found.alerts.get(alert.key)) is not None:
            suggested.append(made_of(PreviewedAlert, known, status="existing", alert_id=known.id))
        else:
            suggested.append(made_of(PreviewedAlert, alert, status="new", alert_id=None, filter_query=alert.query))
    count = Counter(source.status for source in sources)
    alert_count = Counter(alert.status for alert in suggested)
    summary = PreviewSummary(count["new"], count["existing"], alert_count["new"], alert_count["existing"])
    return TemplatePreview(template.id, template.version, sources, tuple(suggested), summary)


def report_of(template: Template, report: Report) -> TemplateReport:
    count = Counter(outcome.status for outcome in report.sources)
    first = next((outcome.alert for outcome in report.alerts if outcome.alert is not None), None)
    given = ((row, {"source_id": row.source, "detected_type": row.type}) for row in report.sources)
    sources = (made_of(ReportedSource, row, row.wanted, **more) for row, more in given)
    return TemplateReport(
        template=template.id,
        version=template.version,
        status="complete" if report.complete else "partial",
        sources=tuple(sources),
        alerts=tuple(made_of(ReportedAlert, row, alert_id=row.alert, source_count=row.count) for row in report.alerts),
        next_steps=NextSteps(
            add_destination=None if first is None else f"/alerts/{first}/destinations",
            stream=f"/v1/stream?tag={template.tag}",
        ),
        summary=ReportSummary(
            attached=count["attached_new"],
            already=count["attached_existing"],
            failed=count["failed"],
            alerts_created=sum(outcome.status == "created" for outcome in report.alerts),
            skipped_cap=sum(outcome.full for outcome in report.sources),
        ),
    )


ROUTES = Routes("/v1/templates", "alerts")
_ONE, _MAKES = "/{template_id}", ("sources:write", *LETS_OUT)
_USES: dict[str, Any] = {"body": (Instantiation,), "refuses": ("url-refused",)}


@ROUTES("GET", "", {200: list[TemplateSummary]})
async def list_templates(call: Call) -> Answer:
    """List the templates."""
    return Answer([summary_of(template) for template in call.context.templates.catalogue])


@ROUTES("GET", _ONE, {200: TemplateRecord})
async def describe(call: Call) -> Answer:
    """Read one template: its parameters, sources and suggested alerts."""
    return Answer(record_of(named(call, call.path["template_id"])))


@ROUTES("POST", f"{_ONE}/preview", {200: TemplatePreview}, scope="alerts:read", beside=("sources:read",), **_USES)
async def _preview(call: Call) -> Answer:
    """Preview an instantiation without doing it."""
    template = named(call, call.path["template_id"])
    found = await preview(call, template, call.body)
    return Answer(preview_of(found, alerts=call.body.alerts))


@ROUTES("POST", f"{_ONE}/instantiate", {200: TemplateReport}, beside=_MAKES, **_USES, repeatable=True)
async def _instantiate(call: Call) -> Answer:
    """Add a template's sources, and optionally its alerts. A repetition does the rest."""
    template = named(call, call.path["template_id"])
    report = await instantiate(call, template, call.body)
    return Answer(report_of(template, report), settled=not report.timed_out)
