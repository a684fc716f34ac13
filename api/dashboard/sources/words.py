"""What is shown of a source in words: its state, its kind, how a look went. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from actors.messages.views import SourceView
from storage.records.event import SourceType
from storage.records.source import OWN_NAMESPACES, Source
from storage.records.times import spoken
from storage.records.trail import Verdict

KINDS: Final[dict[SourceType, str]] = {"feed": "feed", "html": "page", "push": "WebSocket"}
STATES: Final = {
    "rotten": "rotten",
    "degraded": "degraded",
    "ok": "ok",
    "overdue": "overdue",
    "resting": "resting after failures",
    "paused": "paused",
}
CAUSES: Final = {"reach": "Answers", "yield": "Brings news", "partial": "Readable", "stuck": "Can recover"}
VERDICTS: Final[dict[Verdict, str]] = {
    Verdict.UNCHANGED: "unchanged",
    Verdict.CHANGED: "news",
    Verdict.NOTHING_TO_TELL: "changed, nothing to tell",
    Verdict.REMOTE_TRANSIENT: "failed",
    Verdict.THROTTLED: "asked to wait",
    Verdict.REMOTE_PERMANENT: "failed, will not mend by itself",
    Verdict.CONTENT: "could not be read",
    Verdict.LOCAL: "our own line was down",
}


class Standing(NamedTuple):
    """A source's state: a word with its mood, and the sentence that explains it."""

    word: str
    mood: str
    says: str


def standing(view: SourceView) -> Standing:
    """Return how a source stands: what keeps it from being watched first, else its health."""
    source, hot = view.source, view.hot
    if not source.enabled:
        return Standing("paused", "calm", f"Not watched since {spoken(source.updated_at)}.")
    if hot.health.flag != "ok":
        return Standing(hot.health.flag, "bad" if hot.health.flag == "rotten" else "warn", hot.health.reason)
    if view.overdue:
        return Standing("overdue", "warn", "A look was due and has not happened yet.")
    if hot.last_look_at is None:
        return Standing("new", "calm", "It has not been looked at yet.")
    return Standing("ok", "good", hot.last_error or hot.health.reason)


def name_of(source: Source) -> str:
    """Return the user's own name for a source, else what it calls itself, else its address without the scheme."""
    return shown_as(source.name, source.url)


def shown_as(name: str, url: str) -> str:
    """Return the name of something that has an address, or else that, without its scheme.

    >>> shown_as("", "https://shop.example/tickets")
    'shop.example/tickets'
    """
    return name or url.partition("://")[2]


def labels(source: Source) -> tuple[str, ...]:
    """Return the tags that the user has given, labels as the bare words that they were."""
    theirs = (tag for tag in source.tags if tag.partition(":")[0] not in OWN_NAMESPACES)
    return tuple(tag.removeprefix("label:") for tag in theirs)


def sentence(text: str) -> str:
    """Return what is said as a sentence.

    >>> sentence("again in 42 s")
    'Again in 42 s.'
    """
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?")) else ".")


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "source"), counted(1200, "source")
    ('1 source', '1,200 sources')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"
