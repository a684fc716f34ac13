"""The form of a publication, and the requests made from it. Pure."""

from __future__ import annotations

from typing import Any

from api.dashboard.forms import Form
from api.schemas import publications as wire
from api.schemas.alerts import PrivateSources
from storage.records.publication import Publication
from storage.records.revision import Expected, revision_of


class PublicationForm(Form, frozen=True, kw_only=True):
    """The fields of a publication. tags: separated by commas. find: words to search sources by."""

    title: wire.Title
    tags: str = ""
    channel: wire.ChannelName | None = None
    alert_ids: wire.AlertIds = ()
    source_ids: wire.Sources = ()
    private_source_ids: PrivateSources = ()
    find: str = ""


class PublicationEdit(PublicationForm, frozen=True, kw_only=True):
    """A change of a publication, from the revision that was shown."""

    revision: str = ""

    @property
    def expected(self) -> Expected:
        return frozenset((self.revision,))


def tags_in(text: str) -> tuple[str, ...]:
    """Return the tags in a text, each once."""
    return tuple(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))


def new_of(form: PublicationForm) -> wire.NewPublication:
    return wire.NewPublication(**_typed(form))


def patch_of(form: PublicationForm) -> wire.PublicationPatch:
    return wire.PublicationPatch(**_typed(form))


def form_of(publication: Publication) -> PublicationEdit:
    """Return the form as it stands for a publication that is there."""
    return PublicationEdit(**_same(publication), tags=", ".join(publication.tags), revision=revision_of(publication))


def _typed(form: PublicationForm) -> dict[str, Any]:
    """Return what a publication has of the form, by the names of its fields."""
    return _same(form) | {"tags": tags_in(form.tags)}


def _same(of: PublicationForm | Publication) -> dict[str, Any]:
    """Return what the form and the record have alike."""
    return {name: getattr(of, name) for name in ("title", "channel", "alert_ids", "source_ids", "private_source_ids")}
