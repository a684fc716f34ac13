"""Small records to store. Positions and ids come from a counter, so tests can predict them."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from extras.publish.hub import Subscription
from storage.records.access import ApiKey, SigningKey
from storage.records.alert import Alert
from storage.records.bin import Bin, Capture
from storage.records.destination import Destination, Secret
from storage.records.event import Draft
from storage.records.identity import COUNTER_BITS, Millis, Seq, SourceId, id_of
from storage.records.publication import Publication, hash_of
from storage.records.source import Detection, Harvest, Source, SourceRuntime, SourceState

NOW = Millis(1_800_000_000_000)


class CountingMint:
    """Positions that rise by one from a fixed time."""

    def __init__(self, start: int = NOW << COUNTER_BITS) -> None:
        self.last = Seq(start)
        self.floors: list[Seq] = []

    def raise_floor(self, floor: Seq) -> None:
        self.floors.append(floor)
        self.last = max(self.last, floor)

    def mint(self) -> tuple[Seq, str]:
        self.last = Seq(self.last + 1)
        return self.last, id_of(self.last, 5)


def stamp(seq: Seq, event_id: str, source: SourceId, draft: Draft) -> bytes:
    body = {"content": draft.content, "id": event_id, "source_id": source, "tags": draft.tags, "title": draft.title}
    return msgspec.json.encode(body, order="sorted")


def a_source_id(number: int) -> SourceId:
    return SourceId(id_of(Seq((NOW + number) << COUNTER_BITS), number))


def a_source(number: int = 1, **changes: object) -> Source:
    url = f"https://news{number}.example/feed"
    detection = Detection("feed", "high", "The body is RSS 2.0.", url, "application/rss+xml")
    source = Source(a_source_id(number), url, url, "feed", detection, NOW, NOW)
    return msgspec.structs.replace(source, **changes)


def a_state(number: int = 1, base: bytes | None = None, **hot: object) -> SourceState:
    return SourceState(a_source_id(number), msgspec.structs.replace(SourceRuntime(), **hot), base)


def a_draft(title: str = "news", tags: tuple[str, ...] = (), **changes: object) -> Draft:
    draft = Draft(
        source_type="feed",
        source_url="https://news.example/feed",
        url="https://news.example/1",
        title=title,
        author="",
        content="text",
        content_truncated=False,
        content_hash="sha256:00",
        simhash=1,
        tags=tags,
        published_at=None,
        fetched_at=NOW,
    )
    return msgspec.structs.replace(draft, **changes)


def a_harvest(number: int, *drafts: Draft | str, base: bytes | None = None, **hot: object) -> Harvest:
    made = tuple(a_draft(draft) if isinstance(draft, str) else draft for draft in drafts)
    return Harvest(a_source_id(number), made, a_state(number, base, **hot))


def harvests_of(number: int, titles: Iterator[str] | range) -> list[Harvest]:
    return [a_harvest(number, str(title)) for title in titles]


def an_alert(name: str = "alert", created_at: int = NOW, **changes: object) -> Alert:
    alert = Alert(name, name, "price OR plan", "en", (), Millis(created_at), Millis(created_at))
    return msgspec.structs.replace(alert, **changes)


def a_destination(name: str = "hook", alert: str = "alert", **changes: object) -> Destination:
    url = f"https://{name}.example/in"
    destination = Destination(name, alert, "webhook", url, "instant", name, (Secret("whsec_x"),), NOW, NOW)
    return msgspec.structs.replace(destination, **changes)


def an_api_key(name: str = "key", created_at: int = NOW, **changes: object) -> ApiKey:
    key = ApiKey(name, name, "svc_abcdefgh", f"hash of {name}", ("stream:read",), Millis(created_at))
    return msgspec.structs.replace(key, **changes)


def a_signing_key(name: str, created_at: int = NOW) -> SigningKey:
    return SigningKey(name, b"s" * 32, Millis(created_at))


def a_bin(name: str = "bin", expires_at: int = NOW + 1000, **changes: object) -> Bin:
    bin = Bin(name, f"token of {name}", NOW, Millis(expires_at))
    return msgspec.structs.replace(bin, **changes)


def a_publication(name: str = "one", **changes: object) -> Publication:
    token = f"token of {name}"
    publication = Publication(name, f"Title of {name}", hash_of(token), NOW, NOW, token=token)
    return msgspec.structs.replace(publication, **changes)


def a_subscription(name: str = "s", **changes: object) -> Subscription:
    subscription = Subscription(
        id=name,
        publication="one",
        token_hash=a_publication().token_hash,
        ending="atom",
        callback="https://callback.test/in?x=1",
        created_at=NOW,
        expires_at=Millis(NOW + 1_000),
        secret="a secret",
    )
    return msgspec.structs.replace(subscription, **changes)


def a_capture(body: bytes = b"{}", **changes: object) -> Capture:
    headers = (("webhook-id", "1"), ("x", "å"), ("x", "2"))
    capture = Capture("id", NOW, "POST", "/bins/t/in", "a=1", headers, body, len(body))
    return msgspec.structs.replace(capture, **changes)
