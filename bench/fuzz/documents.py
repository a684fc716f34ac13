"""Bodies of documents: feeds, pages, lists of feeds, frames, and deltas between texts."""

from __future__ import annotations

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from actors.content.bodies.frames import MOST_SMALL, cap_content, read_frames
from actors.content.changes.diff import MOST_CHARACTERS, MOST_OPS, DiffContexts, compare
from actors.content.detection import detect
from actors.content.errors import ContentError
from actors.content.feeds import MOST_ENTRIES, read_feed, read_outline
from actors.content.messages import PageRequest, StandingRequest
from actors.content.pages.blocks import MOST_BLOCKS
from actors.content.pages.page import preview_page
from actors.content.pages.plain import read_file
from actors.content.tasks import TASKS, look_page
from actors.egress.decoding import Body, DecodingError, TooLarge
from bench.fuzz import examples
from bench.fuzz.chance import Chance
from storage.records.event import Context, Delta, StandingValues
from tests.extras.office.written_files import pdf
from tests.support.pages import apply, read_page

URL = "https://shore.example/x/page"
DECODED = 64 << 10
Document = tuple[bytes, str]
Looks = tuple[Document, Document, str | None]
Texts = tuple[Sequence[str], Sequence[str], DiffContexts]


def a_feed(chance: Chance) -> Document:
    feed = chance.choice(examples.FEEDS)
    return (chance.bent(feed, examples.FEEDS) if chance.often(0.95) else chance.randbytes(200)), a_type(chance)


def a_type(chance: Chance) -> str:
    if chance.often(0.7):
        return "text/xml"
    return chance.bent_text(chance.choice(examples.CONTENT_TYPES)).encode("latin-1", "replace").decode("latin-1")


def feed(case: Document) -> None:
    """It is read or refused; links are web links, entries are bounded, and reading is deterministic."""
    body, content_type = case
    found = detect(body, content_type, URL)
    assert found == detect(body, content_type, URL)
    msgspec.msgpack.encode(found)
    try:
        reading = read_feed(body, content_type, URL)
    except ContentError as error:
        assert error.reason.endswith("."), error.reason
        return
    assert len(reading.entries) <= MOST_ENTRIES
    for entry in reading.entries:
        assert not entry.url or entry.url[:8].lower().startswith(("http://", "https://")), entry.url
    assert msgspec.msgpack.encode(reading) == msgspec.msgpack.encode(read_feed(body, content_type, URL))


def a_page(chance: Chance) -> bytes:
    if chance.often(0.4):
        blocks = [a_block(chance) for _ in range(chance.randrange(12))]
        return examples.PAGE.replace(b"</main>", "".join(blocks).encode("utf-8", "replace") + b"</main>")
    return chance.bent(chance.choice(examples.PAGES), examples.PAGES)


def a_block(chance: Chance) -> str:
    inner = chance.choice(examples.PROSE) if chance.often(0.7) else chance.text(60)
    for _ in range(chance.choice((1, 1, 2, 4))):
        inner = chance.choice(examples.MARKUP).replace("{}", inner)
    return inner


def two_looks(chance: Chance) -> Looks:
    first = a_page(chance)
    second = chance.bent(first, examples.PAGES) if chance.often(0.6) else a_page(chance)
    selector = chance.choice((None, None, None, "main", "p, li", chance.bent_text("table > tr:nth-child(2) td[a='b']")))
    return (first, a_type(chance)), (second, a_type(chance)), selector


def html(case: Looks) -> None:
    """Each version is read or refused; the same page again is no change; no remembered state breaks a check."""
    memory: bytes | None = None
    (first, second, selector), number = case, 0
    was, settled = None, False
    for body, content_type in (first, first, second, second, second, first):
        number += 1
        asked = PageRequest(body, content_type, URL, selector, memory=memory, number=number, at=number * 3_600_000)
        try:
            look = look_page(asked)
        except ContentError as error:
            assert error.reason.endswith("."), error.reason
            was = None
            continue
        msgspec.msgpack.encode(look)
        assert not (settled and was == body and look.kind in ("changed", "moved")), look.reason
        memory, was, settled = look.memory, body, not (look.soon or look.unsettled)
    if memory is not None:
        values = msgspec.msgpack.encode(StandingRequest(memory))
        msgspec.msgpack.decode(TASKS["standing_values"](values), type=StandingValues)
    with suppress(ContentError):
        preview_page(PageRequest(second[0], second[1], URL, selector))


def a_file(chance: Chance) -> bytes:
    """Draw an office file with corrupted parts, names or archive."""
    parts = dict(chance.choice(examples.FILES))
    for _ in range(chance.choice((0, 1, 1, 3))):
        name = chance.choice(sorted(parts))
        others = [part.encode() for file in examples.FILES for part in file.values()]
        parts[name] = chance.bent(parts[name].encode(), others).decode("utf-8", "replace")
    if chance.often(0.1):
        parts.pop(chance.choice(sorted(parts)))
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(zipfile.ZipInfo(name), part.encode("utf-8", "replace"))
    return chance.bent(held.getvalue()) if chance.often(0.3) else held.getvalue()


def a_pdf(chance: Chance) -> bytes:
    """Draw a PDF with corrupted objects, streams or table; deflated streams are unpacked first."""
    count = chance.choice((0, 1, 1, 2, 4))
    pages = [[chance.choice(examples.PROSE) for _ in range(chance.randrange(9))] for _ in range(count)]
    latin = [[line.encode("cp1252", "replace").decode("cp1252") for line in page] for page in pages]
    body = pdf(latin, packed=chance.often(0.3))
    if chance.often(0.3):  # mix up object numbers: cyclic trees, fonts that are pages
        body = re.sub(
            rb"\b(\d) 0 R", lambda _: b"%d 0 R" % chance.randrange(1, 9), body, count=chance.choice((1, 2, 5))
        )
    return b"%PDF-" + chance.bent(body, examples.PAGES)[5:] if chance.often(0.9) else body


def _another_object(chance: Chance, _reference: re.Match[bytes]) -> bytes:
    return b"%d 0 R" % chance.randrange(1, 9)


def office(case: bytes) -> None:
    """It is read or refused with a sentence, within limits, and reading is deterministic."""
    found = detect(case, "", URL)
    assert (found.type is None) == (found.refusal is not None)
    try:
        reading = read_file(case)
    except ContentError as error:
        assert error.reason.endswith("."), error.reason
        return
    if reading is not None:
        assert reading == read_file(case)
        assert 0 < len(reading.blocks.texts) <= MOST_BLOCKS
        assert found.format == reading.format
        read_page(case, "", URL, None, ())


def two_texts(chance: Chance) -> Texts:
    pool = [*examples.PROSE, *(chance.text(12) for _ in range(4)), "a", "b", "a b c d", "a b c e", ""]
    before = [chance.choice(pool) for _ in range(chance.choice((0, 1, 3, 10, 60)))]
    after = list(before) if chance.often(0.7) else []
    for _ in range(chance.choice((0, 1, 2, 5, 30))):
        at = chance.randrange(len(after) + 1)
        text = chance.choice(pool) if chance.often(0.8) else chance.choice(pool) * chance.choice((2, 50, 5000))
        after[at : at + chance.randrange(3)] = [text] * chance.choice((0, 1, 1, 2, 40))
    if chance.often(0.3):
        chance.shuffle(after)
    return before, after, DiffContexts(_places(chance, before), _places(chance, after))


def _places(chance: Chance, texts: Sequence[str]) -> Sequence[Context]:
    if chance.often(0.5):
        return ()
    names = ("", "a", "b", "1")
    return [Context(row=chance.choice(names), column=chance.choice(names)) for _ in texts[chance.randrange(2) :]]


def delta(case: Texts) -> None:
    """A complete delta produces the new text from the old one, also after encoding; a cut one is marked."""
    before, after, where = case
    diff, found = compare(before, after, where)
    stats = found.stats
    assert stats.unchanged + stats.removed + stats.changed == len(before)
    assert stats.unchanged + stats.added + stats.changed == len(after)
    assert len(found.ops) <= MOST_OPS
    shown = (*diff.added, *diff.removed, *(text for each in diff.changed for text in (each.before, each.after)))
    assert sum(map(len, shown)) <= 2 * MOST_CHARACTERS
    if found.truncated:
        assert found.ops
        return
    assert apply(before, found) == list(after)
    if not any("\ud800" in text for text in (*before, *after)):
        assert apply(before, msgspec.json.decode(msgspec.json.encode(found), type=Delta)) == list(after)
    with suppress(ValueError):  # applied to another text: refused, or some text
        apply(after, found)


def a_list(chance: Chance) -> bytes:
    return chance.bent(examples.OUTLINE, examples.FEEDS)


def outline(case: bytes) -> None:
    """It is read or refused, and each address occurs once."""
    with suppress(ContentError):
        addresses = [line.url for line in read_outline(case).feeds]
        assert len(set(addresses)) == len(addresses)


def a_frame(chance: Chance) -> str:
    return chance.bent_text(chance.choice(examples.FRAMES), examples.FRAMES)[: MOST_SMALL * 2]


def frame(case: str) -> None:
    """It is read or refused, and its marks are deterministic."""
    with suppress(ContentError):
        found = [cap_content(each) for each in read_frames(case, URL)]
        msgspec.msgpack.encode(found)
        assert [each.mark for each in found] == [each.mark for each in read_frames(case, URL)]
        assert all(not each.url or each.url[:8].lower().startswith(("http://", "https://")) for each in found)


def a_coded(chance: Chance) -> tuple[str, list[bytes]]:

    plain = chance.choice(examples.FEEDS) * chance.choice((1, 1, 50, 2000))
    coding = chance.choice(("gzip", "deflate", "identity", " X-GZIP ", "br", ""))
    raw = zlib.compressobj(wbits=-15)
    packed = chance.choice(
        (gzip.compress(plain, 1, mtime=0), zlib.compress(plain, 1), raw.compress(plain) + raw.flush())
    )
    return coding, chance.cut(chance.bent(packed) if chance.often(0.7) else packed)


def coding(case: tuple[str, list[bytes]]) -> None:
    """It is unpacked or refused, and never exceeds the limit."""
    name, pieces = case
    with suppress(DecodingError, TooLarge):
        body = Body(name, DECODED)
        for piece in pieces:
            body.feed(piece)
        assert len(body.finish()) <= DECODED
    with suppress(DecodingError):
        body = Body(name, DECODED, cut=True)
        for piece in pieces:
            body.feed(piece)
        assert len(body.finish()) <= DECODED
