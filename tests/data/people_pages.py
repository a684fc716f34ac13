"""Scripted pages from public reports of page watchers, played against the service in memory.

`python -m tests.data.people_pages [-v] [KIND]` prints right and wrong per kind, with the wrong cases under -v.
"""

from __future__ import annotations

import base64
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import trio
from trio.testing import MockClock

from actors.errors import DomainError
from tests.actors.sources.harness import SITE, watching

FILE = Path(__file__).resolve().parents[3] / "shared" / "findings" / "inputs-pages" / "cases.jsonl"
_LONGEST = 3 * 24 * 60
"""Minutes that a stage may last; its checks are an hour apart at most."""


def cases(kind: str = "") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return [case for case in found if kind in {"", case["kind"], case["name"]}]


async def play(case: dict[str, Any]) -> str:
    """Return an error for a case, "" where each stage gave the expected result. A stage lasts for its checks, also if
    one in doubt is followed by another soon.
    """
    async with watching(host_rate=1000.0) as (service, origin):
        path, added = f"/{case['path'].lstrip('/')}", False
        origin.headers[path] = {"content-type": case["ct"] or "text/html; charset=utf-8"}
        for number, (body, is_base64, checks, expected) in enumerate(case["stages"]):
            origin.bodies[path] = base64.b64decode(body) if is_base64 else body.encode()
            before, seen = len(service.disk.events()), len(origin.looks(path))
            if not added:
                try:
                    await service.add(f"https://{SITE}{path}", schedule="1h", **case["create"])
                except DomainError as error:
                    return f"refused: {error.detail}"
                added = True
            for _ in range(_LONGEST):
                if len(origin.looks(path)) >= seen + checks:
                    break
                await trio.sleep(60)
            await trio.sleep(1)
            events = [event for event in service.events_from(before) if "alert_type" not in event]
            if not _is_as(expected, events):
                said = [[event.get("summary"), event.get("diff")] for event in events]
                return f"stage {number}: not {expected}: {json.dumps(said, ensure_ascii=False)[:600]}"
    return ""


def _is_as(expected: str, events: Sequence[dict[str, Any]]) -> bool:
    if expected.startswith("told"):
        words = expected.partition(":")[2]
        return any(words in json.dumps(event, ensure_ascii=False) for event in events)
    return expected in {"any", "fail"} or not events


def played(kind: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    for case in cases(kind):
        yield case, trio.run(play, case, clock=MockClock(autojump_threshold=0))


def main(arguments: Sequence[str]) -> None:
    right, wrong = defaultdict[str, int](int), defaultdict[str, list[str]](list)
    for case, trouble in played(next((one for one in arguments if one != "-v"), "")):
        if trouble:
            wrong[case["kind"]].append(f"{case['name']}: {trouble}")
        right[case["kind"]] += not trouble
    for kind, count in right.items():
        print(f"{kind:<28} {count:>3} right {len(wrong[kind]):>3} wrong")
        if "-v" in arguments:
            print(*(f"    {line}" for line in wrong[kind]), sep="\n")
    print(f"{'all':<28} {sum(right.values()):>3} right {sum(map(len, wrong.values())):>3} wrong")


if __name__ == "__main__":
    main(sys.argv[1:])
