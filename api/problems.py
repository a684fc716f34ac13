"""Every error as an RFC 9457 problem document, from one table. Pure.

Handlers and hooks raise a `Refusal` for a fault in the request; actors raise `actors.errors`. `refusals.refusal_of`
turns any exception into the Refusal to send. Anything else is our own bug: a 500 that reveals no details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, Struct, UnsetType, field, json
from msgspec.structs import replace

from storage.records.secrecy import without_secrets

MEDIA = "application/problem+json"
SHOWN = 200
"""Most characters of a refused value to show."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of error: status, title, and the text of its page. example: a sample `detail`."""

    status: int
    title: str
    says: str
    example: str = ""


KINDS: dict[str, Kind] = {
    "invalid-request": Kind(
        400,
        "The request is not valid",
        "A field of the body, the query or a header is missing, unknown or invalid. `errors` lists each place.",
        "body.backfill: Expected `int` <= 50",
    ),
    "unauthorized": Kind(
        401,
        "A valid API key is needed",
        "Send the key as `Authorization: Bearer <key>` or `X-API-Key: <key>`. A key in a query parameter is never "
        "accepted, because URLs end up in logs. A key that was deleted stops working at once.",
        "Send an API key: Authorization: Bearer <key>.",
    ),
    "forbidden": Kind(
        403,
        "The key may not do this",
        "The key is valid but lacks the scope that `detail` names.",
        "The key svc_Zk3vQ9xA... lacks the scope sources:write.",
    ),
    "not-found": Kind(
        404,
        "Not found",
        "Nothing exists at this path or under this id.",
        "There is no such source.",
    ),
    "method-not-allowed": Kind(405, "The path has no such method", "The `Allow` header lists the methods it has."),
    "request-timeout": Kind(
        408, "The request arrived too slowly", "The headers or the body did not arrive in time. Send the request again."
    ),
    "conflict": Kind(
        409,
        "Not possible in its present state",
        "`detail` names the state that prevents it.",
        "Nothing is sent to the destination: resume it first (`enabled: true`).",
    ),
    # Not 503: waiting does not help, and monitors would alarm. Not `conflict`: clients retry that.
    "library-full": Kind(
        409,
        "The library is full",
        "The service watches as many sources as `max_sources` allows. Waiting does not help: delete one, or raise the "
        "setting.",
        "the library is full: max_sources is 100000",
    ),
    "cursor-expired": Kind(
        410,
        "The cursor is older than the log",
        "Retention has deleted events after this cursor, so a replay from it would have a gap. Start without a cursor, "
        "or with `earliest`, which begins with the oldest stored event.",
        "Events after this id have been deleted by retention.",
    ),
    "precondition-failed": Kind(
        412,
        "It has changed since you read it",
        "`If-Match` names an old revision, so the service changed nothing. Read the record again, apply your change to "
        "it, and send the new `ETag`.",
        "It has changed since you read it. Read it again and repeat your change.",
    ),
    "body-too-large": Kind(413, "The body is too large", "`detail` names the limit."),
    "target-too-long": Kind(414, "The request line is too long", "Path and query may have at most 8 KiB."),
    "unsupported-media-type": Kind(
        415,
        "The body is not plain JSON",
        "Send `Content-Type: application/json`, in UTF-8 and without compression.",
        "The body must be application/json, not text/plain.",
    ),
    "url-refused": Kind(
        422,
        "The URL is refused",
        "The service fetches only public addresses. `detail` names the rule, and the setting that permits it, if any.",
        "10.0.0.1 is not public; SANDERLING_ALLOW_NETWORKS=10.0.0.1/32 would open it (rule: address-private)",
    ),
    "unprocessable": Kind(
        422,
        "Cannot be processed",
        "`errors` names the place.",
        "body.schedule: an interval is from 1m to 7d",
    ),
    "rate-limited": Kind(
        429,
        "Too many requests",
        "Each key has its own token bucket. Wait the seconds of `Retry-After`, then continue.",
        "Wait 3 s: 100 requests at once, then as the bucket fills.",
    ),
    "headers-too-large": Kind(431, "The headers are too large", "Headers may have at most 8 KiB."),
    "internal": Kind(500, "Internal error", "The log has the details under the id in `X-Request-Id`."),
    "unavailable": Kind(
        503,
        "Temporarily unavailable",
        "The service can't do this at the moment. Retry after the seconds of `Retry-After`.",
        "The service is stopping.",
    ),
}


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
        """Return the document. instance: the path of the request."""
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


def invalid(location: str, message: str, value: Any = None) -> Refusal:
    """Return a 400 about one location."""
    return Refusal("invalid-request", f"{location}: {message}", [FieldError(location, message, shown(value))])


def shown(value: Any) -> Any:
    """Return the safe part of a refused value: scalars, cut, without secrets; containers as their type only."""
    if isinstance(value, str):
        return without_secrets(value.encode("utf-8", "replace").decode()[: 10 * SHOWN])[:SHOWN]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)[:SHOWN]
    return value if value is None or isinstance(value, int | float | bool) else f"({type(value).__name__})"


INTERNAL = Refusal("internal", KINDS["internal"].says)
