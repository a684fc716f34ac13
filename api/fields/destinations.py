"""Destinations: their fields, requests and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from actors.destination_kinds.contract import AddressField, KindField
from actors.messages.declaring import Declared, Revision, UpdatedBy, option, patch_of, record_of, shown_whole
from actors.messages.requests import ManagedBy
from api.fields import WORDS
from api.fields.alerts import Name
from storage.records.destination import WEEKDAYS, DeliveryMode, Destination, Format, Weekday

_URI = {"format": "uri"}
HookUrl = Annotated[str, Meta(min_length=1, max_length=2048, description="Public https", extra_json_schema=_URI)]
Hour = Annotated[int, Meta(ge=0, le=23, description="The hour at which a daily digest's window ends")]
Zone = Annotated[str, Meta(min_length=1, max_length=64, description="IANA time zone")]
_CLOCK = {"form": "a time of day as HH:MM, from 00:00 to 23:59"}
ClockTime = Annotated[str, Meta(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$(?!\n)", description="HH:MM", extra=_CLOCK)]
Weekdays = Annotated[tuple[Weekday, ...], Meta(min_length=1, max_length=7, description=WORDS["weekdays"])]


class QuietHours(Struct, frozen=True, forbid_unknown_fields=True):
    """The hours when instant deliveries wait: from a time of the named days to the next `to`, maybe over midnight."""

    start: ClockTime = field(name="from")
    end: ClockTime = field(name="to")
    timezone: Zone = "UTC"
    weekdays: Weekdays = WEEKDAYS


BodyFormat = Annotated[Format, Meta(description=WORDS["format"])]
_KIND: Any = {"description": WORDS["kind"], "examples": ["webhook", "slack"]}
_LETTERS = {"form": "small letters, digits and hyphens"}
KindName = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9-]{0,31}$(?!\n)", extra=_LETTERS, **_KIND)]
OptionValue = Annotated[str, Meta(max_length=4096)]
Options = Annotated[dict[str, OptionValue | None], Meta(max_length=20, description=WORDS["options"], examples=[{}])]
AtOnce = Annotated[int, Meta(ge=0, le=500, description=WORDS["most_at_once"])]
_BYTES = {"form": "whsec_ and base64 of 24 to 64 random bytes"}
_SECRET = Meta(pattern=r"^whsec_[A-Za-z0-9+/]{32,88}={0,2}$(?!\n)", extra=_BYTES, description=WORDS["secret"])
OwnSecret = Annotated[str, _SECRET]

_MODE = option("Each match at once, or the matches of a period together.", "--mode")


class NewDestination(Struct, frozen=True, forbid_unknown_fields=True):
    """The address for an alert's matches."""

    url: HookUrl | UnsetType = UNSET
    kind: KindName = "webhook"
    options: Options = {}
    delivery_mode: Annotated[DeliveryMode, _MODE] = "instant"
    label: Name | None = None
    digest_hour: Hour = 8
    digest_timezone: Zone = "UTC"
    enabled: bool = True
    quiet_hours: QuietHours | None = None
    format: Annotated[BodyFormat, option("The event itself, or in an envelope of CloudEvents 1.0.2.")] = "event"
    most_at_once: AtOnce | UnsetType = UNSET
    secret: OwnSecret | UnsetType = UNSET
    managed: ManagedBy = None


@patch_of(NewDestination, Destination, without=("kind",))
class DestinationPatch(Struct, frozen=True, forbid_unknown_fields=True):
    """The fields to change; null removes `quiet_hours` and `managed`, and declines the replay that `replay_from`
    offers. Omitted `options` stay; null removes one. `enabled: true` also restores a destination that was disabled for
    its failures.
    """

    replay_from: UnsetType | None = UNSET


@record_of(
    Destination,
    "id alert_id kind url options private delivery_mode label digest_hour digest_timezone quiet_hours enabled "
    "state created_at updated_at last_delivery_at failure_rate error_rate duplicate_rate replay_from format "
    "most_at_once revision updated_by managed",
)
class DestinationRecord(Struct, frozen=True, kw_only=True):
    """A destination."""

    options: dict[str, str]
    private: list[str]
    quiet_hours: QuietHours | None
    failure_rate: float
    error_rate: float
    duplicate_rate: float
    replay_from: str | None
    format: BodyFormat
    revision: Revision
    updated_by: UpdatedBy
    needs_secret: bool = False
    needs_agreement: bool = False
    in_use_by_alert_count: int = 1


class TestAnswer(Struct, frozen=True):
    """The result of a test delivery."""

    result: Literal["sent", "retry", "terminal"]
    status_code: int | None
    latency_ms: int
    detail: str


class DestinationWithSecret(DestinationRecord, frozen=True, kw_only=True):
    """A destination and its newest signing secret, shown only here; absent for a kind without signatures."""

    secret: str | UnsetType = UNSET
    invited: TestAnswer | UnsetType = UNSET


@shown_whole(AddressField)
class AddressWanted(Declared, frozen=True, kw_only=True):
    """The address field of a kind."""


@record_of(KindField, "name label help example private required many lines matches default")
class OptionWanted(Declared, frozen=True, kw_only=True):
    """One of the `options` of a kind."""

    matches: str


class DestinationKindRecord(Struct, frozen=True, kw_only=True):
    """A kind of destination and its fields. `where`: how to get their values. `signed`: its deliveries are signed."""

    kind: str
    label: str
    family: Literal["program", "chat", "phone", "on-call", "mail"]
    where: str
    documentation: str
    address: AddressWanted
    options: list[OptionWanted]
    signed: bool
