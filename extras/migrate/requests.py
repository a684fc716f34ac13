"""A foreign watch's request (headers, method, body) as the text for a source. Pure.

Values may be secret: notes name headers, never their values. The service seals the text on arrival.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from typing import Any, Final

from actors.egress.headers import LOOKS_OWN, MOST_HEADERS, POST, wrong_request
from extras.migrate.drafting import Drafting

_CONTENT_TYPE: Final = "content-type"
_MOST: Final = 32_768
UNSUPPORTED: Final = "checks fetch pages (GET) or post a body (POST)"  # the reason to skip a watch with another method


def request_of(
    drafting: Drafting, place: str, pairs: Iterable[tuple[str, str]], *, body: str | None = None
) -> str | None:
    """Return headers, plus a body to post; None if nothing remains. Notes everything left out."""
    kept: dict[str, str] = {}
    for name, value in pairs:
        line = f"{name.strip()}: {' '.join(value.split())}"
        posts_type = body is not None and name.strip().lower() == _CONTENT_TYPE
        if "{{" in value or "{%" in value:
            drafting.note(place, "headers", "impossible", f"{name[:40]}: a template makes it for each check")
        elif wrong := next(wrong_request(f"{POST}\n{line}" if posts_type else line, LOOKS_OWN, "the look"), ""):
            drafting.note(place, "headers", "impossible", f"{name[:40]}: {wrong}")
        elif len(kept) == MOST_HEADERS and name.lower() not in kept:
            drafting.note(place, "headers", "impossible", f"{name[:40]}: a source has at most {MOST_HEADERS}")
        else:
            kept[name.strip().lower()] = line
    if kept:
        drafting.note(place, "headers", "exact", "sealed when they arrive")
    head = "\n".join(kept.values())
    if body is None:
        return head or None
    text = f"{POST}\n{head}\n\n{body}" if head else f"{POST}\n\n{body}"
    if len(text) > _MOST or "{{" in body or "{%" in body:
        drafting.note(place, "body", "impossible", "it is too long, or a template makes it for each check")
        return None
    drafting.note(place, "body", "exact", "posted at each check; sealed when it arrives")
    return text


def pairs_of(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, Mapping):
        return [(str(name), str(text)) for name, text in value.items() if isinstance(text, str | int | float)]
    lines = value.splitlines() if isinstance(value, str) else value if isinstance(value, list) else []
    parted = (line.partition(":") for line in lines if isinstance(line, str) and ":" in line)
    return [(name, text) for name, _, text in parted]


def cookies_of(value: Any) -> list[tuple[str, str]]:
    """Return the Cookie header, from a mapping or its own text; empty without cookies."""
    if isinstance(value, Mapping):
        value = "; ".join(f"{name}={text}" for name, text in value.items())
    return [("Cookie", value)] if isinstance(value, str) and value.strip() else []


def basic_of(user: str, password: str) -> list[tuple[str, str]]:
    if not user:
        return []
    return [("Authorization", f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}")]
