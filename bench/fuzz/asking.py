"""User input: queries, cursors, stream filters, bodies; and the frames sent back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cache
from unicodedata import category
from urllib.parse import quote_plus

import httpx
import msgspec
import trio
from httpx_sse import EventSource, ServerSentEvent

from actors.messages.requests import NewSource
from actors.query import AnalysedText, QueryError, Texts, decode_event, languages, matches, parse
from actors.query.explain import explain
from actors.query.parts import TextPart
from actors.query.syntax import All, Node, Not, Phrase, Word, units
from actors.query.syntax import Any as AnyOf
from actors.query.words import LONGEST
from api.fields.alerts import NewAlert
from api.fields.queries import StreamQuery
from api.nouns.events import event_filter_of
from api.pagination import decode_cursor, encode_cursor
from api.problems import Refusal
from api.streams import reader
from api.streams.sse import event_frame, frames
from api.validation import read_body, read_query
from bench.fuzz import examples
from bench.fuzz.chance import Chance
from storage.records.event import Stored
from storage.records.identity import Seq, SourceId, id_of, seq_of
from storage.records.tiers import TIERS, Kind, SourceType

SIGNS = ("AND", "OR", "NOT", "(", ")", '"', "“", "”", "-", "−", "*", "&", "|", ".", ",", "@", "+")
WORDS = (
    "price",
    "priser",
    "förelägganden",
    "C++",
    "3.14",
    "e-post",
    "東京",
    "한국",
    "👩\u200d💻",
    "it",
    "a",
    "x" * 60,
    "ＡＢ",
)
SOURCES = tuple(f"019db0a4-5c00-7000-8000-00000000000{n}" for n in range(3))
TAGS = ("topic:prices", "label:a", "ä,b", "", "%")
TARGETS = ("/v1/sources?limit=2", "/v1/sources?tag=a&limit=5", "/v1/events", "/v1/sources?tag=%C3%A4", "/v1/x?a=&a=b")


def a_query(chance: Chance) -> tuple[str, str, str]:
    """Return a query, its language, and a text."""
    words = [chance.choice(SIGNS if chance.often(0.35) else WORDS) for _ in range(chance.choice((1, 2, 4, 9, 40)))]
    text = chance.choice((" ", "", " ")).join(words)
    if chance.often(0.4):
        text = chance.bent_text(text) if chance.often(0.5) else chance.text(30)
    about = " ".join(chance.choice((*WORDS, *examples.PROSE)) for _ in range(chance.randrange(6))) + chance.text(10)
    return text[:5000], chance.choice(sorted(languages())), about


def query(case: tuple[str, str, str]) -> None:
    """It is refused at a position, or parsed and printed with the same meaning; excerpts match the text."""
    text, language, about = case
    try:
        asked = parse(text, language)
    except QueryError as error:
        assert 1 <= error.position <= len(text) + 1
        assert error.reason
        return
    # A mark on an unspaced script is printed as a separate word, and a long word is cut.
    if not any(category(sign)[0] == "M" for sign in text) and all(
        len(unit.text) < LONGEST for unit in units(asked.root)
    ):
        again = parse(str(asked), language)
        assert _meaning(again.root) == _meaning(asked.root), str(asked)
    analysed = AnalysedText("", about)
    if matches(asked, analysed):
        why = explain(asked, (TextPart("title", ""), TextPart("content", about)), analysed)
        for excerpt in why.content:
            assert about[excerpt.start : excerpt.start + len(excerpt.text)] == excerpt.text
            assert all(0 <= start < end <= len(about) for start, end in excerpt.marks)


def _meaning(node: Node) -> object:
    """Return a query's meaning without the spelling of its words."""
    match node:
        case Word(_, keys):
            return keys
        case Phrase(steps):
            return [[[_meaning(unit) for unit in path] for path in step] for step in steps]
        case Not(part):
            return "not", _meaning(part)
        case All(parts) | AnyOf(parts):
            return type(node).__name__, [_meaning(part) for part in parts]
        case _:
            return node


def a_cursor(chance: Chance) -> tuple[tuple[int, str], str, str, str]:
    """Return a position, two requests, and a corrupted cursor text."""
    position = (chance.randrange(1 << chance.choice((1, 41, 62))), chance.utf8(20))
    text = encode_cursor(position, (target := chance.choice(TARGETS)))
    return position, target, chance.choice(TARGETS), chance.bent_text(text) if chance.often(0.8) else chance.text(40)


def cursor(case: tuple[tuple[int, str], str, str, str]) -> None:
    """It returns its position only to its own request; corrupted ones give 400."""
    position, target, other, bent = case
    text = encode_cursor(position, target)
    assert decode_cursor(text, tuple[int, str], target) == position
    for asked, where in ((text, other), (bent, target), (bent, other)):
        try:
            found = decode_cursor(asked, tuple[int, str], where)
        except Refusal as refusal:
            assert refusal.status == 400
        else:
            assert found == position
            assert where.partition("?")[0] == target.partition("?")[0]
    seq = Seq(position[0])
    assert seq_of(id_of(seq, 7)) == seq
    with suppress(ValueError):
        assert id_of(seq_of(bent), 0)[:18] == bent.lower()[:18]


def a_filter(chance: Chance) -> bytes:
    """Return the query string of a stream request."""
    values = {
        "source": (*SOURCES, "019db0a4-5c00.*", ".*", "ABC.*", chance.utf8(8)),
        "source_type": ("push", "feed", "html", "HTML"),
        "tag": (*TAGS, chance.utf8(8)),
        "keyword": (*WORDS, '"two words"', "pric*", chance.utf8(10)),
        "since": ("earliest", id_of(Seq(5), 1)),
        chance.utf8(4): ("1",),
    }
    names = [chance.choice([*list(values)[:4], *values]) for _ in range(chance.choice((0, 1, 1, 2, 3, 60)))]
    raw = "&".join(f"{quote_plus(name)}={quote_plus(chance.choice(values[name]))}" for name in names).encode()
    return chance.bent(raw) if chance.often(0.3) else raw


@cache
def _stored() -> Sequence[Stored]:
    found = []
    told: tuple[tuple[SourceType, int], ...] = (
        ("feed", TIERS["feed"].kinds[0]),
        ("html", TIERS["html"].kinds[0]),
        ("push", TIERS["push"].kinds[0]),
        ("feed", Kind.NOTICE),
    )
    for number, ((tier, kind), source) in enumerate(zip(told, (*SOURCES, SOURCES[0]), strict=True)):
        seq = Seq(number + 1)
        said = {"content": examples.PROSE[number], "tags": list(TAGS[: number + 1]), "title": WORDS[number]}
        body = json.dumps({**said, "id": id_of(seq, 1), "source_id": source, "source_type": tier}).encode()
        found.append(Stored(seq, SourceId(source), kind, body))
    return found


def event_filter(case: bytes) -> None:
    """It gives 400, or passes exactly the events that the parameters describe."""
    try:
        asked = read_query(case, StreamQuery)
        found = event_filter_of(
            asked.source, asked.source_type, asked.tag, asked.keyword, reader.Texts(), languages=("en", "simple")
        )
    except Refusal as refusal:
        assert refusal.status == 400
        assert refusal.errors
        return
    for event in _stored():
        assert trio.run(found.admits, event) == _passes(asked, event), event


def _passes(asked: StreamQuery, event: Stored) -> bool:
    said = json.loads(event.body)
    of = [
        s.lower() == event.source or (s.endswith(".*") and event.source.startswith(s[:-2].lower()))
        for s in asked.source
    ]
    whole = [s.replace("-", "").strip("{}").removeprefix("urn:uuid:").lower() for s in asked.source]
    if asked.source and not any(of) and event.source.replace("-", "") not in whole:
        return False
    if asked.source_type and said["source_type"] not in asked.source_type:
        return False
    tags = {tag if ":" in tag else f"label:{tag}" for tag in asked.tag}
    if tags and not tags & set(said["tags"]):
        return False
    if not asked.keyword:
        return True
    text = Texts(decode_event(event.body)).of("page")
    terms = [word if '"' in word or "*" in word else f'"{word}"' for word in asked.keyword]
    queries = [parse(term, language) for term in terms for language in ("en", "simple")]
    return event.kind != Kind.NOTICE and any(matches(each, text) for each in queries)


def a_stream(chance: Chance) -> tuple[list[bytes], list[int]]:
    """Return events' bodies, and where the network cuts their frames."""
    bodies = []
    for number in range(1 + chance.randrange(4)):
        said = {
            "content": chance.utf8(80),
            "id": id_of(Seq(number + 1), 1),
            "source_type": "feed",
            "title": chance.utf8(20),
        }
        if chance.often(0.3):
            said["content"] = ',"id":"' + said["content"] + '"source_type":"'
        bodies.append(msgspec.json.encode(said, order="sorted"))
    return bodies, [chance.randrange(1 + sum(map(len, bodies))) for _ in range(chance.choice((0, 1, 5, 40)))]


def sse(case: tuple[list[bytes], list[int]]) -> None:
    """However the network cuts it, a reader gets each event once, whole, with its id; other bytes do no harm."""
    bodies, places = case
    raw = frames(bodies, "sse")
    assert raw == b"".join(map(event_frame, bodies))
    told = _read(raw[start:end] for start, end in zip([0, *sorted(places)], [*sorted(places), len(raw)], strict=True))
    assert [json.loads(event.data) for event in told] == [json.loads(body) for body in bodies]
    assert [event.id for event in told] == [json.loads(body)["id"] for body in bodies]
    assert len(frames(bodies, "ndjson").decode().splitlines()) == len(bodies)
    _read([b"".join(bodies)])


def _read(pieces: Iterable[bytes]) -> Sequence[ServerSentEvent]:
    answer = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=pieces)
    return [event for event in EventSource(answer).iter_sse() if event.data]


BODIES: Sequence[bytes] = (
    b'{"url": "https://shore.example/", "title": "Shore", "tags": ["topic:a"], "selector": "main", "backfill": 5}',
    b'{"filter_query": "price OR \xe4", "language": "sv", "name": "A", "enabled": true, "match": "change"}',
    b'{"url": "wss://shore.example/", "schedule": {"every": "5m"}, "ignore": [".x"], "hello": {"a": [1, 2.5, null]}}',
)


def a_body(chance: Chance) -> bytes:
    return chance.bent(chance.choice(BODIES), BODIES)


def body(case: bytes) -> None:
    """It gives 400 with locations, or the requested record; quoted parts are short."""
    for kind in (NewSource, NewAlert):
        try:
            found = read_body(case, "application/json", (kind,))
        except Refusal as refusal:
            assert refusal.status == 400
            assert refusal.errors
            msgspec.json.encode(refusal.errors)
        else:
            json.loads(case)
            msgspec.json.encode(found)
