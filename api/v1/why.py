"""Why an event was emitted, why a text was not, and feedback such as "this was noise"."""

from __future__ import annotations

import msgspec
from msgspec import UNSET

from actors.errors import Unprocessable
from actors.messages.views import SourceExplanation
from api.operations import events, publications, sources
from api.operations import why as operations
from api.problems import Refusal
from api.route import Answer, Call, Route
from api.schemas import why as wire
from api.v1.sources import time_or_null
from storage.records.event import Event
from storage.records.identity import SourceId

_event = msgspec.json.Decoder(Event)


async def event_why(call: Call) -> Answer:
    named = call.key is not None and "alerts:read" in call.key.scopes
    return Answer(await operations.event_why(call, call.path["id"], named=named))


# --- why not? --------------------------------------------------------------------------------------------------------


async def source_why(call: Call) -> Answer:
    """Explain why a text was not reported."""
    query: wire.WhyQuery = call.query
    if query.look and (call.key is None or "sources:write" not in call.key.scopes):
        raise Refusal("forbidden", "Looking again now (`look`) needs the scope sources:write.")
    return Answer(explanation_of(query.text, await sources.explain(call, call.path["id"], query.text, look=query.look)))


def explanation_of(text: str, found: SourceExplanation) -> wire.SourceWhy:
    """Return in the wire format why a text was not reported."""
    reasons = tuple(
        wire.KnownReason(kind=one.kind, says=one.says, at=time_or_null(one.at), event_id=one.event, text=one.text)
        for one in found.reasons
    )
    best = [reasons[0].says] if text.strip() and reasons else []
    return wire.SourceWhy(
        id=found.view.source.id,
        url=found.view.source.url,
        title=found.view.source.name,
        type=found.view.source.type,
        says=" ".join([*best, found.state]),
        state=found.state,
        reasons=reasons,
    )


# --- feedback --------------------------------------------------------------------------------------------------------


async def feedback(call: Call) -> Answer:
    """Learn that a page's event was noise, or real after all."""
    stored = await events.named(call, call.path["id"])
    event = _event.decode(stored.body)
    verdict: wire.FeedbackVerdict = call.body.verdict
    if event.source_type != "html" or event.alert_type is not UNSET:
        raise Unprocessable(_no_page(event), "path.id", event.id)
    texts = _texts(event)
    learned = await sources.teach(call, SourceId(stored.source), texts, noise=verdict == "noise")
    if verdict == "noise":
        await publications.retract(call, stored, event.id)
    else:
        await publications.restore(call, stored)
    return Answer(
        wire.Lesson(
            event_id=event.id,
            source_id=event.source_id,
            verdict=verdict,
            noise_count=len(learned.view.source.noise),
            says=_learned(verdict, len(texts), learned.blocks),
        )
    )


def _texts(event: Event) -> tuple[str, ...]:
    """Return the added, removed or changed texts, each once."""
    if event.delta is UNSET:
        return ()
    texts = (text for op in event.delta.ops for text in (op.text, op.before, op.after))
    return tuple(dict.fromkeys(text for text in texts if isinstance(text, str)))


def _learned(verdict: wire.FeedbackVerdict, texts: int, keys: int) -> str:
    if verdict == "real":
        if not keys:
            return "Nothing of this event was marked as noise: it is told as it was."
        return f"The {texts} blocks of this event are no longer noise: when they come or go, that counts again."
    if not keys:
        return f"The {texts} blocks of this event were noise already."
    return (
        f"The {texts} blocks of this event are noise from now on, also with other figures in them (prices and versions "
        "excepted): when they come or go, that counts for nothing. Whatever else changes on the page is told as before."
    )


def _no_page(event: Event) -> str:
    if event.alert_type is not UNSET:
        return "This is a notice of the service itself; an alert chooses which of them it wants (`notices`)."
    what = (
        "A feed's entries are told because they are new" if event.source_type == "feed" else "Frames are told by query"
    )
    return f"{what}, so there is nothing to learn: leave such ones out by an alert's query (`-word`)."


ROUTES = (
    Route(
        method="GET",
        path="/v1/sources/{id}/why",
        scope="sources:read",
        run=source_why,
        says="Ask why a text was not told.",
        answers={200: wire.SourceWhy},
        query=wire.WhyQuery,
        refuses=("not-found",),
    ),
    Route(
        method="GET",
        path="/v1/events/{id}/why",
        scope="stream:read",
        run=event_why,
        says="Ask why an event was emitted.",
        answers={200: wire.EventWhy},
        refuses=("not-found",),
    ),
    Route(
        method="POST",
        path="/v1/events/{id}/feedback",
        scope="sources:write",
        run=feedback,
        says="Say that a page's event was noise, or real after all.",
        answers={200: wire.Lesson},
        body=(wire.Feedback,),
        refuses=("not-found", "unprocessable"),
    ),
)
