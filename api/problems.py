"""Every error as an RFC 9457 problem document, from one table. Pure.

Handlers and hooks raise a `Refusal` for a fault in the request; actors raise `actors.errors`. `refusals.refusal_of`
turns any exception into the Refusal to send. Anything else is our own bug: a 500 that reveals no details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, field, json
from msgspec.structs import replace

from storage.records.secrecy import without_secrets

MEDIA = "application/problem+json"
SHOWN = 200
"""Most characters of a refused value to show."""


class Kind(Struct, frozen=True):
    """One kind of error: status, title, and the text of its page. example: a sample `detail`."""

    status: int
    title: str
    says: str
    example: str = ""


KINDS: Final = json.decode(
    files("api.openapi").joinpath("words/problems.json").read_bytes(), type=dict[str, dict[str, Kind]]
)["problems"]
"""The kinds by slug. `library-full` is no 503, as waiting does not help and monitors would alarm, and no `conflict`, as
clients retry that.
"""


class FieldError(Struct, frozen=True):
    """One place that is wrong: place, reason and found value."""

    location: str
    message: str
    value: Any = None


class Problem(Struct, frozen=True, kw_only=True):
    """An RFC 9457 problem document."""

    schema: str = field(name="$schema")
    type: str
    title: str
    status: int
    detail: str
    instance: str | UnsetType = UNSET
    errors: tuple[FieldError, ...] | UnsetType = UNSET


class Refusal(Exception):
    """End the request with a problem of this kind. `headers` go with the answer."""

    def __init__(
        self, slug: str, detail: str, errors: Sequence[FieldError] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        self.slug, self.detail = slug, without_secrets(detail)
        super().__init__(self.detail)
        self.errors = tuple(replace(error, message=without_secrets(error.message)) for error in errors)
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return KINDS[self.slug].status

    def document(self, base_url: str, instance: str | None = None) -> Problem:
        kind = KINDS[self.slug]
        return Problem(
            schema=f"{base_url}/schemas/problem/1.json",
            type=f"{base_url}/problems/{self.slug}",
            title=kind.title,
            status=kind.status,
            detail=self.detail,
            instance=instance or UNSET,
            errors=self.errors or UNSET,
        )

    def encode(self, base_url: str, instance: str | None = None) -> bytes:
        return json.encode(self.document(base_url, instance)) + b"\n"


def later(slug: str, detail: str, seconds: int) -> Refusal:
    return Refusal(slug, detail, headers={"Retry-After": str(seconds)})


def invalid(location: str, message: str, value: Any = None) -> Refusal:
    return Refusal("invalid-request", f"{location}: {message}", [FieldError(location, message, shown(value))])


def shown(value: Any) -> Any:
    """Return the safe part of a refused value: scalars, cut, without secrets; containers as their type only."""
    if isinstance(value, str):
        return without_secrets(value.encode("utf-8", "replace").decode()[: 10 * SHOWN])[:SHOWN]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)[:SHOWN]
    return value if value is None or isinstance(value, int | float | bool) else f"({type(value).__name__})"


INTERNAL = Refusal("internal", KINDS["internal"].says)
