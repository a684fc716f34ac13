"""Examples of templates."""

from __future__ import annotations

from msgspec import Struct

from api.openapi.example_records import ALERT_ID, SOURCE_ID
from api.schemas import templates as wire

NAME = "gtm-competitor-watch"
_TAGS = ("page:pricing", "company:shore.example", f"template:{NAME}")
_PAGE, _BLOG = "https://shore.example/pricing", "https://shore.example/blog"
_TITLE, _QUERY = "Pricing and packaging changes", "pricing OR price OR plan OR tier OR enterprise"
_ABOUT = "Prices, jobs, leadership and blog of up to ten competitors, from the pages where they usually are."
_PARAMETER = wire.TemplateParameter(
    key="domain",
    type="domain",
    description="A competitor's bare domain, without scheme or path; each value adds four sources",
    example="example.com",
    required=True,
    repeatable=True,
    min=1,
    max=10,
)
_SCHEMA = (
    '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","additionalProperties":false,'
    '"required":["domain"],"properties":{"domain":{"type":"array","minItems":1,"maxItems":10,'
    '"items":{"type":"string","minLength":1,"maxLength":260},'
    '"description":"A competitor\'s bare domain, without scheme or path; each value adds four sources",'
    '"examples":[["example.com"]]}}}'
)
SUMMARY = wire.TemplateSummary(NAME, "Competitor watch", _ABOUT, "go-to-market", 1, 4, ("domain",))
RECORD = wire.TemplateRecord(
    slug=NAME,
    name="Competitor watch",
    summary=_ABOUT,
    category="go-to-market",
    version=1,
    source_count=4,
    parameters=(_PARAMETER,),
    sources=(wire.TemplateSource("https://{domain}/pricing", "html", ("page:pricing", "company:{domain}")),),
    alerts=(wire.TemplateAlert("pricing", _TITLE, _QUERY, "en", None, "change"),),
    schema=_SCHEMA,
)
PREVIEW = wire.TemplatePreview(
    template=NAME,
    version=1,
    sources=(
        wire.PreviewedSource(_PAGE, "existing", SOURCE_ID, "html", _TAGS),
        wire.PreviewedSource(_BLOG, "new", None, "feed", ("page:blog", *_TAGS[1:])),
    ),
    alerts=(wire.PreviewedAlert(_TITLE, "new", None, _QUERY, "en", None, "change"),),
    summary=wire.PreviewSummary(new=1, existing=1, alerts_new=1, alerts_existing=0),
)
REPORT = wire.TemplateReport(
    template=NAME,
    version=1,
    status="partial",
    sources=(
        wire.ReportedSource(_PAGE, "attached_new", SOURCE_ID, "html", None),
        wire.ReportedSource(
            _BLOG, "failed", None, None, "it can't be watched now: HTTP 404; check the URL in a browser"
        ),
    ),
    alerts=(wire.ReportedAlert(_TITLE, "created", ALERT_ID, 1, None),),
    next_steps=wire.NextSteps(f"/alerts/{ALERT_ID}/destinations", f"/v1/stream?tag=template:{NAME}"),
    summary=wire.ReportSummary(attached=1, already=0, failed=1, alerts_created=1, skipped_cap=0),
)
ALL: tuple[Struct, ...] = (SUMMARY, RECORD, PREVIEW, REPORT)
