"""The page that a problem's `type` links to."""

from __future__ import annotations

import json

from msgspec import to_builtins

from api.docs.html import el, inline, page
from api.problems import KINDS, MEDIA, Refusal


def problem_page(slug: str, base_url: str, style: str) -> bytes:
    """Return the page of a problem type. Raises KeyError for an unknown one."""
    kind = KINDS[slug]
    example = to_builtins(Refusal(slug, kind.example or kind.says).document(base_url, "/v1/sources"))
    others = [
        el("li", el("a", other, href=f"/problems/{other}"), f": {KINDS[other].status}, {KINDS[other].title.lower()}")
        for other in KINDS
        if other != slug
    ]
    return page(
        kind.title,
        el("header", el("p", el("a", "Sanderling: the API", href="/docs"))),
        el(
            "main",
            el("h1", kind.title),
            el("p", "HTTP status ", el("code", str(kind.status)), ", problem ", el("code", slug), "."),
            el("p", *inline(kind.says)),
            el("h2", "What it looks like"),
            el("p", "As ", el("code", MEDIA), ":", class_="caption"),
            el("pre", el("code", json.dumps(example, indent=2)), tabindex="0"),
            id="content",
        ),
        el("nav", el("h2", "Other problems"), el("ul", *others), aria_label="Other problems"),
        style=style,
    )
