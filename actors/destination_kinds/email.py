"""The kind `email`: mail to one address that has agreed to it, through the operator's mail server.

A mail is an event, a notice or a digest as text and HTML, or the request for consent. `Message-ID` is derived from the
delivery's id, so that duplicates are recognised (RFC 5322, 3.6.4); mails about one source refer to the same parent, so
that they thread. `List-Unsubscribe-Post` is RFC 8058, `Auto-Submitted` RFC 3834.

A session has one connection: greeting, TLS, login, one mail (RFC 5321, 3207, 4954). The state machine is smtpproto's.
Replies are read here, with bounds, because smtpproto fails on any unexpected code, even if the code has a clear
meaning (RFC 5321, 4.2; RFC 3463). The recipient may be gone (5xx to RCPT); the server may refuse this one mail (5xx to
its data); or it refuses us, which says nothing about the recipient. 4xx is greylisting, a full mailbox, or too much at
once: retry later.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from email.errors import MessageError
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple

import idna
import trio

from actors.destination_kinds import kind
from actors.destination_kinds.contract import LANGUAGE, AddressField, Answer, Verdict, escaped, people_fields
from actors.egress.failures import Blame, CheckFailed
from actors.egress.url import read_host
from actors.errors import UrlRefused
from actors.notification.dialects import DIALECTS, TextLimits, one_line
from actors.notification.fitting import message_of, text_of, title_of
from actors.notification.headline import Notification
from actors.notification.message_language import ENGLISH, ENGLISH_ONLY, MessageLanguage, MessageLanguages
from actors.settings import Settings
from actors.world import World
from storage.records.destination import EMAIL, LINK, Destination
from storage.records.identity import Millis
from storage.sql.storage import Storage

Security = Literal["tls", "starttls", "none"]
_SERVER: Final = re.compile(r"(smtps|smtp|smtp\+plain)://([^/:@\s]+|\[[0-9a-fA-F:.]+\])(?::(\d{1,5}))?/?")
_SECURITY: Final[dict[str, tuple[Security, int]]] = {
    "smtps": ("tls", 465),
    "smtp": ("starttls", 587),
    "smtp+plain": ("none", 25),
}
LONGEST_ADDRESS: Final = 254  # octets of an address (RFC 5321, 4.5.3.1.3, less the angle brackets)
LONGEST_LOCAL: Final = 64
MAILTO: Final = "mailto:"


class MailServer(NamedTuple):
    """The mail server. sender: the From address."""

    host: str
    port: int
    security: Security
    sender: str


def server_of(address: str, sender: str) -> MailServer | None:
    """Return the server from the settings, None without one. Raises ValueError.

    >>> server_of("smtps://mail.example.com", "watch@example.com")
    MailServer(host='mail.example.com', port=465, security='tls', sender='watch@example.com')
    """
    if not address:
        return None
    match = _SERVER.fullmatch(address)
    if match is None:
        raise ValueError(
            "write smtps://host, smtp://host (STARTTLS) or smtp+plain://host, with a port if it is another"
        )
    security, port = _SECURITY[match[1]]
    try:
        host = read_host(match[2])
        recipient = recipient_of(sender)
    except UrlRefused as error:
        raise ValueError(f"{error.detail}" if sender else "mail_from is needed with it") from None
    number = int(match[3] or port)
    if not 0 < number < 65536:
        raise ValueError("the port is from 1 to 65535")
    return MailServer(host, number, security, recipient)


def recipient_of(text: str) -> str:
    """Return a normalized address, the domain in ASCII. Raises UrlRefused.

    >>> recipient_of("mailto:Anna@Bücher.example")
    'Anna@xn--bcher-kva.example'
    """
    from email.headerregistry import Address  # noqa: PLC0415  a megabyte with smtpproto, for mail only

    address_text = text[len(MAILTO) :] if text[: len(MAILTO)].lower() == MAILTO else text
    try:
        address = Address(addr_spec=address_text)
        domain = idna.encode(address.domain, uts46=True).decode()
    except (ValueError, IndexError, AttributeError, MessageError, idna.IDNAError):
        raise _invalid_address() from None
    local = address.username
    if not local.isprintable() or any(letter in local for letter in ' "<>()[],;:\\%?&#') or "." not in domain:
        raise _invalid_address()
    recipient = f"{local}@{domain.lower()}"
    if len(local.encode()) > LONGEST_LOCAL or len(recipient.encode()) > LONGEST_ADDRESS:
        raise _invalid_address()
    return recipient


def domain_of(address: str) -> str:
    return address.rpartition("@")[2]


def _invalid_address() -> UrlRefused:
    return UrlRefused("url-mail", "this is no address for mail; an example: anna@example.com")


Stage = Literal["greeting", "hello", "tls", "login", "sender", "recipient", "data", "content"]
_MAILBOX_FULL = re.compile(rb"\b[45]\.2\.2\b")
_LOCAL_STAGES: tuple[Stage, ...] = ("greeting", "hello", "tls", "login", "sender")
_EXPLANATIONS = {
    "recipient": "the mail server accepts no mail for this address",
    "content": "the mail server does not take this mail",
    "data": "the mail server does not take this mail",
    "login": "the mail server refuses our login",
    "sender": "the mail server takes no mail from mail_from",
}


class Reply(NamedTuple):
    """The server's last reply, and its stage. text: as received, without the codes."""

    code: int
    text: bytes
    stage: Stage


def answer_of(reply: Reply, latency_ms: int) -> Answer:
    excerpt = escaped(reply.text)
    if reply.stage == "content" and reply.code == 250:
        return Answer(reply.code, latency_ms, excerpt=excerpt, verdict="delivered")
    text = f"{reply.code} {excerpt}".rstrip()
    is_local = reply.stage in _LOCAL_STAGES
    verdict = _verdict(reply)
    is_final = verdict in ("revoked", "refused") or (is_local and reply.code >= 500)
    explanation = _EXPLANATIONS.get(reply.stage, "") if is_final else ""
    error = f"{explanation}: {text}" if explanation else text
    return Answer(None if is_local else reply.code, latency_ms, error, ours=is_local, excerpt=excerpt, verdict=verdict)


def _verdict(reply: Reply) -> Verdict:
    if reply.stage in _LOCAL_STAGES:
        return "again"
    if reply.code < 500 or _MAILBOX_FULL.search(reply.text):
        return "slow"  # a full mailbox may be emptied later
    return "revoked" if reply.stage == "recipient" else "refused"


LONGEST_REPLY, LONGEST_LINE = 16 << 10, 2 << 10
_CLOSED = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
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
    """One session, used by `submit`. `stream`: the current one, plain or TLS. secure: wraps a stream in TLS."""

    def __init__(self, stream: trio.abc.Stream, secure: Secure) -> None:
        self.stream, self._secure = stream, secure
        from smtpproto.protocol import SMTPClientProtocol, SMTPException  # noqa: PLC0415  as above

        self._protocol, self._failure = SMTPClientProtocol(), SMTPException
        self._buffer = bytearray()

    async def submit(
        self, mail: EmailMessage, sender: str, recipient: str, *, security: Security, login: Login | None, name: str
    ) -> Reply:
        """Hand one mail over and return the decisive reply. name: ours, for EHLO. Raises CheckFailed. If cancelled or
        cut off after the data, the mail may or may not have been accepted.
        """
        try:
            await self._open(security, name)
            if login is not None:
                await self._log_in(login)
            utf8 = not (sender + recipient).isascii()
            await self._command("sender", lambda: self._protocol.mail(sender, smtputf8=utf8))
            await self._command("recipient", lambda: self._protocol.recipient(recipient))
            await self._command("data", self._protocol.start_data)
            reply = await self._command("content", lambda: self._protocol.data(mail))
        except _Refused as error:
            reply = error.reply
        except self._failure as error:  # a missing extension, or an unusable reply
            raise CheckFailed(Blame.REMOTE_TRANSIENT, f"the mail server: {error}") from None
        except _CLOSED:
            raise CheckFailed(Blame.REMOTE_TRANSIENT, "the mail server closed the connection") from None
        with trio.move_on_after(1), suppress(*_CLOSED):  # the mail's fate is known
            await self.stream.send_all(b"QUIT\r\n")
        return reply

    async def _open(self, security: Security, name: str) -> None:
        if security == "tls":
            self.stream = await self._secure(self.stream)
        await self._command("greeting", lambda: None)
        await self._command("hello", lambda: self._protocol.send_greeting(name))
        if security == "starttls":
            if "STARTTLS" not in self._protocol.extensions:
                raise CheckFailed(Blame.LOCAL, "the mail server offers no STARTTLS; nothing is sent unencrypted")
            await self._command("tls", self._protocol.start_tls)
            if self._buffer:  # sent before TLS, it would count as sent inside (CVE-2011-0411)
                raise CheckFailed(Blame.REMOTE_TRANSIENT, "the mail server sent data between STARTTLS and TLS")
            self.stream = await self._secure(self.stream)
            await self._command("hello", lambda: self._protocol.send_greeting(name))

    async def _log_in(self, login: Login) -> None:
        offered = {each.upper() for each in self._protocol.auth_mechanisms}
        user, password = login.user, login.password
        if login.token:
            secret = _encoded(f"user={user}\x01auth=Bearer {password}\x01\x01")
            reply = await self._command("login", lambda: self._protocol.authenticate("XOAUTH2", secret), (235, 334))
            if reply.code == 334:  # the error in detail; an empty answer ends it
                await self._command("login", lambda: self._protocol.send_authentication_data(""))
        elif "PLAIN" in offered or "LOGIN" not in offered:
            secret = _encoded(f"\0{user}\0{password}")
            await self._command("login", lambda: self._protocol.authenticate("PLAIN", secret))
        else:
            await self._command("login", lambda: self._protocol.authenticate("LOGIN"), (334,))
            await self._command("login", lambda: self._protocol.send_authentication_data(_encoded(user)), (334,))
            await self._command("login", lambda: self._protocol.send_authentication_data(_encoded(password)))

    async def _command(
        self, stage: Stage, command: Callable[[], None], expected: tuple[int, ...] = (220, 235, 250, 251, 354)
    ) -> Reply:
        """Send a command and return its reply. Raises _Refused for an unwanted one."""
        command()
        if outgoing := self._protocol.get_outgoing_data():
            await self.stream.send_all(outgoing)
        code, lines = await self._read()
        reply = Reply(code, b"\n".join(lines), stage)
        if code not in expected:
            raise _Refused(reply)
        for number, line in enumerate(lines, 1):
            separator = b" " if number == len(lines) else b"-"
            plain = line.decode("ascii", "replace").encode("ascii", "replace")
            self._protocol.feed_bytes(b"%d%s%s\r\n" % (code, separator, plain))
        return reply

    async def _read(self) -> tuple[int, list[bytes]]:
        """Read one whole reply. Raises CheckFailed if it is malformed."""
        lines: list[bytes] = []
        size = 0
        while True:
            line = await self._line()
            size += len(line)
            if len(line) < 3 or not line[:3].isdigit() or line[3:4] not in (b"", b" ", b"-") or size > LONGEST_REPLY:
                raise CheckFailed(Blame.REMOTE_TRANSIENT, "the server there is not a mail server")
            lines.append(line[4:])
            if line[3:4] != b"-":
                return int(line[:3]), lines

    async def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > LONGEST_LINE:
                raise CheckFailed(Blame.REMOTE_TRANSIENT, "the server there is not a mail server")
            data = await self.stream.receive_some(4096)
            if not data:
                raise CheckFailed(Blame.REMOTE_TRANSIENT, "the mail server closed the connection")
            self._buffer += data
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        return line


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


LIMITS: Final = TextLimits(text=60_000, title=160)
_PAGE: Final = files("actors.destination_kinds").joinpath("email.html").read_text("utf-8")


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


SESSION_TIMEOUT: Final = 60.0  # seconds for a whole session: mail servers inspect a mail before they accept it
_TOKEN = 20


class Mail(NamedTuple):
    """The way out for mail. login: called for each session, as tokens expire; or None. public: our own address."""

    server: MailServer | None
    login: Callable[[], Awaitable[Login | None]]
    public: str


def email_kind(mail: Mail, languages: MessageLanguages = ENGLISH_ONLY) -> kind.DestinationKind:

    def language_of(destination: Destination) -> MessageLanguage:
        return languages.language(destination.values.get(LANGUAGE, ""))

    async def admit(text: str, world: World, storage: Storage, settings: Settings) -> kind.AdmittedAddress:
        if mail.server is None:
            raise UrlRefused("url-mail", "no mail server is set: see mail_server and mail_from in docs/mail.md")
        recipient = recipient_of(text)
        return kind.AdmittedAddress(MAILTO + recipient, recipient)

    async def send(
        transport: kind.DeliveryTransport, destination: Destination, payload: kind.DeliveryPayload, world: World
    ) -> Answer:
        envelope, language = _envelope(mail, destination, world), language_of(destination)
        notification = await kind.render_delivery(world, LIMITS, destination.values, payload, language)
        is_event = notification.items and not notification.is_digest
        thread = f"{notification.items[0].source}.{destination.id}" if is_event else ""
        # Two destinations may have one address: each gets its own mail.
        own = notification._replace(id=f"{payload.id}.{destination.id}")
        message = mail_message_of(own, envelope._replace(thread=thread), language)
        return await _submit(mail, transport, message, envelope)

    async def invite(transport: kind.DeliveryTransport, destination: Destination, about: str, world: World) -> Answer:
        id = f"{destination.id}.{world.entropy(6).hex()}"
        envelope, language = _envelope(mail, destination, world), language_of(destination)
        texts = MailTexts(*map(language.translate, MailTexts()))
        invitation = _new_message(envelope, texts.question, id)
        intro = texts.wish % {"what": one_line(language.translate(about))}
        text = f"{intro}\n\n{texts.agree}\n{envelope.stop}\n\n{texts.otherwise}\n"
        invitation.set_content(text, cte="quoted-printable")
        return await _submit(mail, transport, invitation, envelope)

    return kind.DestinationKind(
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
        consent=kind.Consent(LINK, lambda world: world.entropy(_TOKEN).hex(), invite),
        limits=LIMITS,
        languages=languages,
    )


def _required_server(mail: Mail) -> MailServer:
    """Return the server. Raises CheckFailed if the setting has been removed since."""
    if mail.server is None:
        raise CheckFailed(Blame.LOCAL, "no mail server is set: see mail_server in docs/mail.md")
    return mail.server


def _envelope(mail: Mail, destination: Destination, world: World) -> Envelope:
    server = _required_server(mail)
    unsubscribe = f"{mail.public}/mail/{destination.id}/{destination.values.get(LINK, '')}"
    return Envelope(server.sender, recipient_of(destination.url), world.now(), unsubscribe)


async def _submit(mail: Mail, transport: kind.DeliveryTransport, message: EmailMessage, envelope: Envelope) -> Answer:
    server = _required_server(mail)
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
