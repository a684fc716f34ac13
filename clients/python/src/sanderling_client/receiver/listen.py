"""`sanderling listen`: a receiver that prints each delivery and the verdicts on its signatures.

It answers honestly, or as configured.
"""

from __future__ import annotations

import errno
import re
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import click
import trio

from sanderling_client.receiver.capture import Capture, encode
from sanderling_client.receiver.published import Published
from sanderling_client.receiver.receipt import Receipt, judge
from sanderling_client.receiver.report import Ledger, Paper, as_json, delivery_lines
from sanderling_client.receiver.server import HttpReceiver, Reply
from sanderling_client.receiver.terminal import FAILED, TRY_AGAIN, USAGE, Failed, harmless, warn
from sanderling_client.verify import Cause


@dataclass(frozen=True, slots=True)
class Answers:
    """status: always, or with `fail_every` for each n-th delivery (default 500)."""

    status: int | None = None
    fail_every: int | None = None

    def status_for(self, number: int, *, refused: bool) -> int:
        """Return the configured status, else 400 if a check failed, else 200.

        >>> [Answers(503, fail_every=3).status_for(n, refused=False) for n in (1, 2, 3)]
        [200, 200, 503]
        """
        if self.fail_every is not None:
            if number % self.fail_every == 0:
                return self.status or 500
        elif self.status is not None:
            return self.status
        return 400 if refused else 200


MOST_CONNECTIONS = 100
"""Concurrent connections; further ones wait."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """The command's options. delay: seconds before each response. count: deliveries until the end."""

    secrets: Sequence[str] = ()
    published: Published | None = None
    answers: Answers = field(default_factory=Answers)
    delay: float = 0.0
    save: Path | None = None
    count: int | None = None
    as_json: bool = False


class Listener:
    """Takes deliveries, prints them, and responds. wall: seconds since 1970."""

    def __init__(self, wishes: Wishes, *, wall: Callable[[], float], paper: Paper, echo: Callable[[str], None]) -> None:
        self.done = trio.Event()
        """Set after the wanted number of deliveries was answered."""
        self.failed = 0
        self.answered = 0
        self._wishes, self._wall, self._paper, self._echo = wishes, wall, paper, echo
        self._ledger = Ledger()
        self.http = HttpReceiver(self._take, now=self._now, answered=self._count, tell=warn)

    def _now(self) -> int:
        return int(self._wall() * 1000)

    async def _take(self, capture: Capture) -> Reply:
        receipt = await self._judge(capture)
        entry = self._ledger.take(receipt.webhook_id, capture.body)
        status = self._wishes.answers.status_for(entry.number, refused=receipt.failed)
        self.failed += receipt.failed
        if self._wishes.as_json:
            self._echo(harmless(as_json(capture, receipt, entry, status)))
        else:
            for line in delivery_lines(capture, receipt, entry, status, self._paper):
                self._echo(line)
        if self._wishes.save is not None:
            _save(self._wishes.save, f"{entry.number:04}", receipt.webhook_id, encode(capture))
        await trio.sleep(self._wishes.delay)
        return Reply(status, _said(receipt, status))

    async def _judge(self, capture: Capture) -> Receipt:
        published = self._wishes.published
        check = partial(
            judge, capture.fields(), capture.body, secrets=self._wishes.secrets, now=int(self._now() / 1000)
        )
        receipt = check(keys=published.keys if published else None)
        strange = [told.verdict.key_id for told in receipt.events if told.verdict.cause is Cause.UNKNOWN_KEY]
        if published is not None and strange:
            await published.look_for(strange)
            receipt = check(keys=published.keys)
        return receipt

    def _count(self) -> None:
        self.answered += 1
        if self._wishes.count is not None and self.answered >= self._wishes.count:
            self.done.set()


def _said(receipt: Receipt, status: int) -> str:
    """Return the response text for a status; the sender stores it in its log of attempts."""
    if status != 400 or not receipt.failed:
        return ""
    failed = [receipt.webhook, *(told.verdict for told in receipt.events)]
    return next((verdict.reason for verdict in failed if verdict.failed), "neither an event nor a digest")


def listen(host: str, port: int, wishes: Wishes, *, wall: Callable[[], float], paper: Paper) -> int:
    """Receive until Ctrl-C, SIGTERM or the wanted count; return 1 if any delivery failed a check."""

    async def run() -> Listener:
        if wishes.published is not None:
            await wishes.published.read()
        listener = Listener(wishes, wall=wall, paper=paper, echo=click.echo)
        await _serve(host, port, listener)
        return listener

    listener = trio.run(run)
    warn(f"{listener.answered} deliveries, {listener.failed} of them failed a check")
    return FAILED if listener.failed else 0


async def _serve(host: str, port: int, listener: Listener) -> None:
    sockets = await _open(host, port)
    name = sockets[0].socket.getsockname()
    warn(f"listening on http://{f'[{name[0]}]' if ':' in name[0] else name[0]}:{name[1]}/; Ctrl-C ends it")
    room = trio.CapacityLimiter(MOST_CONNECTIONS)

    async def serve(stream: trio.SocketStream) -> None:
        async with room:
            await listener.http.serve(stream)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_end_on_signal, listener.done)
        nursery.start_soon(partial(trio.serve_listeners, serve, list(sockets)))
        await listener.done.wait()
        nursery.cancel_scope.cancel()


async def _end_on_signal(done: trio.Event) -> None:
    with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _number in signals:
            done.set()


async def _open(host: str, port: int) -> Sequence[trio.SocketListener]:
    try:
        return await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "is in use by another program; choose another with --port" if taken else str(error.strerror or error)
        raise Failed(f"{host} port {port}: {why}.", TRY_AGAIN if taken else USAGE) from None


def _save(folder: Path, number: str, webhook_id: str, content: bytes) -> None:
    """Save a delivery as a file. A folder that is not writable only causes a warning."""
    word = re.sub(r"[^A-Za-z0-9_-]", "", webhook_id)[:64] or "no-id"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        (folder / f"{number}-{word}.json").write_bytes(content)
    except OSError as error:
        warn(f"{folder}: can't save there: {error.strerror or error}")
