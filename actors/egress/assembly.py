"""Whole messages out of a server's bytes, within bounds that it can't move. Pure: bytes in, texts and bytes out.

wsproto reads the frames. What it leaves to us is how much a hostile server may make us do or keep: a message has at
most `MESSAGE_LIMIT` bytes in at most `MOST_PARTS` fragments (an empty one costs memory too), and what brings no
message (pings, pongs, fragments) may come in bursts of `BURST` and after that `PER_SECOND`. Compression is not
offered, so a frame that claims it ends the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wsproto import WSConnection
from wsproto.connection import ConnectionState
from wsproto.events import BytesMessage, CloseConnection, Event, Ping, TextMessage
from wsproto.frame_protocol import CloseReason

from actors.egress.closing import SessionOver, closed, unlawful, unreadable

MESSAGE_LIMIT: Final = 1 << 20
MOST_PARTS: Final = 1 << 14
BURST: Final = 2_000
PER_SECOND: Final = 100.0


class Assembly:
    """One session's incoming side, once the handshake is done.

    `received` counts messages, `skipped` those that were neither text nor UTF-8, `size` their bytes. `replies` is what
    has to be sent, `end` how the session ended; both are looked at after each `take`.
    """

    def __init__(self, connection: WSConnection, now: float) -> None:
        self.received = self.skipped = self.size = 0
        self.replies = bytearray()
        self.end: SessionOver | None = None
        self._connection = connection
        self._events: Iterator[Event] = iter(connection.events())
        self._parts: list[str | bytes | bytearray] = []
        self._length = 0
        self._allowance, self._allowed_at = float(BURST), now

    def feed(self, data: bytes) -> None:
        """Take bytes from the server; they are read by `take`."""
        self._connection.receive_data(data)
        self._events = iter(self._connection.events())

    def take(self, steps: int, now: float) -> tuple[list[str], bool]:
        """Read on for at most so many frames (or stretches of one).

        Return the messages that became whole, and whether more bytes are needed.
        """
        texts: list[str] = []
        for _ in range(steps):
            event = next(self._events, None) if self.end is None else None
            if event is None:
                return texts, self.end is None
            if isinstance(event, TextMessage | BytesMessage):
                text = self._message(event)
                if text is not None:
                    texts.append(text)
            elif isinstance(event, CloseConnection):
                self._closed(event)
            elif isinstance(event, Ping):
                self._answer(event.response())
            if not isinstance(event, TextMessage | BytesMessage) or not event.message_finished:
                self._spend(now)
        return texts, False

    def _closed(self, event: CloseConnection) -> None:
        """Answer a close. One that the server did not send is wsproto's word on bytes that break the protocol."""
        told = self._connection.state is not ConnectionState.OPEN
        self._answer(event.response() if told else event)
        why = event.reason or ""
        if told:
            self.end = closed(int(event.code), event.reason)
        elif event.code == CloseReason.INVALID_FRAME_PAYLOAD_DATA:
            self.end = unreadable(f"a frame of text is not UTF-8: {why}")
        else:
            self.end = unlawful(why)

    def _message(self, event: TextMessage | BytesMessage) -> str | None:
        """Add a part; return the message if that was its last one and it is text."""
        data = event.data
        self._length += len(data) if isinstance(data, bytes | bytearray) or data.isascii() else len(data.encode())
        if self._length > MESSAGE_LIMIT or len(self._parts) >= MOST_PARTS:
            limit = f"{MOST_PARTS} parts" if self._length <= MESSAGE_LIMIT else f"{MESSAGE_LIMIT >> 20} MiB"
            self._break_off(CloseReason.MESSAGE_TOO_BIG, unreadable(f"a frame has more than {limit}"))
            return None
        if not event.message_finished:
            self._parts.append(data)
            return None
        parts, self._parts = [*self._parts, data], []
        self.size, self._length = self.size + self._length, 0
        self.received += 1
        if isinstance(data, str):
            return "".join(map(str, parts))
        try:
            return b"".join(bytes(part) for part in parts if isinstance(part, bytes | bytearray)).decode()
        except UnicodeDecodeError:
            self.skipped += 1
            return None

    def _spend(self, now: float) -> None:
        """Count a frame that brought no message; end the session of a server that sends little else."""
        self._allowance = min(BURST, self._allowance + (now - self._allowed_at) * PER_SECOND) - 1
        self._allowed_at = now
        if self._allowance < 0 and self.end is None:
            why = f"more than {BURST} frames without content at once, and {PER_SECOND:.0f} a second"
            self._break_off(CloseReason.POLICY_VIOLATION, unlawful(why))

    def _break_off(self, code: CloseReason, end: SessionOver) -> None:
        self._parts, self.end = [], end
        self._answer(CloseConnection(code=code, reason=end.reason))

    def _answer(self, event: Event) -> None:
        if self._connection.state in (ConnectionState.OPEN, ConnectionState.REMOTE_CLOSING):
            self.replies += self._connection.send(event)
