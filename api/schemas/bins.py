"""Wire shapes of webhook bins and their captures."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from api.schemas.sources import Cursor, Time


class BinRecord(Struct, frozen=True, kw_only=True):
    """A bin. Anyone with its `url` can send to it, with any method and any path below it, but not read it."""

    id: str
    url: str
    created_at: Time
    expires_at: Time


class Checked(Struct, frozen=True, kw_only=True):
    """The verdict on a signature: `ok` is null if it was not checked; `why` is always a sentence."""

    ok: bool | None
    cause: str
    why: str


class CheckedEvent(Checked, frozen=True, kw_only=True):
    """The verdict on one event of a digest."""

    id: str | None


class CheckedEvents(Checked, frozen=True, kw_only=True):
    """The verdict on all events together: `ok` if each is. `events`: one by one."""

    events: tuple[CheckedEvent, ...]


class SignatureCheck(Struct, frozen=True, kw_only=True):
    """Both signatures, checked on arrival.

    `hmac` is checked with the secrets of this service's destinations that deliver to this bin, `ed25519` with its
    signing keys.
    """

    hmac: Checked
    ed25519: CheckedEvents


class CaptureRecord(Struct, frozen=True, kw_only=True):
    """A request as received, except for the case of its header names.

    `body` if it is UTF-8, else `body_base64`. `size`: bytes received. `truncated`: the stored body is shorter.
    """

    id: str
    received_at: Time
    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: str | UnsetType = UNSET
    body_base64: str | UnsetType = UNSET
    size: int
    truncated: bool
    signature_check: SignatureCheck


class CapturesQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of captures. It may be shorter if bodies are large."""

    limit: Annotated[int, Meta(ge=1, le=100, description="Most captures of a page", examples=[20])] = 20
    cursor: Cursor | None = None
