"""Matching (goals ST11 and ST12): events against many queries, next to the bare work on their words.

Texts have the words of real feeds if the shared material is present, else invented ones with the same distribution;
queries use the texts' words.
"""

from __future__ import annotations

import random
import re
import statistics
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from time import process_time

import Stemmer

from actors.matcher import StandingQueries
from actors.query import AnalysedText, parse
from bench.topic import MATERIAL, Figure, Row, Topic, size

FEEDS = MATERIAL / "feeds/feeds.tar.xz"
TEXTS, MORE = size(300, 5), size(1_000, 10)
MANY, SELECTIVE = size(10_000, 200), size(100_000, 200)
TOPIC = Topic(
    "Matching",
    "Processor time for texts of 1,500 characters; the limit cuts a text into words and stems the distinct ones in two "
    "languages.",
    ("actors/matcher.py", "actors/query"),
    {
        "many": Figure("ST11 analyse and match, 10,000 alerts, two languages", "/s", ">= 500/s"),
        "selective": Figure("ST11 analyse and match, 100,000 selective alerts, two languages", "/s", ">= 300/s"),
        "add": Figure("ST12 add an alert to 100,000, without a rebuild", "us", "<= 1000 us"),
        "remove": Figure("ST12 remove it", "us", "<= 1000 us"),
    },
)
SIZE = 1_500
"""Characters of a text: the mean of real feed entries."""
_WORD = re.compile(r"[^\W_]+")
_TAG = re.compile(r"<[^>]*>|&[#\w]+;|https?:\S+")


def corpus(chance: random.Random) -> list[str]:
    """Return many words in order."""
    words = _words() if FEEDS.exists() else []
    if len(words) < 100_000:
        letters = str.maketrans("0123456789", "ghijklmnop")  # only words of letters become queries
        ranks = [f"ord{rank:x}en".translate(letters) for rank in range(1, 30_001)]
        words = chance.choices(ranks, [1 / rank for rank in range(1, 30_001)], k=400_000)
    return words


def texts(count: int, words: Sequence[str], chance: random.Random) -> list[str]:
    """Return so many texts of `SIZE` characters."""
    made = []
    for _ in range(count):
        start = chance.randrange(len(words) - SIZE)
        made.append(" ".join(words[start : start + SIZE // 4])[:SIZE])
    return made


def _words() -> list[str]:
    """Return the words of the shared feeds in order, without tags."""
    words: list[str] = []
    with tarfile.open(FEEDS) as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None and len(words) < 400_000:
                words += _TAG.sub(" ", file.read(60_000).decode("utf-8", "ignore")).split()
    return words


def queries(count: int, words: Sequence[str], rare: bool, chance: random.Random) -> list[str]:
    """Return queries of all kinds with common words, or (`rare`) like names, with words seen once or twice."""
    seen = Counter(word for word in _WORD.findall(" ".join(words).lower()) if len(word) > 2 and word.isalpha())
    pool = sorted(word for word, times in seen.items() if (times <= 2 if rare else times > 2))

    def one() -> str:
        a, b, c = chance.choices(pool, k=3)
        if rare:
            return chance.choice([f"{a} {b}", f'"{a} {b}"', f"{a} {b} OR {b} {c}"])
        return chance.choice([f"{a} {b}", f"{a} {b}", f"{a} OR {b} OR {c}", f'"{a} {b}"', f"({a} OR {b}) -{c}", a])

    return [one() for _ in range(count)]


def each(action: Callable[[str], object], items: Sequence[str]) -> float:
    """Return the processor seconds per item, median of three rounds."""
    rounds = []
    for _ in range(3):
        start = process_time()
        for item in items:
            action(item)
        rounds.append((process_time() - start) / len(items))
    return statistics.median(rounds)


def bare() -> Callable[[str], object]:
    """Return the limit: split words with one expression, stem the distinct ones in two languages."""
    stemmers = [Stemmer.Stemmer(name) for name in ("swedish", "english")]

    def analyse(text: str) -> object:
        words = list({*_WORD.findall(text.casefold())})
        return [stemmer.stemWords(words) for stemmer in stemmers]

    return analyse


def filled(alerts: Sequence[str]) -> StandingQueries:
    """Return an index of the queries, half of them Swedish, half English."""
    index = StandingQueries()
    for number, text in enumerate(alerts):
        index.add(str(number), parse(text, "sv" if number % 2 else "en"))
    return index


def rows() -> Iterator[Row]:
    chance = random.Random(11)
    words = corpus(chance)
    sample = texts(TEXTS, words, chance)
    limit = each(bare(), sample)
    for key, count, rare in (("many", MANY, False), ("selective", SELECTIVE, True)):
        index = filled(queries(count, words, rare, chance))
        hits = 0

        def match(text: str, index: StandingQueries = index) -> None:
            nonlocal hits
            hits += len(index.match(AnalysedText("", text), "source"))

        ours = each(match, sample)
        yield Row(key, 1 / ours, 1 / limit, f"{hits / 3 / len(sample):.1f} hits a text")
    adding, dropping = _changes(index, queries(MORE, words, True, chance))
    yield Row("add", 1e6 * adding)
    yield Row("remove", 1e6 * dropping)


def _changes(index: StandingQueries, more: list[str]) -> tuple[float, float]:
    """Return the processor seconds for adding a query, including parsing, and for removing it."""
    start = process_time()
    for number, text in enumerate(more):
        index.add(f"more {number}", parse(text, "sv"))
    middle = process_time()
    for number in range(len(more)):
        index.remove(f"more {number}")
    return (middle - start) / len(more), (process_time() - middle) / len(more)
