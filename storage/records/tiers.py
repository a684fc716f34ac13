"""The tiers: what a source can be, one row each. Nothing else in the program lists them.

Pure. What a tier does is in `actors/sources/`; a row here says what everybody may know of it.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, get_args

SourceType = Literal["push", "feed", "html"]
"""The tiers by their names on the wire. A type has to be written out; `TIERS` has a row for each."""
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
    """What the log's `kind` column tells apart: source tiers, the service's own notices, what is only practice,
    entries that are new only because their whole feed is (`RESET`), which no alert gets, and heartbeats, which nobody
    gets who has not asked for them.
    """

    FEED = 1
    HTML = 2
    PUSH = 3
    NOTICE = 4
    PRACTICE = 5
    HELD = 6
    HEARTBEAT = 7


class Tier(NamedTuple):
    """What a kind of source is.

    kinds: of its events in the log; the first is that of an ordinary one. schemes: of its URLs. polled: it is looked at
    again and again; otherwise its connection is held. settings: what a user may set of it besides what every source
    has. noun, plural: its name for people. outline: its `type` in a list of feeds (OPML). colour: of its lines in a
    terminal.
    """

    kinds: tuple[int, ...]
    schemes: tuple[str, ...]
    polled: bool
    settings: frozenset[Setting]
    noun: str
    plural: str
    outline: str
    colour: Colour


_WEB: Final = ("http", "https")
SOCKETS: Final = ("ws", "wss")
"""Schemes of WebSockets. Other streams go over HTTP."""
_PAGE: Final = frozenset[Setting](
    {
        "selector",
        "ignore",
        "bar",
        "noise",
        "schedule",
        "hours",
        "headers",
        "headers_for",
        "render",
        "wait_for",
        "screenshots",
        "follow",
        "follow_hosts",
        "own_only",
    }
)
_FEED: Final = frozenset[Setting]({"schedule", "hours", "headers", "headers_for", "follow", "follow_hosts", "own_only"})
_PUSH: Final = frozenset[Setting]({"filter", "subprotocols", "hello", "replies", "headers", "headers_for"})
TIERS: Final[dict[SourceType, Tier]] = {
    "push": Tier((Kind.PUSH,), (*SOCKETS, *_WEB), False, _PUSH, "WebSocket", "WebSockets", "push", "magenta"),
    "feed": Tier((Kind.FEED, Kind.HELD), _WEB, True, _FEED, "feed", "Feeds", "rss", "green"),
    "html": Tier((Kind.HTML,), _WEB, True, _PAGE, "page", "Pages", "page", "cyan"),
}
assert TIERS.keys() == set(get_args(SourceType))
POLLED: Final = frozenset(name for name, tier in TIERS.items() if tier.polled)
ORDINARY: Final = tuple(tier.kinds[0] for tier in TIERS.values())
"""The log's kinds of what sources told, without what is held."""
WATCHED: Final = tuple(kind for tier in TIERS.values() for kind in tier.kinds)
"""The log's kinds of all that came from sources."""

UNASKED: Final = (*WATCHED, Kind.NOTICE, Kind.PRACTICE)
"""The log's kinds of all that readers get without asking: everything but heartbeats."""


def tier_of(kind: int) -> SourceType | None:
    """Return the tier whose sources make events of a kind of the log; None for what no source told."""
    return next((name for name, tier in TIERS.items() if kind in tier.kinds), None)
