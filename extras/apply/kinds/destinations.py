"""Destinations in files. One that several alerts name becomes one record per alert."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import fields

from actors.messages.declaring import patch_of
from api.fields.destinations import DestinationRecord, HookUrl, NewDestination, OptionValue
from extras.apply.kinds.alerts import ALERTS
from extras.apply.kinds.kind import PART, Ids, Kind, Names, Reference, ServiceRecord, Values
from extras.apply.kinds.sources import url_of
from storage.records.destination import EMAIL, WEBHOOK, WEEKDAYS

DESTINATIONS = "destinations"
BETWEEN = "/"  # separates an alert's name from its destination's
OPTIONS = f"options{PART}"
UNSEEN = "/…"  # the end of an address whose path the service hides
OptionGiven = OptionValue | Reference


@patch_of(
    NewDestination,
    without=("managed",),
    order="url kind options secret label delivery_mode digest_hour digest_timezone quiet_hours format most_at_once",
)
class DestinationTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where the matches of the alerts go that name it. What is left out is as of a new destination.

    `url`, `secret` and each of the `options` may be a reference: what lets somebody in does not belong into a file.
    """

    url: HookUrl | Reference | UnsetType = UNSET
    options: Annotated[dict[str, OptionGiven], Meta(max_length=20)] | UnsetType = UNSET
    secret: Reference | UnsetType = UNSET


OF_SERVICE = ("url", "options", "secret", "label", "most_at_once", "managed")
"""Fields whose default the service makes: they are compared only if the files have them."""
DEFAULTS: Values = {field.name: field.default for field in fields(NewDestination) if field.name not in OF_SERVICE}


def spelt(values: dict[str, Any]) -> dict[str, Any]:
    if isinstance(values.get("url"), str):
        values["url"] = _address(values["kind"], values["url"])
    quiet = values["quiet_hours"]
    if quiet is not None:
        days = [day for day in WEEKDAYS if day in quiet.weekdays]
        values["quiet_hours"] = {"from": quiet.start, "to": quiet.end, "timezone": quiet.timezone, "weekdays": days}
    return {name: value for name, value in values.items() if not (name.startswith(OPTIONS) and value == "")}


def _address(kind: str, text: str) -> str:
    if kind != EMAIL:
        return url_of(text)
    mailbox, at, domain = text.removeprefix("mailto:").rpartition("@")
    return f"{mailbox}{at}{domain.lower()}"


def _there(record: Any, names: Names) -> ServiceRecord:
    values = {name: getattr(record, name) for name in (*DEFAULTS, "url", "label", "most_at_once")}
    if record.needs_secret or record.needs_agreement:
        del values["enabled"]  # held back until then, so this says nothing about the wish
    values |= {f"{OPTIONS}{name}": value for name, value in record.options.items()}
    values["alert"] = names.name_of(ALERTS, record.alert_id)
    sealed = {f"{OPTIONS}{name}" for name in record.private}
    if record.url.endswith(UNSEEN):
        del values["url"]
        sealed.add("url")
    return ServiceRecord(record, spelt(values), frozenset(sealed))


def _body(values: Values, secrets: Mapping[str, str | None], _ids: Ids) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name, value in {**values, **secrets}.items():
        if name.startswith(OPTIONS):
            body.setdefault("options", {})[name.removeprefix(OPTIONS)] = value
        elif name != "alert":
            body[name] = value
    return body


def _trimmed(_record: Any, values: Values) -> frozenset[str]:
    """Return fields that the service chose itself, such as a label made from the alert's name."""
    made = {"label"} if " · " in values["label"] else set()
    return frozenset(made | ({"most_at_once"} if values["kind"] == WEBHOOK and not values["most_at_once"] else set()))


KIND = Kind(
    id=DESTINATIONS,
    noun="destination",
    table=DestinationTable,
    path="/v1/destinations",
    record=DestinationRecord,
    defaults=DEFAULTS,
    spelt=spelt,
    there=_there,
    natural=lambda name, values: (values["alert"], name.partition(BETWEEN)[2], values["kind"]),
    alike=lambda _name, values: (values["alert"], values["kind"], values.get("url")),
    body=_body,
    make=lambda values, ids: f"/v1/alerts/{ids(ALERTS, values['alert'])}/destinations",
    called=lambda values: values["kind"],
    file="alerts.toml",
    refers={"alert": ALERTS},
    secrets=("secret",),
    fixed=("alert", "kind"),
    trimmed=_trimmed,
    known=lambda name: name.partition(BETWEEN)[2],  # shared by all its alerts
)
