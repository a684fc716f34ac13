"""A mail server in memory: it answers by RFC 5321, or with scripted replies at a stage."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import trio

HELLO = ("mail.test", "SIZE 1000000", "8BITMIME", "SMTPUTF8", "STARTTLS", "AUTH PLAIN LOGIN XOAUTH2")


@dataclass
class PostOffice:
    """said: replies by stage, in turn, for the usual ones; empty hangs up. mails: sender, recipient, mail.

    hello: lines of the answer to EHLO. logins: credentials sent with AUTH. commands: all commands, without the mails.
    """

    hello: tuple[str, ...] = HELLO
    said: dict[str, list[bytes]] = field(default_factory=dict)
    mails: list[tuple[str, str, EmailMessage]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    logins: list[tuple[str, ...]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Speak SMTP until the client leaves."""
        reader, sender, recipient = _Reader(stream), "", ""
        await self._say(stream, "greeting", b"220 mail.test ESMTP\r\n")
        while (line := await reader.line()) is not None:
            self.commands.append(line)
            verb, _, rest = line.partition(" ")
            match verb.upper():
                case "EHLO":
                    lines = [f"250-{each}" for each in self.hello[:-1]] + [f"250 {self.hello[-1]}"]
                    await self._say(stream, "hello", "".join(f"{each}\r\n" for each in lines).encode())
                case "STARTTLS":
                    await self._say(stream, "tls", b"220 go ahead\r\n")
                case "AUTH":
                    await self._log_in(stream, reader, rest)
                case "MAIL":
                    sender = rest[6 : rest.index(">")]
                    await self._say(stream, "sender", b"250 ok\r\n")
                case "RCPT":
                    recipient = rest[4 : rest.index(">")]
                    await self._say(stream, "recipient", b"250 ok\r\n")
                case "DATA":
                    if await self._say(stream, "data", b"354 go on\r\n"):
                        raw = await reader.mail()
                        mail = message_from_bytes(raw, policy=default)
                        assert isinstance(mail, EmailMessage)
                        if await self._say(stream, "content", b"250 2.0.0 queued as 1\r\n"):
                            self.raw.append(raw)
                            self.mails.append((sender, recipient, mail))
                case "QUIT":
                    await stream.send_all(b"221 bye\r\n")
                    return
                case _:
                    await stream.send_all(b"502 what?\r\n")

    async def _log_in(self, stream: trio.abc.Stream, reader: _Reader, rest: str) -> None:
        mechanism, _, initial = rest.partition(" ")
        words = [initial] if initial else []
        while len(words) < (2 if mechanism == "LOGIN" else 1):
            await stream.send_all(b"334 VXNlcm5hbWU6\r\n")
            words.append(await reader.line() or "")
        self.logins.append((mechanism, *(base64.b64decode(word).decode() for word in words)))
        await self._say(stream, "login", b"235 welcome\r\n")

    async def _say(self, stream: trio.abc.Stream, stage: str, usual: bytes) -> bool:
        """Send the reply of a stage; return whether it is the usual one."""
        replies = self.said.get(stage)
        reply = replies.pop(0) if replies else usual
        if not reply:
            await stream.aclose()
            raise trio.ClosedResourceError
        await stream.send_all(reply)
        return reply == usual


class _Reader:
    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream, self._buffer = stream, b""

    async def line(self) -> str | None:
        while b"\r\n" not in self._buffer:
            piece = await self._stream.receive_some(4096)
            if not piece:
                return None
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\r\n")
        return line.decode()

    async def mail(self) -> bytes:
        while b"\r\n.\r\n" not in self._buffer:
            piece = await self._stream.receive_some(4096)
            if not piece:
                raise trio.ClosedResourceError
            self._buffer += piece
        mail, _, self._buffer = self._buffer.partition(b"\r\n.\r\n")
        return (mail + b"\r\n").replace(b"\r\n..", b"\r\n.")
