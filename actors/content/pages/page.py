"""A page in one check: its head, its blocks with their keys, and whether it is a page at all; a page in a preview.

The text of a page in an event, with jusText's main text; the probable language of a text, by its stop words. jusText
(Pomikálek 2011, chapter 3.3) separates running text from boilerplate by length, link density and stop words; then
neighbours decide about uncertain blocks. That second pass is quadratic, so this module does the same in linear time,
and a test compares both. It never decides whether a page changed: on list pages it finds nothing, and the blocks
outside furniture are the content.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import justext
from justext import core
from msgspec import Struct

from actors.content.bodies import markup
from actors.content.bodies.encoding import decode, unpacked
from actors.content.bodies.markup import Element
from actors.content.bodies.sniffing import NO_FILES, binary_kind
from actors.content.bodies.text import cap, normalise
from actors.content.errors import ContentError
from actors.content.messages import CHOSEN_BY, FILE, PageRequest, StandIn
from actors.content.pages import plain as documents
from actors.content.pages import selectors
from actors.content.pages.blocks import Blocks, WalkedTree, blocks_of, digest, read_blocks, rough_bytes, walk
from actors.content.pages.listing import items_of
from actors.content.pages.offers import Offer, inserted, offers_of, with_offers
from actors.content.pages.selectors import BlockPlace, stands_of, written
from actors.content.pages.traits import ASIDE, CELL, CONTROL, FURNITURE, HEADING, TOP, CellLabels
from actors.content.pages.walls import LITTLE, NO_EVIDENCE, Evidence, evidence_of, kind_of, parts_of_title, trouble_of
from actors.content.values.reading import Writing
from actors.content.wording import canonical, json_text
from actors.content.wording.dates import moment
from actors.content.wording.words import words_in
from actors.messages.requests import EXCERPT, Ignored, ListedItem, PagePreview, PreviewBlock
from storage.records.event import CONTENT_CAP, Diff
from storage.records.identity import Millis

_MOST_PARAGRAPHS, _SHARE = 3_000, 0.3


def main_blocks(blocks: Blocks) -> list[int]:
    kept = [i for i, trait in enumerate(blocks.traits) if not trait & ASIDE]
    plain = [blocks.texts[i] for i in kept]
    sizes, headings = list(map(len, plain)), [n for n, i in enumerate(kept) if blocks.traits[i] & HEADING]
    classes = classes_of(plain, [blocks.linked[i] for i in kept]) if len(plain) <= _MOST_PARAGRAPHS else ""
    found = in_context(classes, headings, sizes)
    good = [i for i, letter in zip(kept, found, strict=False) if letter == GOOD]
    if sum(len(blocks.texts[i]) for i in good) >= _SHARE * sum(sizes):
        return good
    return kept or list(range(len(blocks.texts)))


BAD, SHORT, NEAR_GOOD, GOOD = "bsng"  # jusText's classes; those of a page are a string, one letter a block
_NEAR_RUN = re.compile(f"{NEAR_GOOD}+")
_SHORT_RUN = re.compile(f"(?<={GOOD}){SHORT}+(?={GOOD})|(?<={NEAR_GOOD}){SHORT}+|(?<!{SHORT}){SHORT}+(?={NEAR_GOOD})")
"""Runs that may be good; other short ones are bad."""


def classes_of(texts: Sequence[str], linked: Sequence[int]) -> str:
    """Classify blocks without their neighbours, as `classify_paragraphs` does. linked: their characters in links."""
    found = [BAD if link or "©" in text or "&copy" in text else SHORT for text, link in zip(texts, linked, strict=True)]
    if long := [i for i, text in enumerate(texts) if len(text) >= core.LENGTH_LOW_DEFAULT]:
        is_stop = stop_words(language_of(texts)).__contains__
        for i in long:
            found[i] = _class_of_long(texts[i], linked[i], is_stop)
    return "".join(found)


def _class_of_long(text: str, linked: int, is_stop: Callable[[str], bool]) -> str:
    if linked / len(text) > core.MAX_LINK_DENSITY_DEFAULT or "©" in text or "&copy" in text:
        return BAD
    words = text.lower().split()
    density = sum(map(is_stop, words)) / max(1, len(words))
    if density >= core.STOPWORDS_HIGH_DEFAULT:
        return GOOD if len(text) > core.LENGTH_HIGH_DEFAULT else NEAR_GOOD
    return NEAR_GOOD if density >= core.STOPWORDS_LOW_DEFAULT else BAD


def in_context(classes: str, headings: Iterable[int], sizes: Sequence[int]) -> str:
    """Classify short and near-good blocks by their neighbours, as `revise_paragraph_classification` does."""
    if GOOD not in classes and NEAR_GOOD not in classes:
        return BAD * len(classes)
    # A page begins and ends as if next to a bad block.
    found = _SHORT_RUN.sub(_of_short, f"{BAD}{classes}{BAD}").replace(SHORT, BAD)
    found = _NEAR_RUN.sub(_of_near_good, found)[1:-1]
    leads = ((i, found.find(GOOD, i + 1)) for i in headings if classes[i] != BAD and found[i] == BAD)
    revised = list(found)
    for i, end in leads:
        if end >= 0 and sum(sizes[i + 1 : end]) <= core.MAX_HEADING_DISTANCE_DEFAULT:
            revised[i] = GOOD
    return "".join(revised)


def _of_short(run: re.Match[str]) -> str:
    before, after = run.string[: run.start()], run.string[run.end() :]
    near = before[-1], after[0]
    if near == (GOOD, GOOD):
        return GOOD * len(run[0])
    sure = before.rstrip(SHORT + NEAR_GOOD)[-1], after.lstrip(SHORT + NEAR_GOOD)[0]
    is_beside = (BAD, NEAR_GOOD) in zip(sure, near, strict=True)
    is_good = sure == (GOOD, GOOD) or (is_beside and sure != (BAD, BAD))
    return (GOOD if is_good else BAD) * len(run[0])


def _of_near_good(run: re.Match[str]) -> str:
    is_bad = run.string[run.start() - 1] == run.string[run.end()] == BAD
    return (BAD if is_bad else GOOD) * len(run[0])


class EventText(NamedTuple):
    """whole: the full text, which is hashed. content: the part in the event. truncated: whether they differ."""

    whole: str
    content: str
    truncated: bool


def event_text(blocks: Blocks, texts: Sequence[str], diff: Diff | None, *, whole: bool = False) -> EventText:
    """Return the text of a page. whole: all is text. The texts of `diff` take precedence if not all of it fits."""
    chosen = set(range(len(blocks.texts))) if whole else set(main_blocks(blocks))
    named = _named(blocks, texts, diff, chosen) if diff is not None else set[int]()
    order = sorted(chosen | named)
    lines = [texts[i] for i in order]
    # A page's blocks are lines; a document's may have several lines, and keep them.
    text = normalise("\n".join(blocks.texts[i] for i in order)) if whole or not all(lines) else "\n".join(lines)
    content, truncated = cap(text)
    if truncated and named:
        content = _cut(lines, [i in named for i in order])
    return EventText(text, content, truncated)


def _named(blocks: Blocks, texts: Sequence[str], diff: Diff, chosen: set[int]) -> set[int]:
    found: dict[str, list[int]] = {text: [] for text in (*diff.added, *(change.after for change in diff.changed))}
    for i, text in enumerate(texts):
        if text in found:
            found[text].append(i)
    named: set[int] = set()
    for text, places in found.items():
        if not places:
            # The difference shows the beginning of a long text.
            places = [i for i, whole in enumerate(texts) if whole.startswith(text)][:1]  # noqa: PLW2901
        named.update([i for i in places if i in chosen or not blocks.traits[i] & ASIDE] or places[:1])
    return named


def _cut(texts: Sequence[str], named: Sequence[bool]) -> str:
    room = CONTENT_CAP
    kept: dict[int, str] = {}
    for i in sorted(range(len(texts)), key=lambda i: not named[i]):
        raw = f"{texts[i]}\n".encode()
        kept[i] = raw[:room].decode("utf-8", "ignore").rstrip("\n")
        room -= len(raw)
        if room <= 0:
            break
    text = "\n".join(kept[place] for place in sorted(kept))
    return text.strip("\n") if room <= 0 else text


_LANGUAGES = (
    "English", "German", "French", "Swedish", "Spanish", "Italian", "Portuguese", "Dutch", "Danish", "Norwegian_Bokmal",
    "Finnish", "Polish", "Czech", "Hungarian", "Romanian", "Russian", "Ukrainian", "Greek", "Turkish", "Indonesian",
)  # fmt: skip
# Read once when the worker starts, before any hostile byte.
_STOPLISTS = {name: frozenset(map(str.lower, justext.get_stoplist(name))) for name in _LANGUAGES}
_CODES = dict(zip(_LANGUAGES, "en de fr sv es it pt nl da nb fi pl cs hu ro ru uk el tr id".split(), strict=True))  # noqa: SIM905
_SAMPLE, _SAMPLE_WORDS, _SAMPLE_LETTERS = 10, 100, 1_000
_FEWEST_WORDS, _LANE = 30, 16
_SPOKEN: dict[str, int] = {}
"""For each stop word, a number with a bit in the lane of each of its languages: sums of them count languages."""
for _at, _words in enumerate(_STOPLISTS.values()):
    for _word in _words:
        _SPOKEN[_word] = _SPOKEN.get(_word, 0) | 1 << _LANE * _at


def language_of(texts: Sequence[str]) -> str:
    return _language_of(tuple(sorted(texts, key=len, reverse=True)[:_SAMPLE]))


@lru_cache(maxsize=4)
def _language_of(texts: tuple[str, ...]) -> str:
    """Cached, because one check asks several times, with the same longest texts."""
    sample: set[str] = set()
    for text in texts:
        sample.update(text.lower().split()[:_SAMPLE_WORDS])
    found = sum(filter(None, map(_SPOKEN.get, sample)))
    counts = [found >> _LANE * at & (1 << _LANE) - 1 for at in range(len(_LANGUAGES))]
    return _LANGUAGES[counts.index(max(counts))]


def tongue_of(texts: Sequence[str]) -> str:
    """Return the language, or the script of most letters if no word is from a known language."""
    sample = " ".join(sorted(texts, key=len, reverse=True)[:_SAMPLE])[:_SAMPLE_LETTERS]
    if sample.isascii() or any(word in _SPOKEN for word in sample.lower().split()):
        return language_of(texts)
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in sample if letter.isalpha())
    return max(scripts, key=scripts.__getitem__, default="")


def code_of(texts: Sequence[str]) -> str:
    """Return the ISO 639-1 code of a text's language; "" if it has too few words."""
    if len(list(islice((word for text in texts for word in text.split()), _FEWEST_WORDS))) < _FEWEST_WORDS:
        return ""
    return _CODES[language_of(texts)]


def stop_words(language: str) -> frozenset[str]:
    return _STOPLISTS[language]


_MOST_PICTURES, _LONGEST = 3, 300


def heads_of(root: Element, text: str) -> tuple[str, ...]:
    title = normalise(" ".join((root.findtext(".//head/title") or "").split()))
    described = next((meta for meta in root.iter("meta") if meta.get("name") == "description"), None)
    found = [title[:_LONGEST], "" if described is None else normalise(described.get("content") or "")[:_LONGEST]]
    if 1 < len(text.split("<img", _MOST_PICTURES + 1)) <= _MOST_PICTURES + 1:
        images = (image for image in root.iterfind(".//img") if not image.get("alt"))
        found += [unquote(urlsplit(image.get("src") or "").path.rpartition("/")[2])[:_LONGEST] for image in images]
    return tuple(found)


def with_heads(blocks: Blocks, heads: tuple[str, ...]) -> Blocks:
    if not heads or not any(trait & TOP for trait in blocks.traits):
        return blocks
    title, description, *pictures = heads
    parts = parts_of_title(title)
    lengths = {len(part.casefold()) for part in (*parts, description)}
    # Folding a plain ASCII text keeps its length.
    like = (text for text in blocks.texts if len(text) in lengths or not (text.isascii() and text.isprintable()))
    shown = {text.casefold() for text in map(normalise, like)}
    kept = (part for part in parts if part.casefold() not in shown)
    said = [" – ".join(kept), "" if description.casefold() in shown else description]
    if pictures and sum(map(words_in, blocks.texts)) < LITTLE:
        said += pictures
    return inserted(blocks, [(text, None) for text in said if text], CONTROL)


NOTHING = "(nothing)"  # the one block of a missing part
_NOTHING_CHOSEN = Blocks((NOTHING,), (CELL,), (0,), partial=False)
_MOST_LABEL, _VALUE_WORDS = 1_000, 8
_DIGIT = re.compile(r"\d")
_TITLE_NAMES = ("og:title", "twitter:title", "dc.title")
_AUTHOR_NAMES = ("author", "article:author", "dc.creator", "parsely-author", "byl")
_DATE_NAMES = (
    "article:published_time", "og:published_time", "datepublished", "date", "dc.date", "dc.date.issued", "pubdate",
)  # fmt: skip
_JSON_LD_DATE = re.compile(r"\"datePublished\"\s*:\s*\"([^\"]{8,40})\"")


class PageReading(Struct, frozen=True):
    """The reading of a page. blocks, keys, traits (see `blocks`): for the decision. places: for the contexts in an
    event; () if no block is in a table. json: it is a JSON document. trouble: why this is not the page; such a check
    has failed. partial: it exceeds the limits on depth or length. evidence: signs of another page.
    """

    title: str
    author: str
    published_at: Millis | None
    blocks: tuple[str, ...]
    keys: tuple[str, ...]
    trouble: StandIn | None = None
    traits: tuple[int, ...] = ()
    partial: bool = False
    evidence: Evidence = NO_EVIDENCE
    places: tuple[CellLabels | None, ...] = ()
    json: bool = False


class OpenedPage(Struct, frozen=True, dict=True):
    """A page's tree and its watched elements; a document without elements has `plain` blocks, and none watched. judged:
    furniture is marked; not in a user's choice. offers: its machine-readable data. heads: its title and description,
    and its picture files if they are few. empty: the selector matches nothing. matched, removed: what the selector and
    each of `ignore` matched, as in `plain.Part`. emptied: digest of a whole page's bytes (see `churn`); b"" if none.
    """

    root: markup.Element
    watched: tuple[markup.Element, ...]
    text: str = ""
    judged: bool = True
    plain: Blocks | None = None
    offers: tuple[Offer, ...] = ()
    heads: tuple[str, ...] = ()
    empty: bool = False
    matched: int | None = None
    removed: tuple[int, ...] = ()
    emptied: bytes = b""

    @cached_property
    def head(self) -> PageMetadata:
        return head_of(self.root)

    @cached_property
    def walked(self) -> tuple[WalkedTree, ...]:
        return tuple(walk(element, judge_furniture=self.judged) for element in self.watched)

    @cached_property
    def seen(self) -> bytes:
        """Digest of everything the blocks are made of, b"" for a document without elements."""
        if not self.watched:
            return b""
        return digest(self.walked, (*self.offers, *self.heads))

    @cached_property
    def _rough(self) -> bytes:
        return rough_bytes(self.watched, self.text, (*self.offers, *self.heads), judged=self.judged)

    @cached_property
    def rough(self) -> bytes:
        """Digest of everything a walk could read and more, b"" for a document without elements."""
        return hashlib.sha256(self._rough).digest()[:16] if self.watched else b""

    @property
    def bare(self) -> bytes:
        """`emptied`; b"" if what begins like a comment is in a text or attribute."""
        return b"" if b"!--" in self._rough else self.emptied


def open_page(
    body: bytes, served: str, selector: str | None, ignore: tuple[str, ...], was: str = "", *, last: bytes | None = None
) -> OpenedPage:
    """Parse a page and find its watched elements; `walked` reads them on demand. was: its first format, or "". last:
    `emptied` of the last check, whose page needs no root; None if programs are read too.
    """
    body = unpacked(body)
    if not body.strip():
        raise ContentError("The body is empty.")
    text, document = "", documents.read_file(body)
    if document is None:
        text = decode(body, served).text
        if kind := binary_kind(body) or documents.unwatchable(text):
            if kind in NO_FILES or was not in {"", FILE}:
                raise ContentError(f"This is {kind}, not a page.")
            document = documents.read_bytes(kind, body)
        else:
            document = documents.read_plain(text, was)
    if document is not None:
        return _open_document(text, document, selector, ignore)
    if last is not None and selector is None and not ignore:
        return _open_emptied(text, was, last)
    root = markup.parse(text)
    removed = tuple(selectors.remove(root, unwanted) for unwanted in ignore)
    if selector is None:
        offers, heads = offers_of(root, text), heads_of(root, text)
        return OpenedPage(root, (root,), text, offers=offers, heads=heads, removed=removed)
    chosen = selectors.select(root, selector)
    if not chosen:
        # A wall or an error in the page's place says nothing about the part.
        if trouble := trouble_of(root, head_of(root).written, read_blocks(root)):
            raise ContentError(f"{selector!r} matches nothing, and this is not the page itself: {trouble}.")
        return OpenedPage(root, (), plain=_NOTHING_CHOSEN, judged=False, empty=True, matched=0, removed=removed)
    return OpenedPage(root, tuple(chosen), text, judged=False, matched=len(chosen), removed=removed)


def _open_emptied(text: str, was: str, last: bytes) -> OpenedPage:
    html, digest, count = markup.emptied(markup.prepared(text))
    digest = hashlib.sha256(was.encode() + digest).digest()[:16] if digest else b""
    if digest and digest == last:
        return OpenedPage(None, (), emptied=digest)
    root = markup.parse_emptied(html, count) if count >= 0 else None
    if root is None:
        root, digest = markup.parse(text), b""
    return OpenedPage(root, (root,), text, offers=offers_of(root, text), heads=heads_of(root, text), emptied=digest)


def _open_document(text: str, document: documents.Plain, selector: str | None, ignore: tuple[str, ...]) -> OpenedPage:
    if selector is None and not ignore:
        return OpenedPage(documents.root_of(document), (), plain=document.blocks)
    found, matched, removed = documents.part_of(text, document, selector, ignore)
    if found is None and selector is None:
        raise ContentError("`ignore` removes the whole document.")
    blocks = _NOTHING_CHOSEN if found is None else found.blocks
    root = documents.root_of(found or document)
    return OpenedPage(root, (), plain=blocks, empty=found is None, matched=matched, removed=removed)


def blocks_in(opened: OpenedPage) -> Blocks:
    """Return the blocks of a page, made only from the walked rows, not from the rest of the tree."""
    if opened.plain is not None:
        return opened.plain
    if len(opened.watched) == 1:
        blocks = blocks_of(opened.walked[0])
        return with_offers(with_heads(blocks, opened.heads) if opened.judged else blocks, opened.offers)
    parts = [blocks_of(walked) for walked in opened.walked]
    return Blocks(
        texts=tuple(text for part in parts for text in part.texts),
        traits=tuple(trait for part in parts for trait in part.traits),
        linked=tuple(linked for part in parts for linked in part.linked),
        partial=any(part.partial for part in parts),
        places=tuple(place for part in parts for place in part.places or (None,) * len(part.texts))
        if any(part.places for part in parts)
        else (),
    )


def reading_of(
    opened: OpenedPage, blocks: Blocks, *, narrowed: bool, known: canonical.KnownKeys = ({}, {}), exact: bool = False
) -> PageReading:
    """Return the reading of a tree. known: keys from an earlier check, as keys are expensive. exact: mask nothing."""
    root, head = opened.root, opened.head
    texts, keys = _keyed(blocks, known, exact=exact)
    return PageReading(
        title=head.title,
        author=head.author,
        published_at=head.published_at,
        blocks=tuple(texts),
        keys=tuple(keys),
        trouble=None if narrowed or root.tag == documents.ROOT else trouble_of(root, head.written, blocks),
        traits=blocks.traits,
        partial=blocks.partial,
        evidence=evidence_of(root, blocks),
        places=blocks.places,
        json=bool(blocks.json),
    )


def writing_of(root: markup.Element, reading: PageReading) -> Writing:
    """Return a document's number format: by its declared language, else by its words."""
    if documents.format_of(root) == "json":
        return Writing(exact=True)
    return Writing(reading.evidence.language or code_of(reading.blocks))


def is_one_value(blocks: Blocks) -> bool:
    """Whether a page is one version, date, checksum, address or number, with at most a heading."""
    content = ((text, trait) for text, trait in zip(blocks.texts, blocks.traits, strict=True) if not trait & ASIDE)
    rows = list(islice(content, 3))
    values = [text for text, trait in rows if not trait & HEADING] or [text for text, _ in rows]
    if len(values) != 1 or len(rows) > 2 or len(values[0].split()) > _VALUE_WORDS:
        return False
    if not _DIGIT.search(values[0]) or canonical.canonical(values[0]) in {"⟨clock⟩", "⟨ago⟩"}:
        return False
    return not kind_of(values[0])


class PageMetadata(Struct, frozen=True):
    """A page's metadata; written: its raw title."""

    written: str
    title: str
    author: str
    published_at: Millis | None


def head_of(root: markup.Element) -> PageMetadata:
    named: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("itemprop")
        if name and (content := meta.get("content")):
            named.setdefault(name.strip().lower(), content.strip())
    title = _first(named, _TITLE_NAMES) or " ".join((root.findtext(".//title") or "").split())
    author = _first(named, _AUTHOR_NAMES)
    author = "" if author.startswith(("http://", "https://")) else normalise(author)[:_MOST_LABEL]
    return PageMetadata(title, normalise(title)[:_MOST_LABEL], author, _published(root, named))


def _keyed(blocks: Blocks, known: canonical.KnownKeys, *, exact: bool) -> tuple[list[str], list[str]]:
    """Return the normal form and the key of each block; a known text is already normalised."""
    texts = list(blocks.texts)
    keys = [known[bits & CELL > 0].get(raw, "") for raw, bits in zip(texts, blocks.traits, strict=True)]
    for i in [i for i, key in enumerate(keys) if not key]:
        cell = 1 if blocks.traits[i] & CELL else 0
        texts[i] = text = normalise(texts[i])
        said = json_text.form(text) if blocks.json and blocks.json[i] else text
        keys[i] = known[cell].get(text) or canonical.key(said, cell=bool(cell), exact=exact)
    return texts, keys


def _first(named: dict[str, str], names: tuple[str, ...]) -> str:
    return next((named[name] for name in names if named.get(name)), "")


def _published(root: markup.Element, named: dict[str, str]) -> Millis | None:
    for name in _DATE_NAMES:
        if name in named and (at := moment(named[name])) is not None:
            return at
    for script in root.iter("script"):
        if script.get("type") == "application/ld+json" and (found := _JSON_LD_DATE.search(script.text or "")):
            return moment(found[1])
    return None


MOST_SHOWN, MOST_ITEMS = 40, 20
_MOST_HINTS = 6
_LANDMARKS = ("main", "article", "table", "section", "form")
_PLAIN_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


def preview_page(asked: PageRequest) -> PagePreview:
    """Preview a page; if a selector matches nothing, `has` suggests others. Raises ContentError."""
    opened = open_page(asked.body, asked.content_type, asked.selector, asked.ignore)
    tree, blocks = opened.root, blocks_in(opened)
    items = items_of(tree, opened.watched, asked.url, judged=opened.judged)
    reading = reading_of(opened, blocks, narrowed=asked.selector is not None)
    rows = () if opened.empty else zip(reading.blocks, reading.traits, strict=True)
    said = [(text, "furniture" if bits & FURNITURE else "control" if bits & CONTROL else "") for text, bits in rows]
    shown = tuple(PreviewBlock(text[:EXCERPT], not why, why) for text, why in said)
    text = event_text(blocks, reading.blocks, None, whole=tree.tag == documents.ROOT).content
    watched, hints = sum(block.watched for block in shown), tuple[str, ...]()
    if opened.matched == 0:
        whole = open_page(asked.body, asked.content_type, None, ())
        hints = (
            landmarks_of(whole.root) if whole.plain is None else labels_of(documents.format_of(whole.root), whole.plain)
        )
    return PagePreview(
        title=reading.title,
        author=reading.author,
        published_at=reading.published_at,
        content="" if opened.empty else text[:EXCERPT],
        blocks=shown[:MOST_SHOWN],
        watched=watched,
        left_out=len(shown) - watched,
        matched=opened.matched,
        ignored=tuple(map(Ignored, asked.ignore, opened.removed)),
        has=hints,
        partial=reading.partial,
        trouble=None if reading.trouble is None else str(reading.trouble),
        listed=len(items),
        items=tuple(ListedItem(item.title[:EXCERPT], item.url) for item in items[:MOST_ITEMS]),
    )


def labels_of(format: str, blocks: Blocks) -> tuple[str, ...]:
    """Return the paths of a document's larger parts: its headings, then its rows."""
    kinds = CHOSEN_BY.get(format, ((), ""))[0]
    if kinds[:1] != ("path",):
        return ()
    stands = stands_of(format, blocks)
    headings = [BlockPlace(stand.heading) for stand in stands if stand.heading]
    rows = [BlockPlace(row=stand.row) for stand in stands if stand.row]
    return tuple(dict.fromkeys(map(written, dict.fromkeys((*headings, *rows)))))[:_MOST_HINTS]


def landmarks_of(root: markup.Element) -> tuple[str, ...]:
    """Return selectors of a page's larger parts, to help a person find the right one: landmarks, then ids."""
    tags = Counter(element.tag for element in root.iter(*_LANDMARKS))
    found = [tag for tag in _LANDMARKS if tags[tag]]
    sizes: list[tuple[int, str]] = []
    for element in root.iter("div", "section", "main", "article", "table", "ul", "ol"):
        name = element.get("id")
        if name and _PLAIN_NAME.issuperset(name) and not name[0].isdigit():
            sizes.append((len(normalise(" ".join(element.itertext()))[:5_000]), f"#{name}"))
        if len(sizes) >= 200:
            break
    largest = [name for size, name in sorted(sizes, key=lambda pair: -pair[0]) if size]
    return tuple(dict.fromkeys((*found, *largest)))[:_MOST_HINTS]
