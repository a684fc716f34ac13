"""Mail handed to an independent server: aiosmtpd, over sockets and TLS on this machine."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest
import trio
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from actors.destination_kinds.email import Envelope, Login, Session, mail_message_of
from actors.notification.headline import notification_of
from storage.records.identity import Millis
from tests.actors.notification.test_notification import a_diff, an_event
from tests.support.certificates import NAME, make_certificate, needs_openssl, trusting
from tests.support.waiting import HANG

pytestmark = pytest.mark.real
SENDER, RECIPIENT = "watch@sanderling.test", "anna@example.com"


class Handler:
    def __init__(self) -> None:
        self.taken: list[Any] = []

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        self.taken.append((envelope.mail_from, envelope.rcpt_tos, envelope.content))
        return "250 2.0.0 taken"


def admitted(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    good = isinstance(data, LoginPassword) and (data.login, data.password) == (b"anna", b"p\xc3\xa5ss")
    return AuthResult(success=good, handled=good)


@contextmanager
def listening(make: Callable[[], SMTP]) -> Iterator[int]:
    """Serve SMTP on a free port of this machine, in a thread with its own loop."""
    ready, over, loop = Queue[int](), asyncio.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        server = await loop.create_server(make, "127.0.0.1", 0)
        ready.put(server.sockets[0].getsockname()[1])
        await over.wait()
        server.close()
        connections = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
        if connections:  # each ends once it sees that the client left
            await asyncio.wait(connections, timeout=HANG)

    def run() -> None:
        loop.run_until_complete(serve())
        loop.close()

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield ready.get(timeout=HANG)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(HANG)


@needs_openssl
async def test_a_mail_arrives_whole_through_starttls_and_a_login(tmp_path: Path) -> None:
    certificate, key = make_certificate(tmp_path)
    inside = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    inside.load_cert_chain(certificate, key)
    handler = Handler()

    def make() -> SMTP:
        return SMTP(handler, tls_context=inside, require_starttls=True, authenticator=admitted, auth_required=True)

    async def secure(stream: trio.abc.Stream) -> trio.abc.Stream:
        secured = trio.SSLStream(stream, trusting(certificate, alpn=()), server_hostname=NAME, https_compatible=True)
        await secured.do_handshake()
        return secured

    lines = [f".line {number} begins with a dot\n..and this with two" for number in range(40)]
    body = an_event(
        title="Fähre: neue Preise 🚢",
        content="\n".join(lines),
        diff=a_diff(("29 kr", "31 kr")),
        summary="Fares › Adult: 29 kr → 31 kr",
    )
    envelope = Envelope(SENDER, RECIPIENT, Millis(1_800_000_000_000), "https://s.test/mail/1/x")
    letter = mail_message_of(notification_of("0190", body), envelope)
    with listening(make) as port:
        for login, code in ((Login("anna", "påss"), 250), (Login("anna", "wrong"), 535)):
            session = Session(await trio.open_tcp_stream("127.0.0.1", port), secure)
            with trio.fail_after(HANG):
                reply = await session.submit(
                    letter, SENDER, RECIPIENT, security="starttls", login=login, name="sanderling.test"
                )
            assert reply.code == code
            await trio.aclose_forcefully(session.stream)
    ((sender, recipients, content),) = handler.taken
    assert (sender, recipients) == (SENDER, [RECIPIENT])
    mail = message_from_bytes(content, policy=default)
    assert isinstance(mail, EmailMessage)
    assert (
        mail["Subject"] == "29 kr → 31 kr · Adult · Fähre: neue Preise 🚢"
        and mail["Message-ID"] == "<0190@sanderling.test>"
    )
    plain, page = mail.get_body(("plain",)), mail.get_body(("html",))
    assert plain is not None and page is not None and not mail.defects
    assert "Fares › Adult: 29 kr → 31 kr" in plain.get_content()
    assert "29 kr → 31 kr" in page.get_content()
