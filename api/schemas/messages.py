"""Wire shapes of a message's preview."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from actors.notification.dialects import DialectName
from api.schemas.alerts import KindName

Template = Annotated[str, Meta(max_length=4096)]
MessageOf = Literal["event", "digest", "sample"]


class MessagePreviewRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Templates as the `options` of a destination would have them; "" stands for the usual title or text.

    `alert_id`: whose newest matches are told; null takes the newest events of all. `language`: of our own words, as a
    destination's option; "" stands for the service's.
    """

    kind: KindName
    message: Template = ""
    message_title: Template = ""
    alert_id: Annotated[str, Meta(max_length=36)] | None = None
    language: Annotated[str, Meta(max_length=8)] = ""


class ShownMessage(Struct, frozen=True):
    """What is sent, marked up as the service takes it. `failure`: why the template was not used for this event."""

    of: Annotated[MessageOf, Meta(description="The newest event, a digest of the newest, or a sample if there is none")]
    title: str
    text: str
    failure: str | UnsetType = UNSET


class MessagePreview(Struct, frozen=True):
    """The messages of an event and of a digest."""

    dialect: DialectName
    messages: list[ShownMessage]
