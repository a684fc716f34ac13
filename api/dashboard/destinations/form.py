"""The form of a destination, and the requests made from it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType, field

from actors.destination_kinds.fields import AddressField, KindField
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.speaking import say
from api.schemas import alerts as wire
from storage.records.destination import ADDRESS, WEBHOOK, WEEKDAYS, DeliveryMode, Destination, Format, Weekday
from storage.records.revision import Expected, revision_of


class DestinationForm(Form, frozen=True, kw_only=True):
    """The fields of a destination. quiet: whether it has quiet hours. options: those of its kind."""

    url: wire.HookUrl | None = None
    options: dict[str, str] = field(default_factory=dict)
    label: wire.Name | None = None
    delivery_mode: DeliveryMode = "instant"
    digest_hour: wire.Hour = 8
    digest_timezone: wire.Zone = "UTC"
    format: Format = "event"
    most_at_once: wire.AtOnce | None = None
    quiet: Literal["no", "yes"] = "no"
    quiet_from: wire.ClockTime = "22:00"
    quiet_to: wire.ClockTime = "07:00"
    quiet_timezone: wire.Zone = "UTC"
    quiet_days: tuple[Weekday, ...] = ()


class NewDestinationForm(DestinationForm, frozen=True, kw_only=True):
    """A new destination. `url` may be missing for a new bin, or if the kind has a default."""

    kind: str = WEBHOOK
    deliver: Literal["bin", "url"] = "url"
    alert: str = ""


class DestinationEdit(DestinationForm, frozen=True, kw_only=True):
    """A change of a destination, from the revision that was shown. An empty private value stays as it was, unless
    `taken` names it for removal.
    """

    taken: tuple[str, ...] = ()
    revision: str = ""

    @property
    def expected(self) -> Expected:
        return frozenset((self.revision,))


def quiet_of(form: DestinationForm) -> wire.QuietHours | None:
    """Return the form's quiet hours. No ticked day means every day."""
    if form.quiet == "no":
        return None
    days = tuple(day for day in WEEKDAYS if day in form.quiet_days) or WEEKDAYS
    return wire.QuietHours(form.quiet_from, form.quiet_to, form.quiet_timezone, days)


def new_destination(form: NewDestinationForm, url: str | UnsetType, label: str | None) -> wire.NewDestination:
    return wire.NewDestination(
        url=url,
        kind=form.kind,
        options=dict(form.options),
        delivery_mode=form.delivery_mode,
        label=label,
        format=form.format,
        most_at_once=UNSET if form.most_at_once is None else form.most_at_once,
        digest_hour=form.digest_hour,
        digest_timezone=form.digest_timezone,
        quiet_hours=quiet_of(form),
    )


def patch_of(form: DestinationEdit, old: Destination, fields: Sequence[KindField]) -> wire.DestinationPatch:
    """Return the form's patch. An unchanged address is not checked again."""
    return wire.DestinationPatch(
        url=UNSET if form.url in (None, old.url) else form.url,
        options=_options(form, fields),
        delivery_mode=form.delivery_mode,
        label=form.label or old.label,
        format=form.format,
        most_at_once=UNSET if form.most_at_once is None else form.most_at_once,
        digest_hour=form.digest_hour,
        digest_timezone=form.digest_timezone,
        quiet_hours=quiet_of(form),
    )


def _options(form: DestinationEdit, fields: Sequence[KindField]) -> dict[str, str | None]:
    """Return the changed values: an empty plain value is removed, a private one only if `taken` names it."""
    found: dict[str, str | None] = dict(form.options)
    for each in fields:
        if each.name not in found and (not each.private or each.name in form.taken):
            found[each.name] = None
    return found


def address_of(form: NewDestinationForm, address: AddressField) -> str | UnsetType | None:
    """Return the form's address, or None for a new bin. Raises Wrong if it is missing."""
    if form.deliver == "bin":
        return None
    if form.url is not None:
        return form.url
    if not address.default:
        needed = say("This is needed, unless a bin is made for it.") if form.kind == WEBHOOK else say("This is needed.")
        raise Wrong(url=needed)
    return UNSET


def form_of(hook: Destination) -> DestinationEdit:
    hours = hook.quiet_hours
    return DestinationEdit(
        url=None if ADDRESS in hook.private_names else hook.url,
        options=dict(hook.options),
        label=hook.label,
        format=hook.format,
        most_at_once=hook.most_at_once,
        delivery_mode=hook.delivery_mode,
        digest_hour=hook.digest_hour,
        digest_timezone=hook.digest_timezone,
        quiet="no" if hours is None else "yes",
        quiet_from="22:00" if hours is None else hours.start,
        quiet_to="07:00" if hours is None else hours.end,
        quiet_timezone=hook.digest_timezone if hours is None else hours.timezone,
        quiet_days=WEEKDAYS if hours is None else hours.weekdays,
        revision=revision_of(hook),
    )
