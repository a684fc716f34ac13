"""Wire shapes of templates."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from actors.templates.template import MOST_SOURCES
from storage.records.alert import Matching
from storage.records.tiers import SourceType

Params = Annotated[
    dict[str, Any],
    Meta(
        max_length=20,
        description="An array of strings for each parameter; omit it for a template without parameters",
        extra_json_schema={
            "additionalProperties": {"type": "array", "maxItems": 50, "items": {"type": "string", "maxLength": 260}}
        },
    ),
]


Only = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=2048)], ...],
    Meta(
        min_length=1,
        max_length=MOST_SOURCES,
        description="Only these of the resulting sources, by URL; all by default",
    ),
]


class Instantiation(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters, whether to create the suggested alerts, and the sources to add."""

    params: Params = {}
    alerts: bool = False
    only: Only | None = None


class TemplateParameter(Struct, frozen=True):
    """A parameter of a template: `min` to `max` values. A domain has no scheme and no path."""

    key: str
    type: Literal["domain", "string"]
    description: str
    example: str
    required: bool
    repeatable: bool
    min: int
    max: int


class TemplateSummary(Struct, frozen=True):
    """A template in the list. `source_count`: its URL patterns; each value of a parameter adds those that name it.

    `parameters`: only their names; the template has the details.
    """

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


class TemplateAlert(Struct, frozen=True):
    """A suggested alert."""

    key: str
    name: str
    filter_query: str
    language: str
    channel: str | None
    match: Matching


class TemplateRecord(Struct, frozen=True):
    """A whole template. `schema`: the JSON Schema (2020-12) of `params`, as JSON text."""

    slug: str
    name: str
    summary: str
    category: str
    version: int
    source_count: int
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


class PreviewedAlert(Struct, frozen=True):
    """An alert to create, or the existing one with its owner's changes."""

    name: str
    status: Literal["new", "existing"]
    alert_id: str | None
    filter_query: str
    language: str
    channel: str | None
    match: Matching


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


class ReportedAlert(Struct, frozen=True):
    """The result for a suggested alert. `source_count` 0: it covers all sources, or was not created."""

    name: str
    status: Literal["created", "exists", "failed"]
    alert_id: str | None
    source_count: int
    reason: str | None


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
