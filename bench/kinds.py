"""`python -m bench.kinds [FOLDER] [--looks FOLDER]`: kinds of change, and prices, against labels.

Kinds: the altered blocks of real pages (the pairs of `bench.churn_material`, and the long histories of `bench.natural`)
whose texts a reader has labelled. `kind_labels.txt` has a line for each, a digest of both texts and its kinds: every
second one was shown while the rules were made. `kind_labels_blind.txt` were labelled later, in one batch before the
rules had seen any of them; what their first run found wrong was then looked at, so since then they are no longer
unseen. `kind_labels_sought.txt` were sought for kinds of which there were few, and
`kinds_made.txt` are made up, for kinds that real pages hardly had. Each kind has its own score as well. All are read
with the language of their page, as the product does. Prices: 10,000 strings that CLDR's rules make
of amounts, in the twelve locales that the reading was written with and in twenty others.
"""

from __future__ import annotations

import argparse
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from actors.content.changes.memory import decode_memory, placed
from actors.content.errors import ContentError
from actors.content.messages import PageRequest
from actors.content.pages.page import code_of
from actors.content.tasks import look_page
from actors.content.values.kinds import kinds_of
from actors.content.values.reading import Writing, values_in
from actors.content.wording.words import digest16
from bench import natural
from bench.churn_material import DEFAULT, Pair, pairs_of
from bench.topic import Absent, Figure, Row, Topic, size
from storage.records.event import CHANGE_KINDS, Change, Diff
from tests.actors.content.values.prices import HELD_OUT, TWELVE, prices

LABELS = Path(__file__).with_name("kind_labels.txt")
BLIND = Path(__file__).with_name("kind_labels_blind.txt")
SOUGHT = Path(__file__).with_name("kind_labels_sought.txt")
MADE = Path(__file__).with_name("kinds_made.txt")
PRICES = size(10_000, 100)
LABELLED = size(1_000, 4)
SETS = {
    "shown": "real blocks shown while the rules were made",
    "hidden": "real blocks not shown",
    "blind": "real blocks labelled blind",
    "learned": "blocks sought, to learn from",
    "sought": "blocks sought, held out",
    "made": "changes made up, 12 locales",
}
TOPIC = Topic(
    "Kinds of change",
    "F1 on altered blocks that a reader labelled, and 10,000 generated prices of each group of locales.",
    ("actors/content/values", "actors/content/wording"),
    {key: Figure(f"{name}: F1", "", ">= 0.9") for key, name in SETS.items()}
    | {
        "twelve": Figure("prices read as another number, 12 locales", "", "<= 0"),
        "twenty": Figure("prices read as another number, 20 others", "", "<= 0"),
    },
)
_URL = "https://shore.example/"


class Labelled(NamedTuple):
    """A block's kinds. look: "p001/7" in a long history, "page/01.html..02.html" between versions, "" for a pair."""

    kinds: frozenset[str]
    look: str = ""


class Altered(NamedTuple):
    """An altered block, with its page's language: declared, else detected from its words."""

    change: Change
    writing: Writing


Rows = Sequence[tuple[Altered, frozenset[str]]]


def labels(file: Path = LABELS) -> Mapping[str, Labelled]:
    """Return the labels by digest, in the order of labelling."""
    rows = (line.split() for line in file.read_text().splitlines() if line and not line.startswith("#"))
    return {digest: Labelled(frozenset(kinds.split(",")), *look) for digest, kinds, *look in rows}


def made(file: Path = MADE) -> Iterator[tuple[Altered, frozenset[str]]]:
    """Yield the invented changes with their kinds."""
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith("#"):
            locale, kinds, before, after = line.split(" | ")
            writing = Writing(locale.replace("_", "-").lower())
            yield Altered(Change(before, after), writing), frozenset(kinds.split(","))


def digest_of(change: Change) -> str:
    return digest16(f"{change.before}\0{change.after}")


def changes_in(folder: Path, pairs: Sequence[Pair]) -> Iterator[Altered]:
    """Yield the altered blocks of pairs, as the product reports them."""
    files = _files(folder, {name for pair in pairs for name in (pair.before, pair.after)})
    for pair in pairs:
        yield from _altered(files[pair.before], files[pair.after], "text/html")


def changes_in_looks(folder: Path, wanted: set[str]) -> Iterator[Altered]:
    """Yield the altered blocks between versions in long histories ("p001/7") and their predecessors."""
    pages = {page.page: page for page in natural.pages_of(folder)}
    named = {look.partition("/")[0] for look in wanted}
    for page, found in natural.bodies(folder, {name: pages[name] for name in named}):
        for number in sorted(int(look.partition("/")[2]) for look in wanted if look.startswith(f"{page.page}/")):
            before, after = (found[page.looks[at].file] for at in (number - 1, number))
            yield from _altered(before, after, "text/html; charset=utf-8")


def changes_in_versions(folder: Path, wanted: set[str]) -> Iterator[Altered]:
    """Yield the altered blocks between versions of pages: "page/01.html..02.html"."""
    named = {
        look: tuple(f"{look.partition('/')[0]}/{name}" for name in look.partition("/")[2].split(".."))
        for look in wanted
    }
    files = _files(folder, {name for names in named.values() for name in names})
    for before, after in named.values():
        yield from _altered(files[before], files[after], "text/html")


def _altered(before: bytes, after: bytes, content_type: str) -> Sequence[Altered]:
    try:
        first = look_page(PageRequest(before, content_type, _URL))
        look = look_page(PageRequest(after, content_type, _URL, memory=first.memory, number=2))
    except ContentError:
        return ()
    memory = decode_memory(look.memory)
    if look.diff is None or memory is None:
        return ()
    writing = Writing(memory.face.language or code_of(placed(memory).texts))
    return [Altered(change, writing) for change in look.diff.changed]


def _files(folder: Path, wanted: set[str]) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(folder / "pages.tar.xz", "r|xz") as archive:
        for member in archive:
            if len(found) == len(wanted):
                break
            name = member.name.removeprefix("./")
            if name in wanted and (file := archive.extractfile(member)) is not None:
                found[name] = file.read()
    return found


def score(rows: Rows, only: str = "") -> tuple[float, float, float]:
    """Return precision, recall and F1 over all kinds of all blocks. only: restricts to this kind."""
    right = said = asked = 0
    for altered, kinds in rows:
        found = told(altered)
        ours, theirs = ({one for one in side if one == only or not only} for side in (found, kinds))
        right, said, asked = right + len(ours & theirs), said + len(ours), asked + len(theirs)
    return right / max(1, said), right / max(1, asked), 2 * right / max(1, said + asked)


def told(altered: Altered) -> frozenset[str]:
    """Return the kinds that the product reports for a block."""
    return frozenset(one.kind for one in kinds_of(Diff((), (), (altered.change,)), altered.writing))


def _print(rows: Rows, name: str, *, by_kind: bool) -> None:
    print(f"kinds, {name}: {len(rows)} blocks, {_said(score(rows))}")
    for kind in CHANGE_KINDS if by_kind else ():
        count = sum(kind in kinds for _, kinds in rows)
        if count:
            print(f"  {kind}: {count} blocks, {_said(score(rows, kind))}")


def _said(scores: tuple[float, float, float]) -> str:
    precision, recall, f1 = scores
    return f"precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}"


def misread(locales: dict[str, str], seed: int) -> tuple[int, int]:
    """Return how many prices are read as another number, and how many as none."""
    wrong = missed = 0
    for price in prices(locales, PRICES, seed):
        values = [one.value for one in values_in(price.text, Writing(price.locale.replace("_", "-").lower()))]
        money = [Decimal(one.number).scaleb(-one.scale) for one in values if one.type == "money" and one.number]  # type: ignore[arg-type]
        missed += not money
        wrong += bool(money) and money != [price.amount]
    return wrong, missed


def sets(folder: Path, looks_folder: Path) -> Iterator[tuple[str, Rows]]:
    """Yield each set of labelled blocks by its key in SETS."""
    known, blind, sought = labels(), labels(BLIND), labels(SOUGHT)
    pairs = [pair for pair in pairs_of(folder) if pair.label == "real" and pair.labelled == "read"]
    looks = {one.look for one in islice((*blind.values(), *sought.values()), LABELLED) if one.look}
    versions = {look for look in looks if ".." in look}
    altered = (
        *changes_in(folder, pairs[:LABELLED]),
        *changes_in_looks(looks_folder, looks - versions),
        *changes_in_versions(folder, versions),
    )
    found = {digest_of(one.change): one for one in altered}

    def of(labelled: Mapping[str, Labelled], half: int | None = None) -> Rows:
        wanted = (one for at, one in enumerate(labelled) if half in (None, at % 2))
        return [(found[one], labelled[one].kinds) for one in wanted if one in found]

    yield "shown", of(known, 0)
    yield "hidden", of(known, 1)
    yield "blind", of(blind)
    yield "learned", of(sought, 0)
    yield "sought", of(sought, 1)


def rows() -> Iterator[Row]:
    invented = list(made())
    yield Row("made", score(invented)[2], note=f"of {len(invented)}")
    yield Row("twelve", misread(TWELVE, 11)[0])
    yield Row("twenty", misread(HELD_OUT, 11)[0])
    if not (DEFAULT / "manifest.jsonl").exists() or not (natural.DEFAULT / "manifest.jsonl").exists():
        raise Absent("the shared pages and histories")
    for key, found in sets(DEFAULT, natural.DEFAULT):
        yield Row(key, score(found)[2], note=f"of {len(found)}")


def main() -> None:
    """Print the scores of each set, and the prices."""
    parser = argparse.ArgumentParser(prog="python -m bench.kinds", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--looks", type=Path, default=natural.DEFAULT)
    parser.add_argument("--list", action="store_true", help="print the blocks of which other kinds are told")
    asked = parser.parse_args()
    for key, rows in (*sets(asked.folder, asked.looks), ("made", list(made()))):
        _print(rows, SETS[key], by_kind=key not in ("shown", "hidden"))
        for one, kinds in rows if asked.list and key in ("blind", "learned", "made") else ():
            if (said := told(one)) != kinds:
                print(f"{digest_of(one.change)} is {','.join(sorted(kinds))}, told {','.join(sorted(said))}")
    for locales, name in ((TWELVE, "twelve locales"), (HELD_OUT, "twenty others")):
        wrong, missed = misread(locales, 11)
        print(f"prices, {name}: of {PRICES:,} {wrong} read as another, {missed} as none")


if __name__ == "__main__":
    main()
