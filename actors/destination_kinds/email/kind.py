"""The kind `email`: its fields, its mails, and the sending of one.

A mail is an event, a notice or a digest as text and HTML, or the request for consent. `Message-ID` is derived from the
delivery's id, so that duplicates are recognised (RFC 5322, 3.6.4); mails about one source refer to the same parent, so
that they thread. `List-Unsubscribe-Post` is RFC 8058, `Auto-Submitted` RFC 3834.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape
from importlib.resources import files
from typing import Any, Final, NamedTuple

import trio

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.email.session import (
    MAILTO,
    Login,
    MailServer,
    Session,
    answer_of,
    domain_of,
    recipient_of,
)
from actors.destination_kinds.fields import LANGUAGE, AddressField, people_fields
from actors.destination_kinds.kind import AdmittedAddress, Consent, DeliveryPayload, DeliveryTransport, DestinationKind
from actors.destination_kinds.templating import render_delivery
from actors.egress.failures import Blame, CheckFailed
from actors.errors import UrlRefused
from actors.notification.dialects import DIALECTS, TextLimits, one_line
from actors.notification.fitting import message_of, text_of, title_of
from actors.notification.message_language import ENGLISH, ENGLISH_ONLY, MessageLanguage, MessageLanguages
from actors.notification.reading import Notification
from actors.settings import Settings
from actors.world import World
from storage.records.destination import EMAIL, LINK, Destination
from storage.records.identity import Millis
from storage.sql.storage import Storage

LIMITS: Final = TextLimits(text=60_000, title=160)
_PAGE: Final = files("actors.destination_kinds.email").joinpath("page.html").read_text("utf-8")


class MailTexts(NamedTuple):
    """The fixed texts of a mail."""

    why: str = "You get this because you agreed to it."
    how: str = "To stop it: %(link)s"
    stop: str = "Stop these mails"
    question: str = "Do you want these mails?"
    wish: str = "Someone wants to send you mail from Sanderling: %(what)s."
    agree: str = "If you want it, open this page and agree:"
    otherwise: str = "If you do not, do nothing: there will be no other mail."


class MailMessage(EmailMessage):
    """A mail with unfolded headers, of at most 998 octets each (RFC 5322, 2.1.1). Folded at 78, a longer address would
    become an encoded word (RFC 2047, 5), and a mail program would find no way to unsubscribe.
    """

    def as_bytes(self, unixfrom: bool = False, policy: Any = None) -> bytes:
        return super().as_bytes(unixfrom, (policy or self.policy).clone(max_line_length=998))


class Envelope(NamedTuple):
    """Sender, recipient, time, and the page to unsubscribe. thread: shared by mails about one source."""

    sender: str
    recipient: str
    at: Millis
    stop: str
    thread: str = ""


def mail_message_of(
    notification: Notification, envelope: Envelope, language: MessageLanguage = ENGLISH
) -> EmailMessage:
    texts = MailTexts(*map(language.translate, MailTexts()))
    title = title_of(notification, LIMITS.title)
    mail = _new_message(envelope, title, notification.id)
    if envelope.thread:
        mail["References"] = f"<{envelope.thread}@{domain_of(envelope.sender)}>"
    plain, heading = message_of(notification, LIMITS), title
    if notification.written:  # a user's template stands alone
        heading = ""
    html = "<br>\n".join(escape(notification.written).split("\n"))
    footer = f"{texts.why} {texts.how % {'link': envelope.stop}}"
    mail.set_content(f"{heading}\n\n{plain}\n\n-- \n{footer}\n".lstrip(), cte="quoted-printable")
    link = DIALECTS["html"].link(texts.stop, envelope.stop)
    page = _PAGE.format(
        heading=f"<h2>{escape(title)}</h2>\n" if heading else "",
        text=html or text_of(notification, "html", LIMITS.text),
        foot=f"{escape(texts.why)} {link}",
    )
    mail.add_alternative(page, subtype="html", cte="quoted-printable")
    return mail


def _new_message(envelope: Envelope, subject: str, id: str) -> EmailMessage:
    from email.policy import SMTP  # noqa: PLC0415  half a megabyte that only mail needs

    mail = MailMessage(policy=SMTP)
    mail["From"] = f"Sanderling <{envelope.sender}>"
    mail["To"] = envelope.recipient
    mail["Subject"] = one_line(subject)
    mail["Date"] = format_datetime(datetime.fromtimestamp(envelope.at // 1000, UTC))
    mail["Message-ID"] = f"<{id}@{domain_of(envelope.sender)}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["List-Unsubscribe"] = f"<{envelope.stop}>"
    mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return mail


SESSION_TIMEOUT: Final = 60.0
"""Seconds for a whole session: mail servers inspect a mail before they accept it."""
_TOKEN = 20


class Mail(NamedTuple):
    """The way out for mail. login: called for each session, as tokens expire; or None. public: our own address."""

    server: MailServer | None
    login: Callable[[], Awaitable[Login | None]]
    public: str


def email_kind(mail: Mail, languages: MessageLanguages = ENGLISH_ONLY) -> DestinationKind:

    def language_of(destination: Destination) -> MessageLanguage:
        return languages.language(destination.values.get(LANGUAGE, ""))

    async def admit(text: str, world: World, storage: Storage, settings: Settings) -> AdmittedAddress:
        if mail.server is None:
            raise UrlRefused("url-mail", "no mail server is set: see mail_server and mail_from in docs/mail.md")
        recipient = recipient_of(text)
        return AdmittedAddress(MAILTO + recipient, recipient)

    async def send(
        transport: DeliveryTransport, destination: Destination, payload: DeliveryPayload, world: World
    ) -> Answer:
        server = _required_server(mail)
        language = language_of(destination)
        notification = await render_delivery(world, LIMITS, destination.values, payload, language)
        is_event = notification.items and not notification.is_digest
        thread = f"{notification.items[0].source}.{destination.id}" if is_event else ""
        envelope = _envelope(mail, server, destination, world)._replace(thread=thread)
        # Two destinations may have one address: each gets its own mail.
        message = mail_message_of(notification._replace(id=f"{payload.id}.{destination.id}"), envelope, language)
        return await _submit(mail, server, transport, message, envelope)

    async def invite(transport: DeliveryTransport, destination: Destination, about: str, world: World) -> Answer:
        id = f"{destination.id}.{world.entropy(6).hex()}"
        server, language = _required_server(mail), language_of(destination)
        envelope = _envelope(mail, server, destination, world)
        texts = MailTexts(*map(language.translate, MailTexts()))
        invitation = _new_message(envelope, texts.question, id)
        intro = texts.wish % {"what": one_line(language.translate(about))}
        text = f"{intro}\n\n{texts.agree}\n{envelope.stop}\n\n{texts.otherwise}\n"
        invitation.set_content(text, cte="quoted-printable")
        return await _submit(mail, server, transport, invitation, envelope)

    return DestinationKind(
        id=EMAIL,
        label="Email",
        family="mail",
        where="Write the address of one person or list. "
        "It gets one mail that asks for consent, and others only after consent.",
        documentation="https://www.rfc-editor.org/rfc/rfc5321",
        address=AddressField(label="Address", example="anna@example.com"),
        fields=people_fields(languages.codes),
        admit=admit,
        new_secret=None,
        send=send,
        consent=Consent(LINK, lambda world: world.entropy(_TOKEN).hex(), invite),
        limits=LIMITS,
        languages=languages,
    )


def _required_server(mail: Mail) -> MailServer:
    """Return the server. Raises CheckFailed if the setting has been removed since."""
    if mail.server is None:
        raise CheckFailed(Blame.LOCAL, "no mail server is set: see mail_server in docs/mail.md")
    return mail.server


def _envelope(mail: Mail, server: MailServer, destination: Destination, world: World) -> Envelope:
    unsubscribe = f"{mail.public}/mail/{destination.id}/{destination.values.get(LINK, '')}"
    return Envelope(server.sender, recipient_of(destination.url), world.now(), unsubscribe)


async def _submit(
    mail: Mail, server: MailServer, transport: DeliveryTransport, message: EmailMessage, envelope: Envelope
) -> Answer:
    login, start, name = await mail.login(), trio.current_time(), _ehlo_name(mail.public)
    dialer = transport.dial_plain if server.security == "none" else transport.dial
    with trio.move_on_after(SESSION_TIMEOUT):
        stream = await dialer.connect(server.host, server.port)
        session = Session(stream, lambda stream: dialer.secure(stream, server.host, ()))
        try:
            reply = await session.submit(
                message, envelope.sender, envelope.recipient, security=server.security, login=login, name=name
            )
        finally:
            await trio.aclose_forcefully(session.stream)
        return answer_of(reply, round((trio.current_time() - start) * 1000))
    raise CheckFailed(Blame.REMOTE_TRANSIENT, f"the mail server did not finish within {SESSION_TIMEOUT:g} s")


def _ehlo_name(public: str) -> str:
    """Return our name for EHLO: the host's name, or an address in brackets (RFC 5321, 4.1.3)."""
    host = public.partition("://")[2].partition("/")[0]
    host = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
    if host.startswith("["):
        return f"[IPv6:{host[1:-1]}]"
    return f"[{host}]" if host.replace(".", "").isdigit() else host or "localhost"
