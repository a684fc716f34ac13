"""The display of a source: its state, its kind, its checks. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from actors.messages.views import SourceView
from api.dashboard.language.speaking import noted
from storage.records.source import OWN_NAMESPACES, Source
from storage.records.states import HEALTH, SOURCES, State
from storage.records.tiers import TIERS
from storage.records.times import spoken

KINDS: Final = {name: tier.noun for name, tier in TIERS.items()}
CAUSES: Final = {
    "reach": noted("Answers"),
    "yield": noted("Brings news"),
    "partial": noted("Readable"),
    "stuck": noted("Can recover"),
}


class Standing(NamedTuple):
    """A source's state, and its explanation."""

    state: State
    says: str


def standing(view: SourceView) -> Standing:
    state = SOURCES[view.state]
    if not view.source.enabled:
        return Standing(state, f"Not watched since {spoken(view.source.updated_at)}.")
    if view.state in ("failing", "resting", "throttled", "unrendered"):
        return Standing(state, sentence(view.hot.last_error or view.hot.health.reason))
    return Standing(state, state.says)


def health(view: SourceView) -> Standing | None:
    """Return the health of a source with the reason, or None at full health."""
    found = view.hot.health
    return None if found.score == 1.0 and found.flag == "ok" else Standing(HEALTH[found.flag], found.reason)


def name_of(source: Source) -> str:
    """Return the user's name for a source, else its own title, else its address without the scheme."""
    return shown_as(source.name, source.url)


def shown_as(name: str, url: str) -> str:
    """Return a name, else the address without its scheme.

    >>> shown_as("", "https://shop.example/tickets")
    'shop.example/tickets'
    """
    return name or url.partition("://")[2]


def labels(source: Source) -> tuple[str, ...]:
    """Return the user's tags, labels without their namespace."""
    theirs = (tag for tag in source.tags if tag.partition(":")[0] not in OWN_NAMESPACES)
    return tuple(tag.removeprefix("label:") for tag in theirs)


def sentence(text: str) -> str:
    """Return text with a capital and a full stop.

    >>> sentence("again in 42 s")
    'Again in 42 s.'
    """
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")
