"""A mail server (RFC 5321) with the mailboxes of several destinations. TLS is not simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import trio

from actors.destination_kinds.contract import Verdict
from tests.simulation.deliveries.services import UNREAD, told
from tests.simulation.delivery_records import Receipt
from tests.simulation.network import Host
from tests.simulation.serving import LONGEST_STALL
from tests.simulation.trace import Trace
from tests.simulation.wire import SimStream

_HELLO = b"250-post\r\n250-8BITMIME\r\n250-SMTPUTF8\r\n250 STARTTLS\r\n"
_RECIPIENT: tuple[tuple[str, bytes, Verdict], ...] = (
    ("asks for fewer", b"450 4.7.1 greylisted, come again", "slow"),
    ("full", b"552 5.2.2 mailbox full", "slow"),
)


@dataclass(slots=True)
class PostOffice:
    """A mail server. receipts: by place, like those of other receivers. invitations: see `Letters`."""

    host: Host
    trace: Trace
    receipts: dict[str, list[Receipt]]
    invitations: dict[str, str]
    gone: dict[str, float] = field(default_factory=dict)

    async def serve(self, listeners: Sequence[trio.abc.Listener[SimStream]]) -> None:
        await trio.serve_listeners(self._converse, list(listeners))

    async def _converse(self, stream: SimStream) -> None:
        try:
            await _Conversation(self, stream).run()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the client has gone
        finally:
            stream.close()

    def is_gone(self, place: str) -> bool:
        """Return whether to report, once in a trouble, that a mailbox does not exist."""
        if not self.host.suffers("revokes") or self.gone.get(place) == self.host.faults["revokes"]:
            return False
        self.gone[place] = self.host.faults["revokes"]
        return True


class _Conversation:
    """One connection that hands over one mail."""

    def __init__(self, office: PostOffice, stream: SimStream) -> None:
        self._office, self._stream, self._buffer = office, stream, b""
        self._begins, self._place = trio.current_time(), ""

    async def run(self) -> None:
        host = self._office.host
        if host.suffers("silent"):
            with trio.move_on_after(LONGEST_STALL):
                while await self._stream.receive_some():
                    pass
            return None
        if host.suffers("busy"):
            return await self._say(b"421 4.3.2 too busy")
        await self._say(b"220 post ESMTP")
        while (line := await self._line()) is not None:
            verb, _, rest = line.partition(" ")
            match verb.upper():
                case "EHLO":
                    await self._stream.send_all(_HELLO)
                case "STARTTLS":
                    await self._say(b"220 go ahead")
                case "MAIL":
                    await self._say(b"451 4.3.0 local error" if host.suffers("http500") else b"250 ok")
                case "RCPT":
                    await self._recipient(rest[4 : rest.index(">")])
                case "DATA":
                    await self._data()
                case "QUIT":
                    return await self._say(b"221 bye")
                case _:
                    await self._say(b"502 what?")
        return None

    async def _recipient(self, recipient: str) -> None:
        self._place = "/" + recipient.rpartition("@")[0].replace(".", "/")
        if self._office.is_gone(self._place):
            self._note(550, "revoked")
            return await self._say(b"550 5.1.1 no such mailbox")
        for fault, reply, verdict in _RECIPIENT:
            if self._office.host.suffers(fault):
                self._note(int(reply[:3]), verdict)
                return await self._say(reply)
        return await self._say(b"250 ok")

    async def _data(self) -> None:
        host = self._office.host
        await self._say(b"354 go on")
        early = host.suffers("refuses in the middle")
        if early:
            await self._more()
            await self._say(b"550 5.3.4 that is enough")  # before the end of the mail, whose rest it reads
        mail = message_from_bytes(await self._mail(), policy=default)
        assert isinstance(mail, EmailMessage)
        if host.suffers("lost"):
            self._note(0, None, mail)
            return self._stream.reset()
        if early:
            return self._note(550, "refused", mail)
        if host.suffers("refuses"):
            self._note(554, "refused", mail)
            return await self._say(b"554 5.7.1 looks like spam")
        self._note(250, "delivered", mail)
        return await self._say(b"250 2.0.0 queued")

    def _note(self, status: int, verdict: Verdict | None, mail: EmailMessage | None = None) -> None:
        """Record a mail; for a client without access, only the attempt."""
        office, text, id = self._office, "", ""
        if mail is not None:
            part = mail.get_body(("plain",))
            assert part is not None
            text = part.get_content()
            _, asks, path = text.partition("/mail/")
            if "Do you want" in str(mail["Subject"]) and asks:
                office.invitations[self._place] = f"/mail/{path.split()[0]}"
                office.trace.note(office.host.name, f"takes a question, {status}", to=self._place)
                return
            text = f"{mail['Subject']}\n{text}"
            id = str(mail["Message-ID"]).lstrip("<").partition(".")[0]
        receipt = Receipt(
            self._begins,
            self._place,
            {},
            text.encode(),
            status,
            until=trio.current_time(),
            told=UNREAD if mail is None else told(text, id),
            verdict=verdict,
        )
        office.receipts.setdefault(self._place, []).append(receipt)
        office.trace.note(office.host.name, f"answers {status}", to=self._place, id=receipt.id)

    async def _say(self, reply: bytes) -> None:
        await self._stream.send_all(reply + b"\r\n")

    async def _more(self) -> bool:
        piece = await self._stream.receive_some(65536)
        self._buffer += piece
        return bool(piece)

    async def _line(self) -> str | None:
        while b"\r\n" not in self._buffer:
            if not await self._more():
                return None
        line, _, self._buffer = self._buffer.partition(b"\r\n")
        return line.decode()

    async def _mail(self) -> bytes:
        while b"\r\n.\r\n" not in self._buffer:
            if not await self._more():
                raise trio.ClosedResourceError
        mail, _, self._buffer = self._buffer.partition(b"\r\n.\r\n")
        return (mail + b"\r\n").replace(b"\r\n..", b"\r\n.")
