"""One SMTP session over one connection: greeting, TLS, login, one mail (RFC 5321, 3207, 4954).

The state machine is smtpproto's. Replies are read here, with bounds, because smtpproto fails on any unexpected code,
even if the code has a clear meaning.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from email.message import EmailMessage
from typing import Final, NamedTuple

import trio
from smtpproto.protocol import SMTPClientProtocol, SMTPException

from actors.destination_kinds.email.replies import Reply, Stage
from actors.destination_kinds.email.server import Security
from actors.egress.failures import Blame, LookFailed

LONGEST_REPLY: Final = 16 << 10
LONGEST_LINE: Final = 2 << 10
_GONE = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
Secure = Callable[[trio.abc.Stream], Awaitable[trio.abc.Stream]]


class Login(NamedTuple):
    """Our credentials. token: the password is an OAuth 2 access token (XOAUTH2)."""

    user: str
    password: str
    token: bool = False


class _Refused(Exception):
    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.code)
        self.reply = reply


class Session:
    """One session, used by `transmit`. `stream`: the current one, plain or TLS. secure: wraps a stream in TLS."""

    def __init__(self, stream: trio.abc.Stream, secure: Secure) -> None:
        self.stream = stream
        self._secure = secure
        self._protocol = SMTPClientProtocol()
        self._buffer = bytearray()

    async def transmit(
        self, mail: EmailMessage, sender: str, recipient: str, *, security: Security, login: Login | None, name: str
    ) -> Reply:
        """Hand one mail over and return the decisive reply. name: ours, for EHLO. Raises LookFailed.

        If cancelled or cut off after the data, the mail may or may not have been accepted.
        """
        try:
            await self._begin(security, name)
            if login is not None:
                await self._log_in(login)
            utf8 = not (sender + recipient).isascii()
            await self._ask("sender", lambda: self._protocol.mail(sender, smtputf8=utf8))
            await self._ask("recipient", lambda: self._protocol.recipient(recipient))
            await self._ask("data", self._protocol.start_data)
            reply = await self._ask("content", lambda: self._protocol.data(mail))
        except _Refused as error:
            reply = error.reply
        except SMTPException as error:  # a missing extension, or an unusable reply
            raise LookFailed(Blame.REMOTE_TRANSIENT, f"the mail server: {error}") from None
        except _GONE:
            raise LookFailed(Blame.REMOTE_TRANSIENT, "the mail server closed the connection") from None
        await self._leave()
        return reply

    async def _begin(self, security: Security, name: str) -> None:
        if security == "tls":
            self.stream = await self._secure(self.stream)
        await self._ask("greeting", lambda: None)
        await self._ask("hello", lambda: self._protocol.send_greeting(name))
        if security == "starttls":
            if "STARTTLS" not in self._protocol.extensions:
                raise LookFailed(Blame.LOCAL, "the mail server offers no STARTTLS: nothing is sent in the clear")
            await self._ask("tls", self._protocol.start_tls)
            if self._buffer:  # sent before TLS, it would count as sent inside (CVE-2011-0411)
                raise LookFailed(Blame.REMOTE_TRANSIENT, "the mail server spoke between STARTTLS and TLS")
            self.stream = await self._secure(self.stream)
            await self._ask("hello", lambda: self._protocol.send_greeting(name))

    async def _log_in(self, login: Login) -> None:
        offered = {each.upper() for each in self._protocol.auth_mechanisms}
        user, password = login.user, login.password
        if login.token:
            secret = _encoded(f"user={user}\x01auth=Bearer {password}\x01\x01")
            reply = await self._ask("login", lambda: self._protocol.authenticate("XOAUTH2", secret), (235, 334))
            if reply.code == 334:  # the error in detail; an empty answer ends it
                await self._ask("login", lambda: self._protocol.send_authentication_data(""))
        elif "PLAIN" in offered or "LOGIN" not in offered:
            secret = _encoded(f"\0{user}\0{password}")
            await self._ask("login", lambda: self._protocol.authenticate("PLAIN", secret))
        else:
            await self._ask("login", lambda: self._protocol.authenticate("LOGIN"), (334,))
            await self._ask("login", lambda: self._protocol.send_authentication_data(_encoded(user)), (334,))
            await self._ask("login", lambda: self._protocol.send_authentication_data(_encoded(password)))

    async def _ask(
        self, stage: Stage, command: Callable[[], None], wanted: tuple[int, ...] = (220, 235, 250, 251, 354)
    ) -> Reply:
        """Send a command and return its reply. Raises _Refused for an unwanted one."""
        command()
        if said := self._protocol.get_outgoing_data():
            await self.stream.send_all(said)
        code, lines = await self._read()
        reply = Reply(code, b"\n".join(lines), stage)
        if code not in wanted:
            raise _Refused(reply)
        for number, line in enumerate(lines, 1):
            mark = b" " if number == len(lines) else b"-"
            plain = line.decode("ascii", "replace").encode("ascii", "replace")
            self._protocol.feed_bytes(b"%d%s%s\r\n" % (code, mark, plain))
        return reply

    async def _read(self) -> tuple[int, list[bytes]]:
        """Read one whole reply. Raises LookFailed if it is malformed."""
        lines: list[bytes] = []
        size = 0
        while True:
            line = await self._line()
            size += len(line)
            if len(line) < 3 or not line[:3].isdigit() or line[3:4] not in (b"", b" ", b"-") or size > LONGEST_REPLY:
                raise LookFailed(Blame.REMOTE_TRANSIENT, "what answers there is no mail server")
            lines.append(line[4:])
            if line[3:4] != b"-":
                return int(line[:3]), lines

    async def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LONGEST_LINE:
                raise LookFailed(Blame.REMOTE_TRANSIENT, "what answers there is no mail server")
            piece = await self.stream.receive_some(4096)
            if not piece:
                raise LookFailed(Blame.REMOTE_TRANSIENT, "the mail server closed the connection")
            self._buffer += piece
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        return line

    async def _leave(self) -> None:
        """Send QUIT without waiting for the reply: the mail's fate is known."""
        with trio.move_on_after(1):
            try:
                await self.stream.send_all(b"QUIT\r\n")
            except _GONE:
                return


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
