"""Material for the log's benchmark: drafts of natural size, ids from the real clock, folders filled by bare SQL."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from actors.signatures import Signer, new_signing_key
from storage.records.event import Draft, Event
from storage.records.identity import COUNTER_BITS, START, Millis, Seq, SourceId, id_of, rfc3339
from storage.records.source import Detection, Harvest, Source, SourceRuntime, SourceState
from storage.sqlite import open_keys
from storage.sqlite.engine import DATABASE

SOURCES = 1_000
NOW = Millis(1_800_000_000_000)
SIGNED_AT = rfc3339(NOW)
SIGNER = Signer(new_signing_key(b"bench" + b"." * 27, NOW))
WORDS = ["".join(random.Random(n).choices("abcdefghiklmnoprstuv", k=2 + n % 9)) for n in range(4_000)]


def a_draft(chance: random.Random, size: int) -> Draft:
    content = " ".join(chance.choices(WORDS, k=max(1, (size - 700) // 7)))
    url = f"https://news{chance.randrange(500)}.example/{chance.getrandbits(40)}"
    tags = (f"topic:{chance.randrange(40)}", f"region:{chance.randrange(20)}")
    return Draft(
        source_type="feed",
        source_url="https://news.example/feed.xml",
        url=url,
        title=" ".join(chance.choices(WORDS, k=8)),
        author="A. Writer",
        content=content,
        content_truncated=False,
        content_hash="sha256:" + "ab" * 32,
        simhash=chance.getrandbits(53),
        tags=tags,
        published_at=NOW,
        fetched_at=NOW,
    )


def an_event(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> Event:
    return Event(
        schema="https://sanderling.example/schemas/stream-event/1.json",
        id=event_id,
        source_id=source,
        source_type=draft.source_type,
        source_url=draft.source_url,
        url=draft.url,
        title=draft.title,
        author=draft.author,
        content=draft.content,
        content_hash=draft.content_hash,
        simhash=draft.simhash,
        tags=draft.tags,
        published_at=SIGNED_AT,
        fetched_at=SIGNED_AT,
        emitted_at=SIGNED_AT,
        schema_version=1,
        signed_at=SIGNED_AT,
        key_id="k" * 43,
    )


def signed(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    return SIGNER.sign(an_event(seq, event_id, source, draft), NOW)


def unsigned(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    return msgspec.json.encode(an_event(seq, event_id, source, draft))


class Mint:
    """Ids from the real clock, made like the recorder's."""

    def __init__(self) -> None:
        self.last = START
        self.tail = random.Random(1).getrandbits

    def raise_floor(self, floor: Seq) -> None:
        self.last = max(self.last, floor)

    def mint(self) -> tuple[Seq, str]:
        self.last = Seq(max(self.last + 1, time.time_ns() // 1_000_000 << COUNTER_BITS))
        return self.last, id_of(self.last, self.tail(59))


def source_id(number: int) -> SourceId:
    return SourceId(id_of(Seq((NOW + number) << COUNTER_BITS), number))


HOT = SourceRuntime(looks=100, events=5, last_look_at=NOW, next_look_at=NOW, pace=b"p" * 100, pulse=b"q" * 100)
DRAFTS = [a_draft(random.Random(n), 2_048) for n in range(500)]


def a_harvest(number: int, draft: Draft, base: bytes | None = None) -> Harvest:
    source = source_id(number)
    return Harvest(source, (draft,), SourceState(source, HOT, base))


def seeded(
    folder: Path, sources: int = SOURCES, base: int = 0, events: int = 0, drafts: Sequence[Draft] = DRAFTS
) -> Path:
    """Make a data folder with so many sources and events, by bare SQL."""
    open_keys(folder).close()
    c = sqlite3.connect(folder / DATABASE, isolation_level=None)
    c.execute("PRAGMA synchronous=OFF")
    c.execute("PRAGMA cache_size=-400000")
    c.execute("BEGIN")
    hot, chance = msgspec.msgpack.encode(HOT), random.Random(1)
    detection = Detection("feed", "high", "The body is RSS 2.0.", "https://x.example/", "application/rss+xml")
    for n in range(sources):
        url = f"https://host{n}.example/feed.xml"
        source = Source(source_id(n), url, url, "feed", detection, NOW, NOW, tags=("topic:a",))
        c.execute("INSERT INTO source_key VALUES(?,?)", (n, source.id))
        c.execute("INSERT INTO source(key, url, body) VALUES(?,?,?)", (n, url, msgspec.json.encode(source)))
        c.execute("INSERT INTO source_hot(key, body) VALUES(?,?)", (n, hot))
        c.execute("INSERT INTO source_base VALUES(?,?)", (n, chance.randbytes(base)))
    bodies = [unsigned(START, id_of(START, 1), source_id(1), draft) for draft in drafts]
    first = NOW - 86_400_000 << COUNTER_BITS
    insert = "INSERT INTO log VALUES(?,?,1,0,?)"
    c.executemany(insert, ((first + n, chance.randrange(sources), bodies[n % len(bodies)]) for n in range(events)))
    c.execute("COMMIT")
    c.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    c.close()
    return folder
