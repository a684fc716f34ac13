"""A source's memory of its page between checks, packed to a few kilobytes.

*Told* is the last reported state (the baseline, then each event's new text): a client that applies every delta holds
exactly these texts. Unreported blocks on the page are *pending*; reported blocks that are absent are *missing*. Both
add up until they are reported or revert. *Recent* holds keys of furniture, and of blocks that came and went
unreported: they are not reported when they return. A key has 64 bits; texts are stored to show a block's old wording.

The weight of an added or removed block: 1 is a paragraph of content, 0 is nothing worth reporting. The kind of page
comes first. On a *text page* most words are in paragraphs of a dozen words and more, the content runs from the page's
heading to its last paragraph, and short linked blocks around it are navigation. On a *list page* (news fronts, release
lists, tables) the short linked blocks are the content.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import cached_property, lru_cache
from itertools import groupby

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.pages.traits import (
    CELL,
    CONTROL,
    HEADING,
    ITEM,
    LINK,
    STORED,
    TOP,
    CellLabels,
    pack_places,
    unpack_places,
)
from actors.content.values import reading as amounts
from actors.content.wording.canonical import KnownKeys
from actors.content.wording.dates import dates_in, is_dated, is_only_date, speaks_of_edits
from actors.content.wording.words import word_counts, words_in

LONG, MIDDLE = 12, 5  # minimum words of a paragraph, and of a block that is more than a label
FIGURE = 0.35  # weight of a figure in a table or label: the old and the new one together make a change

LABEL, BARE = "a label of a few words", "a figure by itself"
FIGURES = "only figures or what changes by itself"

_TEXT_PAGE_WORDS, _TEXT_PAGE_PARAGRAPHS, _AFTER_LAST = 60, 4, 4
_HEAD_BEFORE = 6  # blocks between a text's heading and its first paragraph: date, author, lead, a caption
_OUTSIDE = 0.05
_TAIL = 0.95  # start of a text page's foot, as a share of its blocks, even if a paragraph of small print follows
COOKIES = re.compile(
    r"cookie|evästei|ciastecz|sušenk|kolačić|piškot|sütik|çerez|informasjonskapsl|küpsis|slapuk|sīkdat|куки|クッキー|쿠키",
    re.I,
)
"""A last paragraph about cookies is usually a banner: a heading before it ends the text."""
_CODES = r"(?:kr|usd|eur|euros?|chf|sek|nok|dkk|gbp|pln|czk|cad|aud|inr|jpy|zł|kč)"
_SYMBOLS = "[$€£¥₹₽₺₩₪฿]"
_AFTER = "[円元원]"  # characters that follow an amount; before a figure they mean something else
_MONEY = re.compile(
    rf"{_SYMBOLS}\s?\d|\d(?:[.,:][-–—]{{1,2}})?\s?(?:{_SYMBOLS}|%|{_AFTER}|{_CODES}\b)|\b{_CODES}\.?\s?\d|\d[.,:][-–—](?!\w)",
    re.I,
)
"""A price or a percentage; "49,-€", "CHF 20" and "99:-" are prices too."""
_AMOUNT = re.compile(rf"[\d.,\u00a0]*(?:{_MONEY.pattern})[\d.,]*", re.I)
_CURRENCY = re.compile(rf"{_SYMBOLS}|\d\s?{_AFTER}|\b{_CODES}\b", re.I)
VERSION = re.compile(r"\bv?\d+\.\d+(?:\.\d+)+")
_BEFORE_FIGURE = re.compile(rf"{amounts.BEFORE}\s?$")
_BEHIND_FIGURE = re.compile(rf"\s?{amounts.AFTER}")
_LONGEST_CURRENCY = 8
"""Characters checked before a figure: the longest currency, a space, and one more to exclude the end of a word."""
LETTERS, _MASK, _TIME = re.compile(r"[^\W\d_]{2}"), re.compile(r"⟨\w+⟩"), "⟨clock⟩"
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
SIGNED = re.compile(rf"[+-]?{NUMBER.pattern}")
_TICKER_NUMBERS = 3
_ROW, _PLAIN_ROW = 3, 4
LONGEST_LABEL = 80  # characters of a label that may be a list entry, or dated
_ICON = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+(?: [a-z0-9]+(?:_[a-z0-9]+)+)*")
"""Icon names as in icon fonts, when no class marks them."""
_FILE = re.compile(r"\(\S+\.\w{2,5}\)$")  # the suffix that names the file behind a link
_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2})*[.)]\s+[^\W\d_]")  # a section number; a page's foot has none
_COPYRIGHT = re.compile(
    r"©|\(c\)\s?(?:19|20)\d\d|\bcopyright\b.*\b(?:19|20)\d\d\b|\b(?:19|20)\d\d\b.*\bcopyright\b|^copyright\b", re.I
)
_LONGEST_FOOT = 24
"""Words of a copyright line: a longer text, or one that only names the word, is a paragraph about copyright."""
_FOOT_BEFORE, _MOST_FOOT = 2, 0.34


class Zone(Struct, frozen=True):
    """The content of a page: block positions from `first` to `last`. text: whether it is a text page. paragraph:
    position of the last one. foot: start of the page's foot, at its copyright line. today: the day's ordinal, 0 if
    unknown.
    """

    text: bool
    first: int
    last: int
    paragraph: int
    blocks: int
    foot: int
    today: int = 0

    def holds(self, position: int) -> bool:
        return self.first <= position <= self.last

    def ends(self, position: int) -> bool:
        """Whether a block is where sites put the version of their own software."""
        if position >= self.foot - _FOOT_BEFORE:
            return True
        return self.text and (position > self.paragraph or position >= _TAIL * self.blocks)


def zone_of(texts: Sequence[str], words: Sequence[int], traits: Sequence[int], today: int = 0) -> Zone:
    if len(places := [i for i in range(len(texts)) if not traits[i] & CONTROL]) < len(texts):
        zone = zone_of([texts[i] for i in places], [words[i] for i in places], [traits[i] for i in places], today)
        at = [*places, *[len(texts)] * (_AFTER_LAST + 1)]
        first, last, paragraph, foot = (at[i] for i in (zone.first, zone.last, zone.paragraph, zone.foot))
        return Zone(zone.text, first, last, paragraph, len(texts), foot, today)
    long = [i for i, count in enumerate(words) if count >= LONG and not traits[i] & LINK]
    total = sum(words)
    foot = _foot(texts, words, long[-1] if long else 0)
    if total < _TEXT_PAGE_WORDS or len(long) < _TEXT_PAGE_PARAGRAPHS or 2 * sum(words[i] for i in long) < total:
        return Zone(False, 0, len(texts), len(texts), len(texts), foot, today)
    above = range(long[0] - 1, max(-1, long[0] - _HEAD_BEFORE - 1), -1)
    first = next((i for i in above if traits[i] & HEADING), long[0])
    top = next((i for i, trait in enumerate(traits) if trait & TOP), None)
    if top is not None and top < long[len(long) // 3]:
        first = min(top, first)
    first = first if top is not None else max(0, min(first, long[0] - 2))
    last = long[-1] + _AFTER_LAST
    if COOKIES.search(texts[long[-1]]):
        last = next((i for i in range(long[-2] + 1, long[-1]) if traits[i] & HEADING), last)
    return Zone(True, first, last, long[-1], len(texts), foot, today)


def _foot(texts: Sequence[str], words: Sequence[int], last_long: int) -> int:
    """Return the position of a copyright line among the last blocks; the number of blocks if there is none."""
    end = len(texts)
    last = range(end - 1, int(end * (1 - _MOST_FOOT)), -1)
    return next((i for i in last if words[i] <= _LONGEST_FOOT and _is_copyright(texts[i], ends=i > last_long)), end)


def _is_copyright(text: str, *, ends: bool) -> bool:
    lowered = text.lower()
    if "©" not in lowered and "(c)" not in lowered and "copyr" not in lowered:  # the pattern is slow
        return False
    found = _COPYRIGHT.search(text)
    return found is not None and (ends or found[0].lower() != "copyright")


def weigh(text: str, canonical: str, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    """Return the weight of an added or removed block outside furniture, and the reason if it is low, else ""."""
    if not canonical or (_ICON.fullmatch(text) and not trait & CELL):
        return 0.0, "no words"
    money = NUMBER.search(text) is not None and (_MONEY.search(text) is not None or _of_table(text) != ())
    figure = money or (VERSION.search(canonical) is not None and not zone.ends(position))
    bare = _MASK.sub("", canonical)
    if not LETTERS.search(bare):
        datum = figure or trait & CELL
        return (FIGURE, BARE) if datum else (0.0, FIGURES)
    if is_only_date(bare):
        if trait & CELL or is_future(bare, zone.today):
            return FIGURE, "a date by itself"
        return 0.12 if zone.text and zone.holds(position) else 0.0, "only a date"
    words = words_in(canonical)
    plain = 1.0 if words >= LONG else 0.6 if words >= MIDDLE else 0.2 if words >= 2 else 0.1
    if trait & CELL:
        plain = max(plain, 0.45)
    if trait & HEADING:
        plain = max(plain, 0.5)
    if figure:
        plain = max(plain, 0.6)
    elif is_future(bare, zone.today):
        plain = max(plain, 0.5)
    if zone.text and not trait & LINK and is_dated(bare):
        plain = max(plain, FIGURE)
    return _placed(plain, words, trait, position, zone)


def _placed(plain: float, words: int, trait: int, position: int, zone: Zone) -> tuple[float, str]:
    if position >= zone.foot and words < LONG:
        return _OUTSIDE * plain, "at the page's foot"
    if not zone.text:
        return plain, "" if plain > 0.2 else LABEL
    if not zone.holds(position):
        side = "above the text" if position < zone.first else "below the last paragraph"
        return _OUTSIDE * plain, side
    if trait & LINK:
        share = 0.9 if trait & ITEM and words >= MIDDLE else 0.3 if words < LONG else 0.6
        return plain * share, "" if share > 0.3 else "a short link in a text"
    return plain, "" if plain > 0.2 else LABEL


def is_fact(text: str, canonical: str, trait: int, position: int, zone: Zone) -> bool:
    """Whether a label's figure is a fact: inside a text, no link, not the date of an edit."""
    if not zone.text or not zone.holds(position) or trait & LINK:
        return False
    if zone.ends(position) and not _SECTION.match(text):
        return False
    bare = _MASK.sub("", canonical)
    return LETTERS.search(bare) is not None and not is_only_date(bare) and not speaks_of_edits(bare)


def entries_of(texts: Sequence[str], traits: Sequence[int]) -> frozenset[int]:
    """Return the positions of entries: list items, and rows of similar short blocks, linked or not."""
    found: set[int] = set()
    places = [i for i in range(len(texts)) if not traits[i] & CONTROL]
    start, bits = 0, ITEM | LINK | HEADING | CELL
    kinds = (traits[i] & bits if traits[i] & ITEM or len(texts[i]) <= LONGEST_LABEL else -1 for i in places)
    for kind, run in groupby(kinds):
        end = start + sum(1 for _ in run)
        least = _ROW if kind & LINK else _PLAIN_ROW
        if kind >= 0 and (kind & ITEM or end - start >= least):
            found.update(places[start:end])
        start = end
    return frozenset(found)


def is_value(canonical: str, trait: int, position: int, zone: Zone) -> bool:
    """Whether a label may be a value: no stamp, no past date, and on a text page inside its zone and without a link."""
    timed = canonical.replace(_TIME, "").strip()
    bare = _MASK.sub("", timed).strip()
    if bare != timed or not (LETTERS.search(bare) or NUMBER.search(bare) or len(bare) > 1):
        return False
    if speaks_of_edits(bare) or (is_only_date(bare) and not is_future(bare, zone.today)) or position >= zone.foot:
        return False
    if VERSION.search(bare) is not None and zone.ends(position):
        return False
    return not zone.text or (zone.holds(position) and not zone.ends(position) and not trait & LINK)


def may_count(before: tuple[str, str], after: tuple[str, str], *, dated: bool = False) -> bool:
    """Whether the differing figures of two texts may be counters: not of a price, version or file, or of a date unless
    `dated`. before, after: text and canonical form. A line of many percentages is a ticker.
    """
    if _amounts(before[0]) != _amounts(after[0]):
        return not names_currency(after[0]) and len(NUMBER.findall(after[1])) >= _TICKER_NUMBERS
    if VERSION.findall(before[1]) != VERSION.findall(after[1]) or _FILE.search(after[0]):
        return False
    return dated or not (dates_in(after[1]) or dates_in(before[1]))


def _amounts(text: str) -> list[str]:
    return [*(found[0] for found in _AMOUNT.finditer(text)), *_of_table(text)]


@lru_cache(maxsize=16)  # a check asks several times in a row
def _of_table(text: str) -> tuple[str, ...]:
    """Return the figures next to a currency from the table: "95 ريال", "Rs. 500", "12 RM"."""
    figures = ((at, text[max(0, at.start() - _LONGEST_CURRENCY) : at.start()]) for at in NUMBER.finditer(text))
    return tuple(at[0] for at, left in figures if _BEHIND_FIGURE.match(text, at.end()) or _BEFORE_FIGURE.search(left))


def names_currency(text: str) -> bool:
    return _CURRENCY.search(text) is not None or _of_table(text) != ()


def is_future(canonical: str, today: int) -> bool:
    """Whether a text has a day after `today` (an ordinal, 0 if unknown): a future date is no stamp."""
    if not today:
        return False
    days = (reading for at in dates_in(canonical) if at.has_year for reading in at.readings)
    return any(date(year, month or 1, day or 1).toordinal() > today for year, month, day in days)


def ticker_shape(text: str, canonical: str, trait: int) -> str:
    """Return the shape of a line of figures (quotes, weather), else "". If only its figures change, and have before, it
    changes by itself; prices, versions and cells never do.
    """
    shape, numbers = ("", 0) if trait & CELL or words_in(canonical) > LONG else SIGNED.subn("0", canonical)
    if numbers < _TICKER_NUMBERS or names_currency(text) or VERSION.search(canonical) or dates_in(canonical):
        return ""
    return f"figures {shape}"


MOST_TEXT = 192 * 1024  # characters of reported text to store, about 64 KiB deflated; blocks beyond have only keys
MOST_RECENT, MOST_GONE, MOST_STATES, MOST_SLOTS = 1_500, 1_000, 16, 64
_KEY = 8


class HeldPage(Struct, frozen=True, array_like=True):
    """Another page in this one's place, not yet reported. keys: of its blocks. looks: checks that found it, since
    `since` (milliseconds). spaced: the same without those soon after another. away: spaced checks since this page was
    last seen, whatever replaced it. last: the latest one.
    """

    keys: bytes = b""
    looks: int = 0
    since: int = 0
    spaced: int = 0
    away: int = 0
    last: int = 0


class PageIdentity(Struct, frozen=True, array_like=True):
    """A page's identity apart from its blocks; "" if unknown. title: the document's. address, canonical: paths, after
    redirects and as declared. language: as declared. says: the kind of stand-in that stayed and was reported: a login.
    """

    title: str = ""
    address: str = ""
    canonical: str = ""
    language: str = ""
    says: str = ""


class Slot(Struct, frozen=True, array_like=True):
    """A place whose block was replaced. brief: replacements in a row after a brief stay. since: number of the last such
    check. value: for a JSON member, a digest of its unreported value.
    """

    key: str
    brief: int
    since: int
    value: str = ""


class PageMemory(Struct, frozen=True, array_like=True):
    """The packed form. `texts` is deflated, one block a line; keys are 8 bytes each, `traits` 1."""

    version: int = 5
    """Also changes with the canonical form of blocks, because keys are compared across checks."""
    texts: bytes = b""
    keys: bytes = b""
    traits: bytes = b""
    recent: bytes = b""
    held: HeldPage = HeldPage()
    states: bytes = b""
    """Digests of reported states, newest last."""
    gone: bytes = b""
    """Keys of blocks removed in a report."""
    face: PageIdentity = PageIdentity()
    """Of the page when it was last reported."""
    pending: bytes = b""
    since: tuple[int, ...] = ()
    """The number of the check that found each pending block."""
    missing: bytes = b""
    absent: tuple[int, ...] = ()
    """The number of the check that missed each missing block."""
    told: int = 0
    """The number of the last reported check."""
    looks: int = 0
    """Judged checks; 0 if the caller numbers them, so that a check without changes changes nothing here."""
    turns: tuple[int, ...] = ()
    """Times of returns after a brief stay of another text (milliseconds), newest last."""
    slots: tuple[Slot, ...] = ()
    doubts: int = 0
    """Checks in a row that were in doubt, counted up to the number of quick checks."""
    places: bytes = b""
    """Places of the reported blocks in tables (see `pack_places`)."""
    began: int = 0
    """The time of the first check behind this memory (milliseconds); 0 if unknown."""
    told_at: int = 0
    """The time of the last report, or of the first check (milliseconds); 0 if unknown."""


class SettledState(Struct, frozen=True, dict=True):
    """An unpacked state. It may have fewer texts than keys: the rest exceeded `MOST_TEXT`. json: whether it is JSON."""

    texts: tuple[str, ...]
    keys: tuple[str, ...]
    traits: tuple[int, ...]
    places: tuple[CellLabels | None, ...] = ()
    json: bool = False

    @cached_property
    def words(self) -> tuple[int, ...]:
        return word_counts(self.texts)

    @cached_property
    def zone(self) -> Zone:
        return zone_of(self.texts, self.words, self.traits)

    @cached_property
    def entries(self) -> frozenset[int]:
        return entries_of(self.texts, self.traits)


class PendingDifferences(Struct, frozen=True):
    """Unreported differences from the reported state. came: keys of blocks on the page, with the number of the check
    that found them. missing: reported keys not on the page, with the check that missed them. flickered: keys that came
    or went in an earlier check and have reverted.
    """

    came: Mapping[str, int]
    missing: Mapping[str, int]
    flickered: tuple[str, ...]


def pack(settled: SettledState, recent: Sequence[str] = (), state: bytes = b"") -> PageMemory:
    """Return the memory of a newly reported state. state: its `state_of`, if known."""
    texts = "\n".join(_bounded(settled.texts)).encode("utf-8", "replace")
    return PageMemory(
        texts=zlib.compress(texts, 4),
        keys=packed(settled.keys),
        traits=bytes([trait & STORED for trait in settled.traits]),
        recent=packed_recent(recent),
        states=state or state_of(settled),
        places=pack_places(settled.places, texts),
    )


def state_of(settled: SettledState) -> bytes:
    """Hash a whole check to 8 bytes; the order of its blocks does not count."""
    return hashlib.blake2b(packed(sorted(settled.keys)), digest_size=_KEY).digest()


def with_state(states: bytes, state: bytes) -> bytes:
    others = b"".join(known for known in states_in(states) if known != state)
    return (others + state)[-_KEY * MOST_STATES :]


def states_in(states: bytes) -> list[bytes]:
    return [states[i : i + _KEY] for i in range(0, len(states), _KEY)]


def packed(keys: Iterable[str]) -> bytes:
    return bytes.fromhex("".join(keys))


def packed_recent(keys: Sequence[str], most: int = MOST_RECENT) -> bytes:
    """Pack the newest `most` distinct keys, oldest first; a repeated key is new again."""
    newest = list(dict.fromkeys(reversed(keys)))[:most]
    return packed(reversed(newest))


def settled_of(memory: PageMemory) -> SettledState:
    return _settled(memory.texts, memory.keys, memory.traits)


@lru_cache(maxsize=1)
def _settled(texts: bytes, keys: bytes, traits: bytes) -> SettledState:
    unpacked = unpack_keys(keys)
    plain = zlib.decompressobj().decompress(texts, 8 * MOST_TEXT).decode("utf-8", "replace") if texts else ""
    return SettledState(tuple(plain.split("\n"))[: len(unpacked)], unpacked, tuple(traits))


def placed(memory: PageMemory) -> SettledState:
    """Return the reported state with the places of its blocks, needed only for reports."""
    return _settled_state(memory.texts, memory.keys, memory.traits, memory.places)


@lru_cache(maxsize=1)
def _settled_state(texts: bytes, keys: bytes, traits: bytes, places: bytes) -> SettledState:
    told = _settled(texts, keys, traits)
    if not places:
        return told
    return replace(told, places=unpack_places(places, "\n".join(told.texts).encode("utf-8", "replace")))


def known_keys(memory: PageMemory) -> KnownKeys:
    """Return the keys of the reported texts: outside cells, then in cells."""
    told = settled_of(memory)
    known: KnownKeys = ({}, {})
    for text, trait, block_key in zip(told.texts, told.traits, told.keys, strict=False):
        known[1 if trait & CELL else 0][text] = block_key
    return known


def pending_of(memory: PageMemory, came: Iterable[str], missing: Iterable[str], number: int) -> PendingDifferences:
    before = dict(zip(unpack_keys(memory.pending), memory.since, strict=True))
    absent = dict(zip(unpack_keys(memory.missing), memory.absent, strict=True))
    here = {block: before.get(block, number) for block in came}
    left = {block: absent.get(block, number) for block in missing}
    back = (*(block for block in before if block not in here), *(block for block in absent if block not in left))
    return PendingDifferences(here, left, back)


def with_pending(memory: PageMemory, pending: PendingDifferences) -> PageMemory:
    return replace(
        memory,
        pending=packed(pending.came),
        since=tuple(pending.came.values()),
        missing=packed(pending.missing),
        absent=tuple(pending.missing.values()),
    )


def unpack_keys(packed: bytes) -> tuple[str, ...]:
    return tuple(packed.hex(" ", -_KEY).split())


def encode(memory: PageMemory) -> bytes:
    return msgspec.msgpack.encode(memory)


def decode_memory(stored: bytes) -> PageMemory | None:
    """Decode a stored memory; None if it is unreadable or of another version: the page then gets a new baseline."""
    try:
        memory = msgspec.msgpack.decode(stored, type=PageMemory)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return memory if memory.version == PageMemory().version else None


def began_at(stored: bytes) -> int:
    """Return the time of the first check behind a stored memory; 0 if unknown."""
    memory = decode_memory(stored)
    return 0 if memory is None else memory.began


def _bounded(texts: Sequence[str]) -> Sequence[str]:
    room = MOST_TEXT
    for n, text in enumerate(texts):
        room -= len(text) + 1
        if room < 0:
            return texts[:n]
    return texts
