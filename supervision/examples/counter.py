"""A counter that crashes, comes back with its mailbox intact, and answers questions.

Run it: `python -m supervision.examples.counter`
"""

# ruff: noqa: S311, T201  # an example prints its results, and its random numbers protect nothing

from __future__ import annotations

import random
import sys
from dataclasses import dataclass

import trio

from supervision import Backoff, Change, Child, ChildSpec, Mailbox, Reply, Supervisor, Unanswered


@dataclass(frozen=True, slots=True)
class Add:
    """Add a number."""

    number: int


@dataclass(frozen=True, slots=True)
class HowMuch:
    """Answer the sum."""

    reply: Reply[int]


class Counter:
    """State made outside `run` outlives a crash; state that must be new in each life is made inside."""

    def __init__(self) -> None:
        self.box: Mailbox[Add | HowMuch] = Mailbox("counter", bound=10)
        self.sum = 0

    async def run(self, child: Child) -> None:
        while True:
            match await self.box.receive():
                case Add(number):
                    if number == 13:
                        raise ValueError("thirteen is too much")
                    self.sum += number
                case HowMuch(reply):
                    with reply:
                        reply.answer(self.sum)


async def main() -> None:
    """Add some numbers, one of them bad, and ask for the sum."""

    def show(change: Change) -> None:
        print(change)

    counter = Counter()
    spec = ChildSpec("counter", counter.run, backoff=Backoff(first=0.01, ceiling=1), mailbox=counter.box)
    tree = Supervisor("example", [spec], chance=random.Random(1), on_change=show)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(tree.run)
        for number in (1, 2, 13, 4):
            await counter.box.send(Add(number))
        try:
            answer = await counter.box.ask(HowMuch)
            print("the sum is", answer)
        except Unanswered as error:
            print("no answer:", error)
        tree.stop()


if __name__ == "__main__":
    sys.exit(trio.run(main))
