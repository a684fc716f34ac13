"""The settings of a source as form fields, shared by adding and editing. Pure."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeVar

import msgspec
from msgspec import Meta

from actors.inheriting import INHERITABLE
from actors.messages import requests as ask
from api.dashboard.forms import Form, Wrong
from api.dashboard.language.sentences import translated
from api.dashboard.sources.words import labels
from api.refusal_words import plainly
from storage.records.source import Inheritable, Source
from storage.records.times import interval_text

T = TypeVar("T")
_OWN: Final[dict[Inheritable, str]] = {name: f"own_{name}" for name in INHERITABLE}
_Lines = Annotated[str, Meta(max_length=60_000)]


class Options(Form, frozen=True):
    """tags: separated by commas or lines. ignore: one selector per line. everything: each frame is an event.
    follow: report each new entry with the text of its page, also from other hosts (`follow_hosts`, as tags).
    own_...: a setting that ignores tags."""

    title: ask.Title = ""
    tags: Annotated[str, Meta(max_length=6_000)] = ""
    selector: ask.Selector | None = None
    ignore: _Lines = ""
    schedule: ask.Schedule | None = None
    hours: ask.Hours | None = None
    bar: ask.Bar | None = None
    filter: ask.PushFilter | None = None
    everything: bool = False
    subprotocols: Annotated[str, Meta(max_length=2_000)] = ""
    hello: ask.Hello | None = None
    replies: _Lines = ""
    headers: ask.Headers | None = None
    headers_for: Annotated[str, Meta(max_length=6_000)] = ""
    follow: bool = False
    follow_hosts: Annotated[str, Meta(max_length=6_000)] = ""
    render: ask.RenderWish | None = None
    wait_for: ask.WaitFor | None = None
    screenshots: bool = False
    own_schedule: bool = False
    own_hours: bool = False
    own_bar: bool = False
    own_selector: bool = False
    own_ignore: bool = False

    @property
    def wanted(self) -> str | None:
        """The query that frames must match; "" matches all."""
        return "" if self.everything else self.filter


def settings_in(form: Options) -> dict[str, Any]:
    """Return the form's settings, by the names of a request's fields. Raises Wrong."""
    asked_otherwise = ("everything", *_OWN.values())
    plain = {name: getattr(form, name) for name in Options.__struct_fields__ if name not in asked_otherwise}
    if form.render is None:  # the form did not ask
        del plain["render"]
    read = {"tags": tags_of(form), "ignore": ignore_of(form), "subprotocols": subprotocols_of(form)}
    read["follow_hosts"] = checked("follow_hosts", words_in(form.follow_hosts), ask.FollowHosts)
    read["replies"] = checked("replies", lines_in(form.replies), ask.Replies)
    read["headers_for"] = checked("headers_for", words_in(form.headers_for), ask.HeadersFor)
    read["own_only"] = own_of(form)
    return plain | read | {"filter": form.wanted, "follow": "new_links" if form.follow else "none"}


def shown_of(source: Source) -> dict[str, Any]:
    """Return the form's fields for an existing source. Its secrets are never shown."""
    unshown = ("everything", "hello", "headers", *_OWN.values())
    plain = {name: getattr(source, name) for name in Options.__struct_fields__ if name not in unshown}
    return plain | {
        "tags": ", ".join(labels(source)),
        "ignore": "\n".join(source.ignore),
        "schedule": None if source.schedule is None else interval_text(source.schedule),
        "filter": source.filter or None,
        "everything": source.filter == "",
        "follow": source.follow != "none",
        "follow_hosts": ", ".join(source.follow_hosts),
        "headers_for": ", ".join(source.headers_for),
        "subprotocols": ", ".join(source.subprotocols),
        "replies": "\n".join(source.replies),
        **{field: name in source.own_only for name, field in _OWN.items()},
    }


def words_in(text: str) -> tuple[str, ...]:
    r"""Split a text at commas and line ends.

    >>> words_in(" prices, topic:sea,,\nnews ")
    ('prices', 'topic:sea', 'news')
    """
    return tuple(word for part in text.replace("\n", ",").split(",") if (word := part.strip()))


def lines_in(text: str) -> tuple[str, ...]:
    """Return the non-empty lines. Commas have their own meaning in selectors."""
    return tuple(line.strip() for line in text.split("\n") if line.strip())


def tags_of(form: Options) -> tuple[str, ...]:
    """Return the tags. Raises Wrong."""
    tags: tuple[str, ...] = checked("tags", words_in(form.tags), ask.Tags)
    return tags


def own_of(form: Options) -> tuple[Inheritable, ...]:
    """Return the settings that ignore tags."""
    return tuple(name for name, field in _OWN.items() if getattr(form, field))


def ignore_of(form: Options) -> tuple[str, ...]:
    """Return the selectors to ignore. Raises Wrong."""
    selectors: tuple[str, ...] = checked("ignore", lines_in(form.ignore), ask.Ignore)
    return selectors


def subprotocols_of(form: Options) -> tuple[str, ...]:
    """Return the subprotocols to offer. Raises Wrong."""
    names: tuple[str, ...] = checked("subprotocols", words_in(form.subprotocols), ask.Subprotocols)
    return names


def checked(field: str, value: Any, kind: Any) -> Any:
    """Return a value as the API would accept it. Raises Wrong with the error at its field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Wrong(**{field: translated(plainly(str(error)))}) from None
