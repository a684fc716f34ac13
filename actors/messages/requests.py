"""Users' requests about sources, for the wire and for the registry: one struct for both. Pure.

Fields that the record (`storage/records/source.py`) has under the same name are copied generically; no code lists
them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import force_setattr, replace

from actors.messages.declaring import Declared, option, part_of, patch_of
from storage.records.identity import Managed, given, seconds_of
from storage.records.source import Follow, Inheritable, Render, Source, TagDefaults
from storage.records.tiers import SourceType

_FEED = re.compile(r"\s*feed:(?!\d)(?://)?", re.I)
_BARE = re.compile(r"[\w.-]+(?::[0-9]+)?(?=[/?#]|$)")
_INSIDE = re.compile(r"(?:localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+)(?=[:/?#]|$)", re.IGNORECASE)
"""Hosts of one's own machine or network, which seldom have a certificate."""
Url = Annotated[
    str,
    Meta(min_length=1, max_length=2048, description="http, https, ws or wss", extra_json_schema={"format": "uri"}),
]
Tag = Annotated[str, Meta(min_length=1, max_length=100)]
Tags = Annotated[
    tuple[Tag, ...],
    Meta(
        max_length=50,
        description="Copied to its events; each `<namespace>:<value>`, and a bare word becomes `label:<word>`",
    ),
]
_PART = (
    "The part to watch: of a page (CSS, or XPath 1.0: `//a/@href`, `xpath:count(//li)`), of JSON (JSONPath, RFC 9535: "
    "`$.plans[*].price`), of XML (XPath), of a text (`lines:3-20`, `re:^Version`) or of a document (a path as in its "
    "differences: `path:Prices › Team · Fee`)"
)
Selector = Annotated[
    str,
    Meta(min_length=1, max_length=1000, description=_PART),
    option("The part to watch: CSS, XPath (//h2), JSONPath ($.plans[*].price) or a path; by default all of it."),
]
Ignore = Annotated[
    tuple[Selector, ...],
    Meta(max_length=50, description="Selectors of parts to leave out"),
    option("A part to leave out, written as a selector; repeatable."),
]
Schedule = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,6}[smhd]$(?!\n)",
        description="A fixed interval such as 10m, instead of the adaptive one",
        extra={"form": "a whole number and one of s, m, h and d, such as 10m, 2h or 1d"},
    ),
    option("How often to check, for example 10m or 1d; by default, as often as changes are likely."),
]
Hours = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="Days, hours and a time zone for its checks; at other times only on request",
        examples=["weekdays 08-18 Europe/Stockholm"],
    ),
    option("When to check, for example 'weekdays 08-18 Europe/Stockholm'; by default always."),
]
PushFilter = Annotated[
    str,
    Meta(
        max_length=4096,
        extra_json_schema={"format": "alert-query"},
        description="A query: matching frames of a push source become events, as do those that match an alert. An "
        "empty one admits every frame",
    ),
]
Bar = Annotated[
    float,
    Meta(
        ge=0.2,
        le=0.9,
        description="The threshold: differences from this score on are reported. Lower reports more; null is 0.5",
    ),
    option("For pages: how large a change must be to be reported, 0.2 to 0.9; by default 0.5."),
]
Subprotocol = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$(?!\n)",
        description="A WebSocket subprotocol, a token of RFC 9110",
        extra={"form": "a token of RFC 9110: letters without accents, digits and the signs !#$%&'*+-.^_`|~"},
    ),
]
Subprotocols = Annotated[
    tuple[Subprotocol, ...],
    Meta(max_length=16, description="The subprotocols that a push source's handshake offers, best first"),
]
Hello = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4096,
        description="Sent to a WebSocket after each handshake, such as a subscription; {last_id} becomes the id of the "
        "last admitted frame. A line `---` separates messages: each waits for a frame after the previous one. Never "
        "shown again",
    ),
]
Hellos = Annotated[tuple[Hello, ...], Meta(min_length=1, max_length=8, description="The messages, in order")]
Replies = Annotated[
    tuple[Annotated[str, Meta(min_length=6, max_length=500)], ...],
    Meta(
        max_length=8,
        description="Replies to a WebSocket's pings, each `pattern -> text`; a `*` in the pattern matches any "
        "characters, and inserts them in the text. An answered frame is no event",
        examples=[['{"ping":*} -> {"pong":*}', "2 -> 3"]],
    ),
]
Headers = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=32_768,
        description="Headers of a check or of a WebSocket's handshake, `Name: value`, one per line, to sign in: "
        "`Cookie`, `Authorization`, an API key. With a first line `POST`, the text after an empty line is posted (not "
        "in a handshake). Sent only to the URL's own origin. Never shown again",
        examples=["Authorization: Bearer 3f9a"],
    ),
]
HeadersFor = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=260)], ...],
    Meta(
        max_length=50,
        description="Hosts of other sources that borrow these headers if they have none: names, or `*.` for all "
        "subdomains, over https and wss. With any entry, the URL's own origin is included",
        examples=[["*.members.example"]],
    ),
    option("Send the headers for other sources at this host, too; repeatable."),
]
Follows = Annotated[
    Follow,
    Meta(
        description="`new_links`: report each new item of a list page, each new address of a sitemap and each new "
        "entry of a feed once, with the text of its own page. A page is then read as a list; its other changes are not "
        "reported"
    ),
]
FollowHosts = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=253)], ...],
    Meta(
        max_length=50,
        description="Other hosts whose pages `follow` also fetches, with their subdomains; `*` is every host. Links to "
        "others are reported without the text of their page. `headers` never go there",
        examples=[["news.example"]],
    ),
    option("Also fetch pages of this host ('*': all); repeatable.", "--follow-host"),
]
RenderWish = Annotated[
    Render,
    Meta(
        description="Whether a browser renders the page: `auto` only if it is empty without "
        "its scripts. A rendered "
        "check costs as much as 100 plain ones; feeds are never rendered",
    ),
    option(
        "Whether a browser renders the page before it is read: auto (the default) only if it is empty without "
        "its scripts. A rendered check costs as much as 100 plain ones."
    ),
]
WaitFor = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=500,
        description="A CSS selector that must match before a rendered page is read",
        examples=["#prices li"],
    ),
    option("A CSS selector that must appear before a rendered page is read."),
]
OwnOnly = Annotated[
    tuple[Inheritable, ...],
    Meta(
        max_length=5,
        description="Settings that are not inherited from tags: only the source's own value applies, or none. For "
        "`ignore`, only its own selectors",
        examples=[["hours"]],
    ),
    option("Don't inherit this setting from tags; repeatable."),
]
DefaultDestinations = Annotated[
    tuple[Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})], ...],
    Meta(max_length=20, description="Ids of destinations of any alert"),
]
Screenshots = Annotated[
    bool,
    Meta(
        description="Whether to store a screenshot with each change and at the first check of a rendered page, for "
        "`screenshot_days`"
    ),
]
Title = Annotated[
    str,
    Meta(max_length=200, description="Your own name for it, on one line", examples=["Day tickets"]),
    option("Your name for it; by default its own title."),
]


ManagedBy = Annotated[Managed | None, Meta(description="The files that describe it; see `sanderling apply`")]


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
    """Return a request's settings of a tag's defaults, as `settings_of` does."""
    return _in_seconds(given(request, TagDefaults))


def _in_seconds(settings: dict[str, Any]) -> dict[str, Any]:
    if settings.get("schedule") is not None:
        settings["schedule"] = seconds_of(settings["schedule"])
    return settings
