"""The tiers, one row each; no other module lists them. Pure.

`actors/sources/` implements them; a row has what all other parts need to know.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

SourceType = Literal["push", "feed", "html"]
"""Names of the tiers on the wire, spelt out for the type checker; `TIERS` has a row for each."""
Setting = Literal[
    "selector",
    "ignore",
    "bar",
    "noise",
    "schedule",
    "hours",
    "filter",
    "subprotocols",
    "hello",
    "replies",
    "headers",
    "headers_for",
    "render",
    "wait_for",
    "screenshots",
    "follow",
    "follow_hosts",
    "own_only",
]
"""Fields of a source that only some tiers have."""
Colour = Literal["green", "cyan", "magenta"]


class Kind:
    """Values of the log's `kind` column: one per source tier, notices, practice, heartbeats, and held entries. Held
    entries are new only because their whole feed is (`RESET`); no alert matches them. Readers get heartbeats only on
    request.
    """

    FEED = 1
    HTML = 2
    PUSH = 3
    NOTICE = 4
    PRACTICE = 5
    HELD = 6
    HEARTBEAT = 7


class Tier(NamedTuple):
    """The properties of a tier. kinds: of its events in the log, the ordinary one first. schemes: of its URLs. polled:
    it is checked repeatedly; otherwise it has an open connection. has_diff: an event is the difference of two versions.
    has_entries: a body lists entries, which become an event each. settings: those a user may set in addition to every
    source's. noun, plural: its names for people. outline: its `type` in OPML. colour: of its lines in a terminal.
    """

    kinds: tuple[int, ...]
    schemes: tuple[str, ...]
    polled: bool
    has_diff: bool
    has_entries: bool
    settings: frozenset[Setting]
    noun: str
    plural: str
    outline: str
    colour: Colour


_WEB: Final = ("http", "https")
SOCKETS: Final = ("ws", "wss")  # WebSocket schemes. Other streams use HTTP.
_FEED: Final = frozenset[Setting]({"schedule", "hours", "headers", "headers_for", "follow", "follow_hosts", "own_only"})
_PUSH: Final = frozenset[Setting]({"filter", "subprotocols", "hello", "replies", "headers", "headers_for"})
_PAGE: Final = frozenset[Setting](get_args(Setting)) - {"filter", "subprotocols", "hello", "replies"}
TIERS: Final[dict[SourceType, Tier]] = {
    "push": Tier(
        (Kind.PUSH,), (*SOCKETS, *_WEB), False, False, False, _PUSH, "WebSocket", "WebSockets", "push", "magenta"
    ),
    "feed": Tier((Kind.FEED, Kind.HELD), _WEB, True, False, True, _FEED, "feed", "Feeds", "rss", "green"),
    "html": Tier((Kind.HTML,), _WEB, True, True, False, _PAGE, "page", "Pages", "page", "cyan"),
}
assert TIERS.keys() == set(get_args(SourceType))
POLLED: Final = frozenset(name for name, tier in TIERS.items() if tier.polled)
WITH_DIFF: Final = frozenset(name for name, tier in TIERS.items() if tier.has_diff)
WITH_ENTRIES: Final = frozenset(name for name, tier in TIERS.items() if tier.has_entries)
ORDINARY: Final = tuple(tier.kinds[0] for tier in TIERS.values())
"""The log's kinds of ordinary source events, without held ones."""
WATCHED: Final = tuple(kind for tier in TIERS.values() for kind in tier.kinds)  # the log's kinds of all source events

UNASKED: Final = (*WATCHED, Kind.NOTICE, Kind.PRACTICE)
"""The log's kinds that readers get by default: all but heartbeats."""


def tier_of(kind: int) -> SourceType | None:
    """Return the tier whose sources emit events of a kind; None for kinds of the service itself."""
    return next((name for name, tier in TIERS.items() if kind in tier.kinds), None)
