"""The form of an alert, and the requests made from it. Pure."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from actors.errors import Unprocessable
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.language.speaking import noted, say
from api.operations.tags import tags_in
from api.schemas import alerts as wire
from api.schemas.alert_previews import AlertPreviewRequest
from storage.records.alert import MOST_TAGS, Alert, Scope
from storage.records.destination import DeliveryMode
from storage.records.revision import Expected, revision_of

SHOWN = 8
"""Matches that a trial shows."""
ABOUT = (
    ("change", noted("What changed: what came and what went")),
    ("added", noted("Only what came")),
    ("removed", noted("Only what went")),
    ("page", noted("The whole page, whatever changed on it")),
)
"""The texts of a watched page that an alert can search, with labels."""


class Chosen(NamedTuple):
    """The chosen sources and tags; with neither, all sources."""

    source_ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    private: tuple[str, ...] = ()


class AlertForm(Form, frozen=True, kw_only=True):
    """The fields of an alert. tags: ticked; other_tags: typed, separated by commas. find: words of sources."""

    name: wire.Name | None = None
    filter_query: wire.FilterQuery = ""
    language: wire.LanguageCode = "en"
    scope: Literal["all", "some"] = "all"
    source_ids: wire.SourceIds = ()
    tags: tuple[str, ...] = ()
    other_tags: Annotated[str, Meta(max_length=4096)] = ""
    find: str = ""
    channel: wire.Channel | None = None
    notices: wire.Notices = ()
    notice_after: wire.NoticeAfter = 3600
    match: wire.Match = "change"
    once_per_story: bool = False
    private_source_ids: wire.PrivateSources = ()


class NewAlertForm(AlertForm, frozen=True, kw_only=True):
    """A new alert with its first destination: a new bin, an address, or none for now."""

    deliver: Literal["later", "person", "bin", "url"] = "later"
    url: wire.HookUrl | None = None
    delivery_mode: DeliveryMode = "instant"


class AlertEdit(AlertForm, frozen=True, kw_only=True):
    """A change of an alert, from the revision that was shown."""

    revision: str = ""

    @property
    def expected(self) -> Expected:
        return frozenset((self.revision,))


def new_alert(form: NewAlertForm, scope: Chosen) -> wire.NewAlert:
    """Return the alert that is asked for."""
    return wire.NewAlert(**_typed(form, scope), name=form.name)


def patch_of(form: AlertForm, alert: Alert, scope: Chosen) -> wire.AlertPatch:
    """Return the change that is asked for. A name that was emptied stays as it was."""
    return wire.AlertPatch(**_typed(form, scope), name=form.name or alert.name)


def _typed(form: AlertForm, scope: Chosen) -> dict[str, Any]:
    """Return what an alert has of the form, by the names of its fields, but for its name."""
    once = None if form.once_per_story == Scope(*scope).several else form.once_per_story  # as the sources make it
    of = {"source_ids": scope.source_ids, "private_source_ids": scope.private, "tags": scope.tags}
    return _same(form) | of | {"once_per_story": once}


def _same(of: AlertForm | Alert) -> dict[str, Any]:
    """Return what the form and the record have alike, but for the name and the sources."""
    alike = ("filter_query", "language", "channel", "notices", "notice_after", "match")
    return {name: getattr(of, name) for name in alike}


def asked(form: AlertForm, scope: Chosen) -> AlertPreviewRequest:
    """Return what a preview of it looks for."""
    ids, tags, private = scope
    return AlertPreviewRequest(
        form.filter_query, form.language, ids, limit=SHOWN, match=form.match, tags=tags, private_source_ids=private
    )


def chosen(form: AlertForm) -> Chosen:
    """Return the chosen sources and tags.

    Raises Wrong if the form says "some" and none is chosen: the alert would cover all.
    """
    if form.scope == "all":
        return Chosen(private=form.private_source_ids)
    typed = [tag for tag in (*form.tags, *form.other_tags.split(",")) if tag.strip()]
    try:
        tags = tags_in(typed)
    except Unprocessable as error:
        raise Wrong(other_tags=f"{error.value}: {translated(error.detail)}.") from None
    if not (form.source_ids or tags):
        raise Wrong(source_ids=say("Choose at least one tag or source, or take all sources."))
    if len(tags) > MOST_TAGS:
        raise Wrong(
            other_tags=say(
                "An alert names at most %(most)s tags; these are %(count)s.", most=MOST_TAGS, count=len(tags)
            )
        )
    return Chosen(tuple(dict.fromkeys(form.source_ids)), tags, form.private_source_ids)


def form_of(alert: Alert) -> AlertEdit:
    return AlertEdit(
        **_same(alert),
        name=alert.name,
        scope="all" if alert.scope.everywhere else "some",
        source_ids=alert.source_ids,
        private_source_ids=alert.private_source_ids,
        tags=alert.tags,
        once_per_story=alert.meets_once,
        revision=revision_of(alert),
    )
