"""Fuzz what strangers send: `python -m bench.fuzz --seconds 3600 --seed 7`.

The targets take turns until the processor time is used up, so other work does not reduce the cases. Each new finding is
printed once, with the command that reproduces it, and written to build/fuzz. Exit 1 if there was any.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from bench.fuzz.targets import TARGETS, TooLong, drawn, run

FOUND = Path("build/fuzz")
TURN = 0.5
"""CPU seconds per target and turn."""
HANGS_AFTER = 20.0
"""CPU seconds after which a case is aborted."""


def _hangs(*_: object) -> None:
    raise TooLong(f"ended after {HANGS_AFTER:.0f} s of CPU")


def once(name: str, seed: int, number: int) -> BaseException | None:
    """Run a case; return its finding."""
    signal.setitimer(signal.ITIMER_VIRTUAL, HANGS_AFTER)
    try:
        run(name, seed, number)
    except (Exception, RecursionError) as finding:
        return finding
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return None


def told(name: str, seed: int, number: int, finding: BaseException) -> None:
    FOUND.mkdir(parents=True, exist_ok=True)
    text = "".join(traceback.format_exception(finding))
    file = FOUND / f"{name}-{seed}-{number}.txt"
    file.write_text(f"{text}\n{drawn(name, seed, number)!r}\n", "utf-8", "backslashreplace")
    print(f"\n{name}: {type(finding).__name__}: {ascii(str(finding))[:200]}")
    print(f"  python -m bench.fuzz --only {name} --seed {seed} --case {number}    ({file})", flush=True)


def place_of(finding: BaseException) -> tuple[str, str, int]:
    frames = traceback.extract_tb(finding.__traceback__)
    return type(finding).__name__, frames[-1].filename, frames[-1].lineno or 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.fuzz", description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="default: another each time")
    parser.add_argument("--only", action="append", choices=sorted(TARGETS), help="one target; can be repeated")
    parser.add_argument("--case", type=int, help="run this one case of --only, and show what it raises")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if given.seed is None else given.seed
    signal.signal(signal.SIGVTALRM, _hangs)
    if given.case is not None:
        for name in given.only or ():
            run(name, seed, given.case)
        return 0
    return fuzz(given.only or list(TARGETS), seed, given.seconds)


def fuzz(names: list[str], seed: int, seconds: float) -> int:
    print(f"seed {seed}, {len(names)} targets, {seconds:.0f} s", flush=True)
    until = time.process_time() + seconds
    done: Counter[str] = Counter()
    known: set[tuple[str, str, str, int]] = set()
    while time.process_time() < until:
        for name in names:
            turn = time.process_time() + TURN
            while time.process_time() < turn:
                finding = once(name, seed, done[name])
                if finding is not None and (where := (name, *place_of(finding))) not in known:
                    known.add(where)
                    told(name, seed, done[name], finding)
                done[name] += 1
    for name, count in done.items():
        print(f"{name:10}{count:10} cases{sum(each[0] == name for each in known):6} findings")
    return 1 if known else 0


if __name__ == "__main__":
    sys.exit(main())
