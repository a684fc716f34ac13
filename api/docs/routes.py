"""The routes of the pages for people."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from actors.errors import NotFound
from api.docs.problem_page import problem_page
from api.docs.reference import reference
from api.etags import fitting
from api.openapi.routes import HOUR, MINUTES
from api.problems import KINDS
from api.route import PUBLIC, Answer, Call, Route

STYLE = "/docs/style.css"
HTML = "text/html; charset=utf-8"
POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_PAGE_HEADERS = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer"}


def routes(document: Callable[[], dict[str, Any]]) -> tuple[Route, ...]:
    """Return the routes of the reference, its stylesheet and the problem pages."""

    @cache
    def rendered() -> bytes:
        return reference(document(), STYLE)

    async def show(call: Call) -> Answer:
        found, headers = fitting(rendered(), call.headers)
        return Answer(found, media=HTML, headers=MINUTES | _PAGE_HEADERS | headers)

    return (
        _route("/problems/{slug}", _problem, "Read what a problem type means.", "text/html", refuses=("not-found",)),
        _route("/docs", show, "Read the reference.", "text/html"),
        _route(STYLE, _style, "Read the stylesheet.", "text/css"),
    )


async def _problem(call: Call) -> Answer:
    slug = call.path["slug"]
    if slug not in KINDS:
        raise NotFound(f"There is no such problem type; there are {', '.join(KINDS)}.")
    page = problem_page(slug, call.context.settings.public_url(), STYLE)
    return Answer(page, media=HTML, headers=HOUR | _PAGE_HEADERS)


async def _style(call: Call) -> Answer:
    found, headers = fitting(_stylesheet(), call.headers)
    return Answer(found, media="text/css; charset=utf-8", headers=HOUR | headers)


@cache
def _stylesheet() -> bytes:
    return files("api.docs").joinpath("style.css").read_bytes()


def _route(path: str, run: Any, says: str, media: str, **more: Any) -> Route:
    return Route(
        method="GET",
        path=path,
        scope=PUBLIC,
        run=run,
        says=says,
        answers={200: str},
        media=media,
        headers=("Cache-Control",),
        **more,
    )
