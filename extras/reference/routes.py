"""The routes of the reference and of the problem pages."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from actors.errors import NotFound
from api.etags import HOUR, MINUTES, cached_document, describing
from api.problems import KINDS
from api.route import Answer, Call
from extras.reference.page import problem_page, reference

STYLE = "/docs/style.css"
HTML = "text/html; charset=utf-8"
POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_PAGE_HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}


async def _problem(call: Call) -> Answer:
    slug = call.path["slug"]
    if slug not in KINDS:
        raise NotFound(f"There is no such problem type; there are {', '.join(KINDS)}.")
    page = problem_page(slug, call.context.settings.public_url(), STYLE)
    return Answer(page, media=HTML, headers=HOUR | _PAGE_HEADERS)


def _reference(call: Call) -> bytes:
    return _rendered(call.context.settings.public_url(), metrics=not call.context.settings.metrics_bind)


@cache
def _rendered(base_url: str, *, metrics: bool) -> bytes:
    from api.openapi.document import document, of_service  # late: it needs these routes

    return reference(document(of_service(base_url, metrics=metrics), base_url), STYLE)


@cache
def _style() -> bytes:
    return files("extras.reference").joinpath("style.css").read_bytes()


ROUTES = (
    describing("/problems/{slug}", _problem, "Read what a problem type means.", "text/html"),
    cached_document("/docs", _reference, "Read the reference.", HTML, MINUTES | _PAGE_HEADERS),
    cached_document(STYLE, lambda call: _style(), "Read the stylesheet.", "text/css; charset=utf-8", HOUR),
)
