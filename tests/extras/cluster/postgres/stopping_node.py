"""A node that stops like by SIGSTOP in the midst of a transaction: `stopping_node.py ADDRESS append|edit`.

It holds the log's lock, or a destination's row. Once resumed, it prints the outcome and retries until it
succeeds, as the service does.
"""

from __future__ import annotations

import signal
import sys
import threading
import time

import trio
from msgspec.structs import replace

from extras.cluster.postgres.database import open_postgres
from storage.errors import Unavailable
from storage.records.destination import Destination
from storage.records.identity import Seq
from storage.secrets import SIZE, Vault
from tests.storage.contract.builders import CountingMint, a_harvest, stamp


class Stop:
    """Stops the process at the first call."""

    def __init__(self) -> None:
        self._done = False

    def __call__(self) -> None:
        if not self._done:
            self._done = True
            # To this thread: a signal to the process may stop another thread first, and this one commits meanwhile.
            signal.pthread_kill(threading.get_ident(), signal.SIGSTOP)


class StoppingMint(CountingMint):
    def __init__(self, stop: Stop) -> None:
        super().__init__()
        self._stop = stop

    def mint(self) -> tuple[Seq, str]:
        self._stop()
        return super().mint()


async def main(url: str, what: str) -> None:
    stop, vault = Stop(), Vault(bytes(SIZE))
    mint = StoppingMint(stop)

    def edit(destination: Destination) -> Destination:
        stop()
        return replace(destination, label=f"{destination.label}, stopped")

    clock = time.time  # noqa: TID251  # a process of its own
    storage = await open_postgres(url, vault=vault, clock=clock, owner="stops", warn=print, safe=(), shares=True)
    while True:
        try:
            if what == "append":
                await storage.log.append([a_harvest(1, "stopped")], storage.lease, mint, stamp)
            else:
                await storage.alerts.edit_destination("hook", edit)
            break
        except Unavailable as error:
            print(error, flush=True)
            await trio.sleep(0.1)
    print("done", flush=True)
    await storage.aclose()


if __name__ == "__main__":
    trio.run(main, *sys.argv[1:])
