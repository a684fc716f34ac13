"""`python -m bench.kinds [FOLDER]`: kinds of change, and prices, against labels.

Kinds: the altered blocks of real pages (the pairs of `bench.churn_material`) whose texts a reader has labelled:
`kind_labels.txt` has a line for each, a digest of both texts and its kinds. Every second one was shown while the rules
were made; the other half says how good they are elsewhere. Prices: 10,000 strings that CLDR's rules make of amounts, in
the twelve locales that the reading was written with and in twenty others.
"""

from __future__ import annotations

import argparse
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from actors.content.errors import ContentError
from actors.content.messages.requests import PageRequest
from actors.content.tasks import look_page
from actors.content.values.amounts import Writing
from actors.content.values.kinds import kinds_of
from actors.content.values.reading import values_in
from actors.content.wording.fingerprint import digest16
from bench.churn_material import DEFAULT, Pair, pairs_of
from storage.records.event import Change, Diff
from tests.actors.content.values.prices import HELD_OUT, TWELVE, prices

LABELS = Path(__file__).with_name("kind_labels.txt")
PRICES = 10_000


def labels() -> Mapping[str, frozenset[str]]:
    """Return the labelled kinds by digest, in the order of labelling."""
    rows = (line.split() for line in LABELS.read_text().splitlines() if line and not line.startswith("#"))
    return {digest: frozenset(kinds.split(",")) for digest, kinds in rows}


def digest_of(change: Change) -> str:
    return digest16(f"{change.before}\0{change.after}")


def changes_in(folder: Path, pairs: Sequence[Pair]) -> Iterator[Change]:
    """Yield the altered blocks of pairs of looks, as the product tells them."""
    files = _files(folder, {name for pair in pairs for name in (pair.before, pair.after)})
    for pair in pairs:
        try:
            first = look_page(PageRequest(files[pair.before], "text/html", "https://shore.example/"))
            then = PageRequest(files[pair.after], "text/html", "https://shore.example/", memory=first.memory, number=2)
            diff = look_page(then).diff
        except ContentError:
            continue
        if diff is not None:
            yield from diff.changed


def _files(folder: Path, wanted: set[str]) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(folder / "pages.tar.xz") as archive:
        for member in archive:
            name = member.name.removeprefix("./")
            if name in wanted and (file := archive.extractfile(member)) is not None:
                found[name] = file.read()
    return found


def score(rows: Sequence[tuple[Change, frozenset[str]]]) -> tuple[float, float, float]:
    """Return precision, recall and F1 over all kinds of all blocks."""
    right = told = asked = 0
    for change, kinds in rows:
        found = {one.kind for one in kinds_of(Diff((), (), (change,)), Writing())}
        right, told, asked = right + len(found & kinds), told + len(found), asked + len(kinds)
    return right / max(1, told), right / max(1, asked), 2 * right / max(1, told + asked)


def misread(locales: dict[str, str], seed: int) -> tuple[int, int]:
    """Return how many prices are read as another number, and how many as none."""
    wrong = missed = 0
    for price in prices(locales, PRICES, seed):
        values = [one.value for one in values_in(price.text, Writing(price.locale.replace("_", "-").lower()))]
        money = [Decimal(one.number).scaleb(-one.scale) for one in values if one.type == "money" and one.number]  # type: ignore[arg-type]
        missed += not money
        wrong += bool(money) and money != [price.amount]
    return wrong, missed


def main() -> None:
    """Print the scores of both halves, and the prices."""
    parser = argparse.ArgumentParser(prog="python -m bench.kinds", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    asked = parser.parse_args()
    known = labels()
    places = {digest: at for at, digest in enumerate(known)}
    pairs = [pair for pair in pairs_of(asked.folder) if pair.label == "real" and pair.labelled == "read"]
    found = {digest_of(change): change for change in changes_in(asked.folder, pairs)}
    for half, name in ((0, "shown while the rules were made"), (1, "not shown")):
        rows = [(found[one], known[one]) for one in known if one in found and places[one] % 2 == half]
        precision, recall, f1 = score(rows)
        print(f"kinds, {name}: {len(rows)} blocks, precision {precision:.3f}, recall {recall:.3f}, F1 {f1:.3f}")
    for locales, name in ((TWELVE, "twelve locales"), (HELD_OUT, "twenty others")):
        wrong, missed = misread(locales, 11)
        print(f"prices, {name}: of {PRICES:,} {wrong} read as another, {missed} as none")


if __name__ == "__main__":
    main()
