"""`python -m bench.watch`: changes that a reader wants reported, over scripted histories labelled before any run.

Each history runs through the product's own task, check by check, with its memory; a check that holds is repeated a
minute later. A `new` check counts as reported if it or one of the next checks reports (three, unless its script
differs), before the next `new` one; all other reports are false. The frames are dealt into two halves: `-v` prints the
tuning half's misses; the held-out half only gives figures, so that rules made on one are judged on the other.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import get_context
from time import perf_counter

from msgspec import Struct

from actors.content.errors import ContentError
from actors.content.messages import PageLook
from actors.content.tasks import look_page
from bench.natural import asked, first_lines
from bench.topic import Figure, Row, Topic, size
from bench.watching.histories import History, histories

GOAL_TOLD, GOAL_FALSE, GOAL_KIND = 0.97, 0.02, 0.90
Z = 1.96
KINDS = size((), ("headline", "clock"))
TOPIC = Topic(
    "Scripted histories of pages",
    "1,002 histories labelled before any run; one half of their frames is held out.",
    ("actors/content",),
    {
        "told": Figure("news that was reported", "", f">= {GOAL_TOLD}"),
        "false": Figure("checks without news that were reported", "", f"<= {GOAL_FALSE}"),
        "held_told": Figure("news that was reported, held out", "", f">= {GOAL_TOLD}"),
        "held_false": Figure("checks without news that were reported, held out", "", f"<= {GOAL_FALSE}"),
        "lowest": Figure("right, of the lowest kind of history", "", f">= {GOAL_KIND}"),
    },
)


class Seen(Struct, frozen=True):
    """The product's verdict on a check: whether it reported, and why."""

    told: bool
    kind: str
    reason: str = ""
    score: float = 0.0
    lines: tuple[str, ...] = ()


class Outcome(Struct, frozen=True):
    """A history's result. missed: unreported `new` checks. false: checks reported without news."""

    name: str
    kind: str
    tells: bool
    lang: str
    held_out: bool
    new: int
    silent: int
    missed: tuple[int, ...]
    false: tuple[int, ...]
    seen: tuple[Seen, ...]


def judged(history: History) -> Outcome:
    """Return the product's reports on a history."""
    memory, seen = None, []
    for n in range(len(history.script.steps)):
        for again in (False, True):
            body, at = history.html(n, again=again), history.time(n, again=again)
            try:
                look = look_page(asked(body, memory, at, history.script.selector))
            except ContentError as error:
                one = Seen(False, "failed", str(error))
                break
            memory, one = look.memory, _seen(look)
            if look.kind != "held":
                break
        seen.append(one)
    labels = [step.new for step in history.script.steps]
    missed, false = matched(labels, [one.told for one in seen], history.script.grace)
    return Outcome(
        history.name, history.kind, history.tells, history.lang, history.held_out, sum(labels),
        len(labels) - sum(labels) - 1, missed, false, tuple(seen),
    )  # fmt: skip


def _seen(look: PageLook) -> Seen:
    return Seen(
        look.kind in {"changed", "moved"},
        "failed" if look.trouble else look.kind,
        look.reason,
        look.score,
        first_lines(look),
    )


def matched(labels: Sequence[bool], told: Sequence[bool], grace: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the unreported `new` checks, and the checks that reported without (further) news."""
    missed, right = [], set()
    news = [n for n, new in enumerate(labels) if new]
    for n, after in zip(news, [*news[1:], len(labels)], strict=False):
        by = next((look for look in range(n, min(n + grace + 1, after)) if told[look]), None)
        if by is None:
            missed.append(n)
        else:
            right.add(by)
    return tuple(missed), tuple(n for n, one in enumerate(told) if one and n not in right)


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (Wilson 1927)."""
    if not of:
        return 0.0, 1.0
    share, square = hits / of, Z * Z
    middle = (share + square / (2 * of)) / (1 + square / of)
    half = Z / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return max(0.0, middle - half), min(1.0, middle + half)


class Figures:
    """Reports of `new` checks, and false reports of silent ones."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        own = list(outcomes)
        self.histories = len(own)
        self.new = sum(outcome.new for outcome in own)
        self.told = self.new - sum(len(outcome.missed) for outcome in own)
        self.silent = sum(outcome.silent for outcome in own)
        self.false = sum(len(outcome.false) for outcome in own)
        self.recall = self.told / self.new if self.new else 1.0
        self.alarms = self.false / self.silent if self.silent else 0.0

    def __str__(self) -> str:
        low, high = wilson(self.told, self.new)
        told = f"{self.told:4} of {self.new:4} told {self.recall:.3f} [{low:.2f}-{high:.2f}]" if self.new else ""
        low, high = wilson(self.false, self.silent)
        return f"{told:38}  {self.false:4} of {self.silent:5} false {self.alarms:.3f} [{low:.3f}-{high:.3f}]"


def met(figures: Figures, kinds: Sequence[tuple[str, Figures]]) -> bool:
    return figures.recall >= GOAL_TOLD and figures.alarms <= GOAL_FALSE and not under(kinds)


def under(kinds: Sequence[tuple[str, Figures]]) -> list[str]:
    """Return the kinds below the goal, for reports or for silence."""
    return [kind for kind, own in kinds if min(own.recall, 1 - own.alarms) < GOAL_KIND]


def by(outcomes: Iterable[Outcome], key: Callable[[Outcome], str]) -> list[tuple[str, Figures]]:
    """Return the figures of each group, in order of appearance."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[key(outcome)].append(outcome)
    return [(name, Figures(own)) for name, own in groups.items()]


def halves(outcomes: Sequence[Outcome]) -> tuple[tuple[str, list[Outcome]], ...]:
    return (
        ("tuning", [outcome for outcome in outcomes if not outcome.held_out]),
        ("held out", [outcome for outcome in outcomes if outcome.held_out]),
        ("all", list(outcomes)),
    )


def report(outcomes: Sequence[Outcome], *, details: bool) -> None:
    """Print the figures by kind, language and half, and the tuning half's misses."""
    parts = dict(halves(outcomes))
    kinds = {name: dict(by(own, lambda o: o.kind)) for name, own in parts.items()}
    looks = sum(len(outcome.seen) for outcome in outcomes)
    print(f"{len(outcomes)} histories, {looks} looks, {len({o.lang for o in outcomes})} languages")
    for tells, title in ((True, "must be told"), (False, "must stay silent")):
        print(f"\n{title:24}all{'':66}tuning{'':11}held out")
        for kind in dict.fromkeys(o.kind for o in outcomes if o.tells == tells):
            tuned, kept = kinds["tuning"].get(kind, Figures(())), kinds["held out"].get(kind, Figures(()))
            small = "  ".join(
                f"{own.recall:.2f} told {own.alarms:.3f}" if tells else f"{own.alarms:.3f}" for own in (tuned, kept)
            )
            print(f"  {kind:22}{kinds['all'][kind]}  {small}")
    print("\nlanguages")
    for lang, figures in sorted(by(outcomes, lambda o: o.lang)):
        print(f"  {lang:22}{figures}")
    print()
    for name, own in parts.items():
        low = under(list(kinds[name].items()))
        print(f"{name:9} {Figures(own)}   kinds under {GOAL_KIND:.2f}: {', '.join(low) or 'none'}")
    reached = met(Figures(outcomes), list(kinds["all"].items()))
    word = "reached" if reached else "not reached"
    print(f"goal: told >= {GOAL_TOLD}, false <= {GOAL_FALSE}, no kind under {GOAL_KIND:.2f}: {word}")
    if details:
        for outcome in parts["tuning"]:
            _details(outcome)


def _details(outcome: Outcome) -> None:
    """Print a history's errors, and the product's reasons there."""
    if not outcome.missed and not outcome.false:
        return
    marks = ["t" if one.told else "h" if one.kind == "held" else "." for one in outcome.seen]
    for mark, looks in (("M", outcome.missed), ("F", outcome.false)):
        for n in looks:
            marks[n] = mark
    print(f"\n{outcome.name}\n  {''.join(marks)}")
    for n in sorted({*outcome.missed, *outcome.false}):
        one = outcome.seen[n]
        print(f"  {n:2} {'missed' if n in outcome.missed else 'false'}: {one.kind} {one.score:.2f} {one.reason}")
        for line in one.lines if n in outcome.false else ():
            print(f"       {line}")


def run(kinds: Sequence[str] = (), processes: int = 1) -> list[Outcome]:
    """Return the results of all histories, or of some kinds."""
    wanted = (history for history in histories() if not kinds or history.kind in kinds)
    if processes == 1:
        return [judged(history) for history in wanted]
    names = [history.name for history in wanted]
    with get_context("fork").Pool(processes) as pool:
        return list(pool.imap(_by_name, names, chunksize=8))


def _by_name(name: str) -> Outcome:
    if not _KNOWN:
        _KNOWN.update((history.name, history) for history in histories())
    return judged(_KNOWN[name])


_KNOWN: dict[str, History] = {}


def rows() -> Iterator[Row]:
    outcomes = run(KINDS)
    for prefix, own in (("", outcomes), ("held_", [outcome for outcome in outcomes if outcome.held_out])):
        figures = Figures(own)
        yield Row(f"{prefix}told", figures.recall, note=f"of {figures.new:,}")
        yield Row(f"{prefix}false", figures.alarms, note=f"of {figures.silent:,}")
    right = {kind: min(own.recall, 1 - own.alarms) for kind, own in by(outcomes, lambda outcome: outcome.kind)}
    lowest = min(right, key=right.__getitem__)
    yield Row("lowest", right[lowest], note=lowest)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.watch")
    parser.add_argument("kinds", nargs="*", help="only these kinds of histories")
    parser.add_argument("-v", dest="details", action="store_true", help="print the misses of the tuning half")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args(arguments)
    start = perf_counter()
    outcomes = run(given.kinds, given.processes)
    if not outcomes:
        known = ", ".join(dict.fromkeys(history.kind for history in histories()))
        print(f"bench: no such kind; there are {known}", file=sys.stderr)
        return 0
    report(outcomes, details=given.details)
    print(f"\n{perf_counter() - start:.0f} s in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
