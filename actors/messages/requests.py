"""Users' requests about sources, for the wire and for the registry: one struct for both.

Fields that the record (`storage/records/source.py`) has under the same name are copied generically; no code lists
them.

Records of previews: the events of watching a URL. Answers show some of them as they are, so their docstrings are the
API's; `api/fields/sources.py` has the others. A worker (`content/pages/page.py`) and the tiers make them, the front
end shows them. Texts are excerpts; nothing is stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from actors.messages.declaring import Declared, part_of, patch_of, texts_in
from storage.records.event import ValueType
from storage.records.identity import Managed, Millis, SourceId, given_fields, seconds_of
from storage.records.source import Detection, Follow, Inheritable, Render, Source, TagDefaults
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


SECRETS: Final = ("hello", "headers")  # the fields of a source that are never shown again


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
    return _in_seconds(given_fields(request, Source))


def defaults_of(request: TagSettings) -> dict[str, Any]:
    return _in_seconds(given_fields(request, TagDefaults))


def _in_seconds(settings: dict[str, Any]) -> dict[str, Any]:
    if settings.get("schedule") is not None:
        settings["schedule"] = seconds_of(settings["schedule"])
    return settings


EXCERPT = 500  # characters shown of a text


class DraftEvent(Struct, frozen=True):
    """An event as it would be emitted. `content` is an excerpt.

    identity: how it is distinguished: "guid", "link", "hash" (of its text), "guid and link". told: whether it would
    become an event; a push source's frame only does if an alert wants it.
    """

    title: str
    url: str
    author: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]
    identity: str
    told: bool = True


class FeedPreview(Struct, frozen=True):
    """A feed. `newest` is newest first: a backfill of n emits the first n of them, oldest first.

    undated: entries without a readable date. identities: entries by kind of identity. backfill: entries that the
    largest backfill would emit. damaged: ill-formed and recovered, or with undecodable bytes. hubs: WebSub. paging:
    the links of RFC 5005 by relation. Hubs and paging are shown but not followed.
    """

    title: str
    format: str
    url: str
    entries: int
    undated: int
    identities: Mapping[str, int]
    newest: tuple[DraftEvent, ...]
    backfill: int
    damaged: bool
    hubs: tuple[str, ...]
    paging: Mapping[str, str]


class PreviewBlock(Struct, frozen=True):
    """A paragraph, item, cell or heading. `why`: furniture or control if it is ignored, else ""."""

    text: str
    watched: bool
    why: str


class Ignored(Struct, frozen=True):
    """The number of elements that one selector of `ignore` removes."""

    selector: str
    elements: int


class ListedItem(Struct, frozen=True):
    """An item of a list: its title there, and its link."""

    title: str
    url: str


class FoundValue(Struct, frozen=True):
    """A price, number, state, version or date on a page. `text`: as written there. `value`: its digits, its date, the
    numbers of a version, or a state. `label`: its name in the page's own words. `path`: its place in a structured
    document. `unit`: a currency, "%", a unit of measure, or "".
    """

    type: ValueType
    text: str
    value: str
    label: str
    path: str
    unit: str


class PagePreview(Struct, frozen=True):
    """A page as it would be watched. `blocks` and `items` are the first ones; `watched`, `left_out` and `listed` count
    all, `listed` when read as a list.

    matched: elements that the selector matches, None without one. has: selectors that would match something large, if
    this one matches nothing. partial: the page exceeds the limits on length or depth.
    """

    title: str
    author: str
    published_at: Millis | None
    content: str
    blocks: tuple[PreviewBlock, ...]
    watched: int
    left_out: int
    matched: int | None
    ignored: tuple[Ignored, ...]
    has: tuple[str, ...]
    partial: bool
    trouble: str | None
    listed: int = 0
    items: tuple[ListedItem, ...] = ()
    values: tuple[FoundValue, ...] = ()


class ShownPart(Struct, frozen=True):
    """The shown part of a page: `selector` and `ignore`, including inherited values. `inherited`: the tags that each
    comes from; a missing one is the source's own.
    """

    selector: str | None
    ignore: tuple[str, ...]
    inherited: dict[str, tuple[str, ...]]


class PushPreview(Struct, frozen=True):
    """The handshake and the first frames. ended: why the session ended early, if it did."""

    subprotocol: str | None
    waited_s: float
    received: int
    frames: tuple[DraftEvent, ...]
    ended: str | None


class PacePreview(Struct, frozen=True):
    """The time of the next check, and the origin's own hints; hours and days in UTC."""

    interval_s: float
    next_look_at: Millis
    max_age_s: float
    ttl_s: float
    skip_hours: tuple[int, ...]
    skip_days: tuple[int, ...]


class RobotsVerdict(Struct, frozen=True):
    """The verdict of robots.txt on a page; it does not apply to feeds and WebSockets."""

    allowed: bool
    crawl_delay_s: float | None
    says: str


class FilledBy(Struct, frozen=True):
    """JSON that filled the rendered page, with its `size` in bytes. A check of its `url` is a plain one."""

    url: str
    size: int


class Rendering(Struct, frozen=True):
    """How a browser is involved; null for a page that is read as sent. `says` is the sentence for people.

    `empty`: the sign that the page is empty without JavaScript, "" if rendering was requested. `done`: the preview
    shows the rendered page. `costs`: plain checks that a rendered one costs.
    """

    says: str
    empty: str
    done: bool
    costs: int
    filled_by: tuple[FilledBy, ...]


class Preview(Struct, frozen=True):
    """The result of a check at `fetched_at`, by tier; one of the first three is set. part: the part of a page, with
    its tags' settings.
    """

    fetched_at: Millis
    feed: FeedPreview | None = None
    page: PagePreview | None = None
    push: PushPreview | None = None
    pace: PacePreview | None = None
    robots: RobotsVerdict | None = None
    rendering: Rendering | None = None
    part: ShownPart | None = None


class Previewed(Struct, frozen=True):
    """A URL's tier and preview. source: the one that already watches it."""

    detection: Detection
    preview: Preview
    source: SourceId | None = None
