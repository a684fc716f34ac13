"""Users' requests about sources, for the wire and for the registry: one struct for both. Pure.

Fields that the record (`storage/records/source.py`) has under the same name are copied generically; no code lists
them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from actors.messages.declaring import Declared, part_of, patch_of, texts_in
from storage.records.identity import Managed, given, seconds_of
from storage.records.source import Follow, Inheritable, Render, Source, TagDefaults
from storage.records.tiers import SourceType

_FEED = re.compile(r"\s*feed:(?!\d)(?://)?", re.I)
_BARE = re.compile(r"[\w.-]+(?::[0-9]+)?(?=[/?#]|$)")
_INSIDE = re.compile(r"(?:localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+)(?=[:/?#]|$)", re.IGNORECASE)
"""Hosts of one's own machine or network, which seldom have a certificate."""
_texts = texts_in("actors.messages", "requests.toml")
Url = Annotated[str, _texts("url", min_length=1, max_length=2048, extra_json_schema={"format": "uri"})]
Tag = Annotated[str, Meta(min_length=1, max_length=100)]
Tags = Annotated[tuple[Tag, ...], _texts("tags", max_length=50)]
Selector = Annotated[str, _texts("selector", min_length=1, max_length=1000)]
Ignore = Annotated[tuple[Selector, ...], _texts("ignore", max_length=50)]
Schedule = Annotated[str, _texts("schedule", pattern=r"^[0-9]{1,6}[smhd]$(?!\n)")]
Hours = Annotated[str, _texts("hours", min_length=1, max_length=200)]
PushFilter = Annotated[str, _texts("push_filter", max_length=4096, extra_json_schema={"format": "alert-query"})]
Bar = Annotated[float, _texts("bar", ge=0.2, le=0.9)]
Subprotocol = Annotated[
    str, _texts("subprotocol", min_length=1, max_length=100, pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$(?!\n)")
]
Subprotocols = Annotated[tuple[Subprotocol, ...], _texts("subprotocols", max_length=16)]
Hello = Annotated[str, _texts("hello", min_length=1, max_length=4096)]
Hellos = Annotated[tuple[Hello, ...], _texts("hellos", min_length=1, max_length=8)]
Replies = Annotated[tuple[Annotated[str, Meta(min_length=6, max_length=500)], ...], _texts("replies", max_length=8)]
Headers = Annotated[str, _texts("headers", min_length=1, max_length=32_768)]
HeadersFor = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=260)], ...], _texts("headers_for", max_length=50)
]
Follows = Annotated[Follow, _texts("follows")]
FollowHosts = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=253)], ...], _texts("follow_hosts", max_length=50)
]
RenderWish = Annotated[Render, _texts("render_wish")]
WaitFor = Annotated[str, _texts("wait_for", min_length=1, max_length=500)]
OwnOnly = Annotated[tuple[Inheritable, ...], _texts("own_only", max_length=5)]
DefaultDestinations = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})], ...],
    _texts("default_destinations", max_length=20),
]
Screenshots = Annotated[bool, _texts("screenshots")]
Title = Annotated[str, _texts("title", max_length=200)]
ManagedBy = Annotated[Managed | None, _texts("managed_by")]


def as_typed(text: str) -> str:
    """Return the URL of a typed or pasted text: strip blanks, turn `feed:` and a missing scheme into https, or http for
    a host of one's own.

    >>> as_typed(" feed://a.example/x"), as_typed("feed:http://a.example/"), as_typed("b.example:8080/x")
    ('https://a.example/x', 'http://a.example/', 'https://b.example:8080/x')
    >>> as_typed("127.0.0.1:8080"), as_typed("localhost/feed"), as_typed("10.example/feed")
    ('http://127.0.0.1:8080', 'http://localhost/feed', 'https://10.example/feed')
    """
    feed = _FEED.match(text)
    text = (text if feed is None else text[feed.end() :]).strip()
    bare = text.removeprefix("//")
    return f"{'http' if _INSIDE.match(bare) else 'https'}://{bare}" if _BARE.match(bare) else text


class NewSource(Struct, frozen=True, forbid_unknown_fields=True):
    """A URL to watch. `type` overrides detection. `backfill`: the number of a feed's newest entries to emit at once.

    `verify`: `later` also adds an unreachable URL, and classifies it when it answers.
    """

    url: Url
    type: SourceType | None = None
    tags: Tags = ()
    selector: Selector | None = None
    ignore: Ignore = ()
    schedule: Schedule | None = None
    hours: Hours | None = None
    backfill: Annotated[int, Meta(ge=0, le=50)] = 0
    filter: PushFilter | None = None
    bar: Bar | None = None
    subprotocols: Subprotocols = ()
    hello: Hello | Hellos | None = None
    replies: Replies = ()
    headers: Headers | None = None
    headers_for: HeadersFor = ()
    follow: Follows = "none"
    follow_hosts: FollowHosts = ()
    own_only: OwnOnly = ()
    render: RenderWish = "auto"
    wait_for: WaitFor | None = None
    screenshots: Screenshots = False
    title: Title = ""
    enabled: bool = True
    managed: ManagedBy = None
    verify: Literal["now", "later"] = "now"

    def __post_init__(self) -> None:
        force_setattr(self, "url", as_typed(self.url))

    def __repr__(self) -> str:
        return f"NewSource({self.url!r})"  # `hello` and `headers` may hold a secret


SECRETS: Final = ("hello", "headers")
"""The fields of a source that are never shown again."""


@patch_of(
    NewSource,
    Source,
    without=("url", "backfill", "verify"),
    order="type enabled tags selector ignore filter subprotocols hello replies headers headers_for render wait_for "
    "screenshots schedule hours bar follow follow_hosts own_only title managed",
)
class SourcePatch(Declared, frozen=True, forbid_unknown_fields=True):
    """The fields to change; null empties `selector`, `schedule`, `hours`, `filter`, `bar`, `hello`, `headers`,
    `wait_for` and `managed`. The URL is fixed.
    """

    def __repr__(self) -> str:
        return f"SourcePatch({', '.join(name for name in self.__struct_fields__ if getattr(self, name) is not UNSET)})"

    if TYPE_CHECKING:  # the decorator adds the fields

        def __init__(self, **fields: Any) -> None: ...


@part_of(NewSource, get_args(Inheritable))
class TagSettings(Declared, frozen=True, forbid_unknown_fields=True):
    """All defaults of a tag; an absent field sets nothing. The fields are those of POST /v1/sources. `destinations`: a
    new alert over the tag gets a copy of each. An absent `managed` stays; null removes it.
    """

    destinations: DefaultDestinations = ()
    managed: ManagedBy | UnsetType = UNSET

    @property
    def says_nothing(self) -> bool:
        return replace(self, managed=UNSET) == TagSettings()

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...


class DetectRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """A URL to classify and the settings for watching it, as in POST /v1/sources. `tags`: the preview applies their
    defaults.
    """

    url: Url
    type: SourceType | None = None
    selector: Selector | None = None
    ignore: Ignore = ()
    filter: PushFilter | None = None
    headers: Headers | None = None
    render: RenderWish = "auto"
    wait_for: WaitFor | None = None
    tags: Tags = ()
    own_only: OwnOnly = ()

    def __post_init__(self) -> None:
        force_setattr(self, "url", as_typed(self.url))

    def __repr__(self) -> str:
        return f"DetectRequest({self.url!r})"


def settings_of(request: NewSource | SourcePatch) -> dict[str, Any]:
    """Return a request's settings of a source, under the record's field names; a schedule in seconds."""
    return _in_seconds(given(request, Source))


def defaults_of(request: TagSettings) -> dict[str, Any]:
    return _in_seconds(given(request, TagDefaults))


def _in_seconds(settings: dict[str, Any]) -> dict[str, Any]:
    if settings.get("schedule") is not None:
        settings["schedule"] = seconds_of(settings["schedule"])
    return settings
