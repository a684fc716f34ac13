"""The event of a test delivery: signed and shaped like any other; only its content and tag tell."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from actors.signatures.event import Signer
from storage.records.event import Event
from storage.records.identity import COUNTER_BITS, Millis, Seq, id_of, rfc3339, seq_at

if TYPE_CHECKING:
    import random

CONTENT = "This is a test delivery. It has the shape and both signatures of a live one; its event is in no stream."


def sample(signer: Signer, base_url: str, now: Millis, chance: random.Random) -> tuple[str, bytes]:
    """Return a sample event's id and its wire JSON."""
    id = id_of(Seq(seq_at(now) + chance.randrange(1 << COUNTER_BITS)), chance.getrandbits(59))
    event = Event(
        schema=f"{base_url}/schemas/stream-event/1.json",
        id=id,
        source_id=id_of(seq_at(now), chance.getrandbits(59)),
        source_type="html",
        source_url=base_url,
        url=base_url,
        title="Test delivery",
        summary="Test delivery",
        author="",
        content=CONTENT,
        content_hash="sha256:" + sha256(CONTENT.encode()).hexdigest(),
        simhash=0,
        tags=("kind:test",),
        published_at=None,
        fetched_at=rfc3339(now),
        emitted_at=rfc3339(now),
        schema_version=1,
    )
    return id, signer.sign(event, now)
