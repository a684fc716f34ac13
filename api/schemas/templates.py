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
        description="An array of strings for each parameter; left out for a template without parameters",
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
        description="Of the sources that come of the parameters only these, by URL; without it all of them",
    ),
]


class Instantiation(Struct, frozen=True, forbid_unknown_fields=True):
    """What to fill in, whether the suggested alerts are made too, and which of the sources are meant."""

    params: Params = {}
    alerts: bool = False
    only: Only | None = None


class TemplateParameter(Struct, frozen=True):
    """What a template wants: `min` to `max` values. A domain is bare, without scheme or path."""

    key: str
    type: Literal["domain", "string"]
    description: str
    example: str
    required: bool
    repeatable: bool
    min: int
    max: int


class TemplateSummary(Struct, frozen=True):
    """A template in the list. `source_count`: its patterns; with a parameter, each value adds those that name it.

    `parameters`: their names; the template itself says what each takes.
    """

    slug: str
    name: str
    summary: str
    category: str
    version: int
    source_count: int
    parameters: tuple[str, ...]


class TemplateSource(Struct, frozen=True):
    """A source, with `{key}` where a parameter's value goes."""

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
    """A template, whole. `schema`: what `params` takes as JSON Schema (2020-12), itself a text of JSON."""

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
    """A source that would be attached; `existing` ones are watched already."""

    url: str
    status: Literal["new", "existing"]
    source_id: str | None
    type: SourceType
    tags: tuple[str, ...]


class PreviewedAlert(Struct, frozen=True):
    """An alert that would be made, or the one that is there, as its owner may have changed it."""

    name: str
    status: Literal["new", "existing"]
    alert_id: str | None
    filter_query: str
    language: str
    channel: str | None
    match: Matching


class PreviewSummary(Struct, frozen=True):
    """How many there would be of each."""

    new: int
    existing: int
    alerts_new: int
    alerts_existing: int


class TemplatePreview(Struct, frozen=True):
    """What an instantiation would attach. Nothing was looked at on the network: a page may turn out not to exist."""

    template: str
    version: int
    sources: tuple[PreviewedSource, ...]
    alerts: tuple[PreviewedAlert, ...]
    summary: PreviewSummary


class ReportedSource(Struct, frozen=True):
    """What became of a source. `reason`: why it failed, or what else to know."""

    url: str
    status: Literal["attached_new", "attached_existing", "failed"]
    source_id: str | None
    detected_type: SourceType | None
    reason: str | None


class ReportedAlert(Struct, frozen=True):
    """What became of a suggested alert. `source_count` 0: it is over the whole library, or was not made."""

    name: str
    status: Literal["created", "exists", "failed"]
    alert_id: str | None
    source_count: int
    reason: str | None


class NextSteps(Struct, frozen=True):
    """`add_destination`: a path below /v1, of the first alert; null without one. `stream`: where the events are."""

    add_destination: str | None
    stream: str


class ReportSummary(Struct, frozen=True):
    """Sources: attached, already watched, failed; and how many of the failed because `max_sources` is reached."""

    attached: int
    already: int
    failed: int
    alerts_created: int
    skipped_cap: int


class TemplateReport(Struct, frozen=True):
    """What became of an instantiation; partial when something failed. The same call again does what is left."""

    template: str
    version: int
    status: Literal["complete", "partial"]
    sources: tuple[ReportedSource, ...]
    alerts: tuple[ReportedAlert, ...]
    next_steps: NextSteps
    summary: ReportSummary
