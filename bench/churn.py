"""`python -m bench.churn [FOLDER]`: distinguish real changes from churn, over every pair of a manifest with history.

The product's code runs in its worker's task, check by check, next to other programs' comparisons. *Hard* pairs were
labelled by a reader, each with a visible difference; *false alarms* count over all byte-changes of real pages without
news. Intervals are a bootstrap over site families. No algorithm fitted the rules, so there is no cross-validation:
figures are given for each fold of families with their spread, and for two halves. Since the split, only the first
half's misses are read, and rules that hurt the second are dropped. Older rules saw the whole set, so only other sites
are truly unseen.
"""

from __future__ import annotations

import random
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time

from actors.content.changes.churn import MINOR
from actors.content.changes.difference import LEAST_OTHERS, shared_keys
from actors.content.messages import EMIT
from bench import churn_edits
from bench.churn_filters import OTHERS, Outcome, installed, last_keys, ours, theirs
from bench.churn_material import DEFAULT, Pair, folds, halves, histories, pairs_of
from bench.topic import Absent, Figure, Row, Topic, size

GOAL_PRECISION, GOAL_RECALL, GOAL_ALARMS = 0.92, 0.94, 0.03
FOLDS = 5
HOST_KNOWN = "sanderling, host's pages known"
_BOOTSTRAP = 500
_SMALLEST, _LARGEST = 80_000, 140_000
PAIRS = size(100_000, 4)
EDITS = ("negation", "price", "date", "number")
TOPIC = Topic(
    "Changes of pages, told from churn",
    "Pairs of versions of real pages that a reader labelled; half of the sites' misses are not read. The limit tells "
    "every visible difference.",
    ("actors/content",),
    {
        "precision": Figure("hard pairs, precision", "", f">= {GOAL_PRECISION}"),
        "recall": Figure("hard pairs, recall", "", f">= {GOAL_RECALL}"),
        "alarms": Figure("false alarms over all byte-changes", "", f"<= {GOAL_ALARMS}"),
        "held_precision": Figure("hard pairs of the half that is not read, precision", "", f">= {GOAL_PRECISION}"),
        "held_recall": Figure("hard pairs of the half that is not read, recall", "", f">= {GOAL_RECALL}"),
    }
    | {kind: Figure(f"one small edit in the main text reported: {kind}", "", ">= 0.95") for kind in EDITS},
)
Outcomes = Mapping[str, Outcome]


class Figures:
    """Precision, recall, F1 and the share of false alarms of some outcomes."""

    def __init__(self, pairs: Iterable[Pair], outcomes: Outcomes) -> None:
        self.tally = Counter((pair.real, outcomes[pair.id].real) for pair in pairs)
        hits, alarms, misses = self.tally[True, True], self.tally[False, True], self.tally[True, False]
        self.precision = hits / max(1, hits + alarms)
        self.recall = hits / max(1, hits + misses)
        self.f1 = 2 * hits / max(1, 2 * hits + alarms + misses)
        self.alarms = alarms / max(1, alarms + self.tally[False, False])

    def __str__(self) -> str:
        return f"P {self.precision:.3f}  R {self.recall:.3f}  F1 {self.f1:.3f}"


def hard(pairs: Sequence[Pair]) -> list[Pair]:
    return [pair for pair in pairs if pair.labelled == "read"]


def found(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs of real pages, without scripted ones."""
    return [pair for pair in pairs if pair.labelled != "synthetic"]


def interval(pairs: Sequence[Pair], outcomes: Outcomes, figure: Callable[[Figures], float]) -> str:
    """Return a figure's 95 % interval, by drawing families with replacement."""
    chance = random.Random(0)
    families: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        families[pair.family].append(pair)
    names = sorted(families)
    drawn = (chance.choices(names, k=len(names)) for _ in range(_BOOTSTRAP))
    values = sorted(figure(Figures([p for name in draw for p in families[name]], outcomes)) for draw in drawn)
    return f"[{values[_BOOTSTRAP // 40]:.2f}-{values[-_BOOTSTRAP // 40 - 1]:.2f}]"


def run(folder: Path, *, others: bool) -> tuple[list[Pair], dict[str, dict[str, Outcome]]]:
    """Return the pairs and each filter's outcomes; other programs see only real pages."""
    pairs = pairs_of(folder)[:PAIRS]
    outcomes: dict[str, dict[str, Outcome]] = defaultdict(dict)
    filters = {name: value for name, (value, package) in OTHERS.items() if others and installed(package)}
    shared = shared_by_page(folder, pairs)
    for of_page, bodies in histories(folder, pairs):
        for name, value in filters.items():
            if of_real := found(of_page):
                outcomes[name].update(theirs(value, of_real, bodies))
        outcomes["sanderling"].update(ours(of_page, bodies))
        keys = shared.get(of_page[0].page, ())
        known = ours(of_page, bodies, keys) if keys else {pair.id: outcomes["sanderling"][pair.id] for pair in of_page}
        outcomes[HOST_KNOWN].update(known)
    return pairs, outcomes


def shared_by_page(folder: Path, pairs: Sequence[Pair]) -> dict[str, tuple[str, ...]]:
    """Return for each page the keys that the last checks of its site's other pages share."""
    pages: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        pages[pair.site].add(pair.page)
    several = [pair for pair in pairs if len(pages[pair.site]) > LEAST_OTHERS]
    keys: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for of_page, bodies in histories(folder, several):
        keys[of_page[0].site][of_page[0].page] = last_keys(of_page, bodies)
    return {
        page: shared_keys(others for other, others in sorted(of_site.items()) if other != page)
        for of_site in keys.values()
        for page in of_site
    }


def edited(folder: Path, pairs: Sequence[Pair]) -> dict[str, list[int]]:
    """Return for each kind of small edit the check that reported it, over the last checks of all pages."""
    all_told: dict[str, list[int]] = defaultdict(list)
    for of_page, bodies in histories(folder, pairs):
        for kind, outcomes in churn_edits.told(of_page, bodies).items():
            all_told[kind] += outcomes
    return all_told


def line(name: str, pairs: Sequence[Pair], outcomes: Outcomes) -> str:
    """Return a filter's line: hard pairs, all byte-changes, and the CPU for a page of 80 to 140 kB."""
    read, real = Figures(hard(pairs), outcomes), Figures(found(pairs), outcomes)
    times = [outcomes[p.id].ms for p in found(pairs) if _SMALLEST <= outcomes[p.id].size <= _LARGEST] or [0.0]
    spread = interval(hard(pairs), outcomes, lambda figures: figures.f1)
    return (
        f"{name:36}{read} {spread}  false alarms {100 * real.alarms:5.1f} %"
        f"  {statistics.median(times):6.1f} ms (p90 {sorted(times)[len(times) * 9 // 10]:.0f})"
    )


def of_each(title: str, pairs: Sequence[Pair], outcomes: Outcomes, named: Callable[[Pair], Sequence[str]]) -> None:
    """Print a line for each group of pairs, the largest first."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        for name in named(pair):
            groups[name].append(pair)
    print(f"\n{title}")
    for name, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        figures = Figures(group, outcomes)
        real, told = figures.tally[True, True] + figures.tally[True, False], figures.tally[True, True]
        churn, alarms = len(group) - real, figures.tally[False, True]
        recall = f"{told:3} of {real:3} told" if real else ""
        silent = f"{churn - alarms:3} of {churn:3} silent" if churn else ""
        print(f"  {name[:64]:64}  {recall:15}  {silent}")


def _noise(pair: Pair) -> list[str]:
    """Return the components of a synthetic pair's churn, and its real part."""
    return [re.sub("^[cr]_", lambda sign: {"c_": "noise: ", "r_": "change: "}[sign[0]], name) for name in pair.mutators]


def parts(pairs: Sequence[Pair], outcomes: Outcomes, host_known: Outcomes) -> None:
    """Print the folds of families with their spread, and the two halves."""
    print(f"\n{FOLDS} folds of families")
    of_folds = [part for part in folds(pairs, FOLDS) if hard(part)]
    for n, part in enumerate(of_folds, 1):
        alarms = Figures(found(part), outcomes).alarms
        print(f"  {n}: {len(hard(part)):3} hard  {Figures(hard(part), outcomes)}  false alarms {100 * alarms:.1f} %")
    f1s = [Figures(hard(part), outcomes).f1 for part in of_folds]
    if len(f1s) > 1:
        print(f"  F1 {min(f1s):.3f} to {max(f1s):.3f}, standard deviation {statistics.stdev(f1s):.3f}")
    print("\nhalves of the families (misses are read in the first only)")
    for name, part in zip(("tuning", "held out"), halves(pairs), strict=True):
        print(f"  {line(name, part, outcomes)}")
        print(f"  {line(f'{name}, host known', part, host_known)}")


def scores(pairs: Sequence[Pair], outcomes: Outcomes) -> None:
    """Print the distribution of hard pairs' scores: reported, minor, below."""
    print(f"\nscores of hard pairs (told from {EMIT}, minor from {MINOR})")
    for label in ("real", "churn"):
        looks = [outcomes[pair.id].look for pair in hard(pairs) if pair.label == label]
        values = [look.score for look in looks if look is not None]
        told, minor = sum(score >= EMIT for score in values), sum(MINOR <= score < EMIT for score in values)
        print(
            f"  {label:6} {len(looks):4}: {told:4} told, {minor:4} minor, {len(looks) - told - minor:4} below or held"
        )


def report(pairs: Sequence[Pair], outcomes: Mapping[str, Outcomes]) -> None:
    product = outcomes["sanderling"]
    print(f"{len(pairs)} pairs of {len({pair.family for pair in pairs})} families, {len(hard(pairs))} of them hard\n")
    for name, (_, package) in OTHERS.items():
        if name in outcomes:
            print(line(name, found(pairs), outcomes[name]))
        elif not installed(package):
            print(f"{name:36}skipped: {package} is not installed")
    print(line("sanderling", pairs, product))
    print(line(HOST_KNOWN, pairs, outcomes[HOST_KNOWN]))
    read = hard(pairs)
    print(
        f"goal: P >= {GOAL_PRECISION}, R >= {GOAL_RECALL}, false alarms <= {100 * GOAL_ALARMS:.0f} %;"
        f" intervals: P {interval(read, product, lambda figures: figures.precision)},"
        f" R {interval(read, product, lambda figures: figures.recall)}"
    )
    of_each("hard, by kind of page", read, product, lambda pair: (pair.kind,))
    of_each("hard, by what the reader saw", read, product, lambda pair: (pair.reason,))
    of_each("no visible difference", [p for p in pairs if p.labelled == "auto"], product, lambda pair: (pair.kind,))
    of_each("made by a script", [p for p in pairs if p.labelled == "synthetic"], product, _noise)
    scores(pairs, product)
    parts(pairs, product, outcomes[HOST_KNOWN])


def rows() -> Iterator[Row]:
    if not (DEFAULT / "manifest.jsonl").exists():
        raise Absent("the shared pages")
    pairs, outcomes = run(DEFAULT, others=False)
    product = outcomes["sanderling"]
    read, held = Figures(hard(pairs), product), Figures(hard(halves(pairs)[1]), product)
    yield Row("precision", read.precision, sum(pair.real for pair in hard(pairs)) / max(1, len(hard(pairs))))
    yield Row("recall", read.recall, 1.0)
    yield Row("alarms", Figures(found(pairs), product).alarms)
    yield Row("held_precision", held.precision)
    yield Row("held_recall", held.recall)
    told = edited(DEFAULT, pairs)
    for kind in EDITS:
        yield Row(kind, sum(look > 0 for look in told[kind]) / max(1, len(told[kind])), note=f"of {len(told[kind])}")


def main(arguments: Sequence[str]) -> int:
    """Run over a folder and print the tables; `--alone` skips the other programs."""
    words = [word for word in arguments if word != "--alone"]
    start = process_time()
    folder = Path(words[0]) if words else DEFAULT
    pairs, outcomes = run(folder, others="--alone" not in arguments)
    report(pairs, outcomes)
    churn_edits.report(edited(folder, pairs))
    print(f"\n{process_time() - start:.0f} s of CPU")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
