"""`python -m bench.natural [FOLDER]`: long real histories of pages, check by check, against the labels of a reader.

A folder has `looks.tar.xz` and `manifest.jsonl`: per line a page with its checks in order, their times, and a label
(real, churn, ambiguous) if a first judge reported the check and a reader read the difference. All checks run in the
product's own task. A check that holds is repeated a minute later, as in the service.

A label belongs to a difference, not to a check: a labelled check counts as reported if it or one of the next GRACE
checks is. A report takes its own check's label, or the best one still unreported, or that of the next check, because
the first judge had no repeated checks and reported later. Without any it is new, and `--list FILE` writes it out for
reading. `natural_labels.txt` has a reader's labels of reports, lines of page, time of the check, and label: of new
ones, and of those that compare with another state than the first judge's did, whose label says nothing of them. Nobody
has read the first LEARNING checks of a page: their reports are listed as early and not counted.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import msgspec

from actors.content.errors import ContentError
from actors.content.messages import PageLook, PageRequest
from actors.content.tasks import look_page
from bench.topic import MATERIAL, Absent, Figure, Row, Topic, size

DEFAULT = MATERIAL / "natural"
READ = Path(__file__).with_name("natural_labels.txt")
PAGES = size(1_000, 1)
TOPIC = Topic(
    "Long histories of real pages",
    "Every check of 102 pages in order, against the labels of a reader.",
    ("actors/content",),
    {
        "precision": Figure("precision of what a reader labelled", "", ">= 0.95"),
        "recall": Figure("recall of what a reader called real", "", ">= 0.97"),
    },
)
URL = "https://shore.example/"
GRACE = 4
LEARNING = 8
FOLDS = 5
MINUTE = 60_000
LINES, WIDTH = 6, 200
BEST = ("real", "ambiguous", "churn")


class Seen(msgspec.Struct, frozen=True):
    """One check of the manifest."""

    file: str
    time: datetime
    label: str | None = None


class Page(msgspec.Struct, frozen=True):
    """A line of the manifest."""

    page: str
    family: str
    document: str
    looks: tuple[Seen, ...]


class Told(msgspec.Struct, frozen=True):
    """A report: its check, and the first lines of its content."""

    page: str
    look: int
    score: float
    lines: tuple[str, ...]
    label: str = "new"


class Outcome(msgspec.Struct, frozen=True):
    """A page's result. labelled: each labelled check, and the check that reported it, or None."""

    page: Page
    told: tuple[Told, ...]
    labelled: Mapping[int, int | None]
    failed: int
    held: int
    seconds: float


def pages_of(folder: Path) -> list[Page]:
    lines = (folder / "manifest.jsonl").read_text("utf-8").splitlines()
    return [msgspec.json.decode(line, type=Page) for line in lines]


def bodies(folder: Path, wanted: Mapping[str, Page]) -> Iterator[tuple[Page, dict[str, bytes]]]:
    """Yield each wanted page with its bodies, one page at a time."""
    left = set(wanted)
    with tarfile.open(folder / "looks.tar.xz", "r|xz") as archive:
        files = (member for member in archive if member.isfile())
        for name, members in groupby(files, lambda member: member.name.removeprefix("./").split("/")[0]):
            found = {}
            for member in members:
                handle = archive.extractfile(member) if name in wanted else None
                if handle is not None:
                    found[member.name.removeprefix("./")] = handle.read()
            if name in wanted:
                yield wanted[name], found
                left.discard(name)
            if not left:
                return


def asked(body: bytes, memory: bytes | None, at: int, selector: str | None = None) -> PageRequest:
    return PageRequest(body, "text/html; charset=utf-8", URL, selector=selector, memory=memory, at=at)


def judged(work: tuple[Page, dict[str, bytes]]) -> Outcome:
    """Return the product's reports on a page."""
    page, by_name = work
    start, memory, told, failed, held = process_time(), None, [], 0, 0
    for n, seen in enumerate(page.looks):
        at = int(seen.time.timestamp() * 1000)
        for moment in (at, at + MINUTE):
            try:
                look = look_page(asked(by_name[seen.file], memory, moment))
            except ContentError:
                failed += 1
                break
            memory = look.memory
            failed += look.trouble is not None
            if look.kind == "changed":
                told.append(Told(page.page, n, look.score, first_lines(look)))
            if look.kind != "held":
                break
            held += moment == at
    tellings, labelled = matched(page, told)
    return Outcome(page, tellings, labelled, failed, held, process_time() - start)


def first_lines(look: PageLook) -> tuple[str, ...]:
    """Return the first lines of a difference, cut to a width."""
    if look.diff is None:
        return ()
    rows = [f"+ {text}" for text in look.diff.added[:LINES]] + [f"- {text}" for text in look.diff.removed[:LINES]]
    rows += [f"~ {change.before} -> {change.after}" for change in look.diff.changed[:LINES]]
    return tuple(" ".join(row.split())[:WIDTH] for row in rows)


def matched(page: Page, told: Sequence[Told]) -> tuple[tuple[Told, ...], dict[int, int | None]]:
    """Return the reports with their labels, and for each labelled check the check that reported it."""
    labelled: dict[int, int | None] = {n: None for n, seen in enumerate(page.looks) if seen.label is not None}
    tellings = []
    for one in told:
        if one.look < LEARNING:
            tellings.append(msgspec.structs.replace(one, label="early"))
            continue
        open_ones = [n for n, by in labelled.items() if by is None and 0 <= one.look - n <= GRACE]
        labelled.update(dict.fromkeys(open_ones, one.look))
        labels = {page.looks[n].label for n in open_ones}
        label = next((label for label in BEST if label in labels), "new")
        tellings.append(msgspec.structs.replace(one, label=label))
    for n, one in enumerate(tellings):
        if one.label == "new" and labelled.get(one.look + 1, one.look) is None:
            labelled[one.look + 1] = one.look
            tellings[n] = msgspec.structs.replace(one, label=page.looks[one.look + 1].label or "new")
    return tuple(tellings), labelled


def with_words(outcome: Outcome, words: Mapping[tuple[str, str], str]) -> Outcome:
    """Return the outcome with a reader's labels of reports."""
    looks = outcome.page.looks
    read = (words.get((t.page, f"{looks[t.look].time:%FT%R}"), t.label) for t in outcome.told)
    told = tuple(msgspec.structs.replace(t, label=label) for t, label in zip(outcome.told, read, strict=True))
    return msgspec.structs.replace(outcome, told=told)


class Figures:
    """Reports by label, precision of labelled reports, and recall of real changes."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.tally = Counter(one.label for outcome in outcomes for one in outcome.told)
        self.told = sum(self.tally.values()) - self.tally["early"]
        real = [(n, by) for outcome in outcomes for n, by in outcome.labelled.items() if _real(outcome, n)]
        self.real, self.found = len(real), sum(by is not None for _, by in real)
        self.late = sum(by is not None and by > n for n, by in real)
        right, wrong = self.tally["real"], self.tally["churn"]
        self.precision = right / max(1, right + wrong)
        self.strict = right / max(1, right + wrong + self.tally["new"])
        self.recall = self.found / max(1, self.real)

    def __str__(self) -> str:
        parts = ", ".join(f"{self.tally[label]:3} {label}" for label in (*BEST, "new"))
        return (
            f"{self.told:3} told ({parts})  P {self.precision:.3f} (new ones as wrong {self.strict:.3f})"
            f"  R {self.recall:.3f} ({self.found} of {self.real}, {self.late} late)"
        )


def _real(outcome: Outcome, look: int) -> bool:
    return outcome.page.looks[look].label == "real"


def folds(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Deal the pages into FOLDS parts of equal size, no family in two of them."""
    families: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        families.setdefault(outcome.page.family, []).append(outcome)
    parts: list[list[Outcome]] = [[] for _ in range(FOLDS)]
    for family in sorted(families.values(), key=lambda own: (-sum(len(o.labelled) for o in own), own[0].page.family)):
        min(parts, key=lambda part: (sum(len(o.labelled) for o in part), len(part))).extend(family)
    return [part for part in parts if part]


def report(outcomes: Sequence[Outcome]) -> None:
    """Print the figures: all, by fold, and the real changes never reported."""
    looks = sum(len(outcome.page.looks) for outcome in outcomes)
    failed, held = sum(o.failed for o in outcomes), sum(o.held for o in outcomes)
    families = len({outcome.page.family for outcome in outcomes})
    print(f"{len(outcomes)} pages of {families} families, {looks} looks; {held} looks held, {failed} failed")
    figures = Figures(outcomes)
    print(f"{figures}\n{figures.tally['early']} told among the first {LEARNING} looks of a page, which are not counted")
    print(f"\n{FOLDS} folds of families")
    parts = [Figures(part) for part in folds(outcomes)]
    for n, part in enumerate(parts, 1):
        print(f"  {n}: {part}")
    for name in ("precision", "strict", "recall"):
        values = [getattr(part, name) for part in parts]
        if len(values) > 1:
            spread = f"{min(values):.3f} to {max(values):.3f}, standard deviation {statistics.stdev(values):.3f}"
            print(f"  {'new ones as wrong' if name == 'strict' else name:18}{spread}")
    missed = [f"{o.page.page}/{n:02}" for o in outcomes for n, by in o.labelled.items() if by is None and _real(o, n)]
    print(f"\nlabelled real, never told: {', '.join(missed) or 'none'}")
    print(f"{sum(outcome.seconds for outcome in outcomes):.0f} s of CPU")


def listed(outcomes: Sequence[Outcome]) -> str:
    """Return the reports for reading, new ones first: page, check, label, first lines of the difference."""
    every = [(one, outcome.page) for outcome in outcomes for one in outcome.told]
    every.sort(key=lambda pair: (pair[0].label != "new", pair[0].label, pair[0].page, pair[0].look))
    blocks = []
    for one, page in every:
        seen = page.looks[one.look]
        head = (
            f"{one.page} {seen.time:%FT%R} {one.label}  {page.family}: {page.document}, {one.look:02}, {one.score:.2f}"
        )
        blocks.append("\n".join([head, *(f"    {line}" for line in one.lines)]))
    return "\n\n".join(blocks) + "\n"


def words_of(path: Path) -> dict[tuple[str, str], str]:
    """Read a reader's labels: lines of page, time of the check, and label; the rest of a line is a remark."""
    rows = [line.split() for line in path.read_text("utf-8").splitlines() if line[:1] == "p"]
    return {(page, time): label for page, time, label, *_ in rows}


def run(folder: Path, only: Sequence[str] = (), processes: int = 1, read: Path = READ) -> list[Outcome]:
    """Return the pages' results in the archive's order."""
    wanted, words = {page.page: page for page in pages_of(folder) if not only or page.page in only}, words_of(read)
    if processes == 1:
        return [with_words(judged(work), words) for work in bodies(folder, wanted)]
    with get_context("fork").Pool(processes) as pool:
        return [with_words(outcome, words) for outcome in pool.imap(judged, bodies(folder, wanted))]


def rows() -> Iterator[Row]:
    if not (DEFAULT / "manifest.jsonl").exists():
        raise Absent("the shared histories")
    figures = Figures(run(DEFAULT, [page.page for page in pages_of(DEFAULT)][:PAGES]))
    yield Row("precision", figures.precision)
    yield Row("recall", figures.recall, note=f"of {figures.real}")


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.natural")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    parser.add_argument("--pages", default="", help="only these, as p000,p001")
    parser.add_argument("--list", type=Path, help="write the tellings for reading, the new ones first")
    parser.add_argument("--read", type=Path, default=READ, help="a reader's labels of reports, in place of ours")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(arguments)
    if not (given.folder / "manifest.jsonl").exists():
        print(f"bench: skipped, there are no natural histories in {given.folder}")
        return 0
    start = perf_counter()
    outcomes = run(given.folder, [name for name in given.pages.split(",") if name], given.processes, given.read)
    report(outcomes)
    print(f"{perf_counter() - start:.0f} s in all")
    if given.list is not None:
        given.list.write_text(listed(outcomes), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
