"""A mail: an event, a notice or a digest as text and HTML, or the request for consent. Pure.

`Message-ID` is derived from the delivery's id, so that duplicates are recognised (RFC 5322, 3.6.4); mails about one
source refer to the same parent, so that they thread. `List-Unsubscribe-Post` is RFC 8058, `Auto-Submitted` RFC 3834.
"""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP, Policy
from email.utils import format_datetime
from html import escape
from typing import Any, Final, NamedTuple

from actors.destination_kinds.email.server import domain_of
from actors.notification.dialects import DIALECTS, TextLimits, one_line
from actors.notification.fitting import message_of, text_of, title_of
from actors.notification.reading import Notification
from actors.notification.speech import ENGLISH, Voice
from storage.records.identity import Millis

LIMITS: Final = TextLimits(text=60_000, title=160)
_PAGE: Final = """<!doctype html>
<html><head><meta charset="utf-8"><style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; max-width: 40em; margin: 1em auto; padding: 0 1em; }}
ins {{ background: #d9f2dd; text-decoration: none; }} del {{ background: #f9dcdc; }}
.foot {{ color: #666; font-size: 13px; border-top: 1px solid #ddd; margin-top: 2em; padding-top: .5em; }}
</style></head><body>
{heading}<p>{text}</p>
<p class="foot">{foot}</p>
</body></html>
"""


class LetterWords(NamedTuple):
    """The fixed texts of a mail."""

    why: str = "You get this because you agreed to it."
    how: str = "To stop it: %(link)s"
    stop: str = "Stop these mails"
    question: str = "Do you want these mails?"
    wish: str = "Somebody wants to send you mail from Sanderling: %(what)s."
    agree: str = "If you want it, open this page and agree:"
    otherwise: str = "If you do not, do nothing: there will be no other mail."


class Letter(EmailMessage):
    """A mail with unfolded headers, of at most 998 octets each (RFC 5322, 2.1.1).

    Folded at 78, a longer address or id would become an encoded word, which is not allowed there (RFC 2047, 5): a mail
    program would then find no way to unsubscribe.
    """

    def as_bytes(self, unixfrom: bool = False, policy: Policy[Any] | None = None) -> bytes:
        return super().as_bytes(unixfrom, (policy or self.policy).clone(max_line_length=998))


class Envelope(NamedTuple):
    """Sender, recipient, time, and the page to unsubscribe. thread: shared by mails about one source."""

    sender: str
    recipient: str
    at: Millis
    stop: str
    thread: str = ""


def letter_of(notification: Notification, envelope: Envelope, voice: Voice = ENGLISH) -> EmailMessage:
    """Return the mail of a notification."""
    words = LetterWords(*map(voice.say, LetterWords()))
    title = title_of(notification, LIMITS.title)
    mail = _begun(envelope, title, notification.id)
    if envelope.thread:
        mail["References"] = f"<{envelope.thread}@{domain_of(envelope.sender)}>"
    plain, heading = message_of(notification, LIMITS), title
    if notification.written:  # a user's template stands alone
        heading = ""
    html = "<br>\n".join(escape(notification.written).split("\n"))
    foot = f"{words.why} {words.how % {'link': envelope.stop}}"
    mail.set_content(f"{heading}\n\n{plain}\n\n-- \n{foot}\n".lstrip(), cte="quoted-printable")
    link = DIALECTS["html"].link(words.stop, envelope.stop)
    page = _PAGE.format(
        heading=f"<h2>{escape(title)}</h2>\n" if heading else "",
        text=html or text_of(notification, "html", LIMITS.text),
        foot=f"{escape(words.why)} {link}",
    )
    mail.add_alternative(page, subtype="html", cte="quoted-printable")
    return mail


def question_of(id: str, envelope: Envelope, about: str, voice: Voice = ENGLISH) -> EmailMessage:
    """Return the mail that asks for consent; `about` describes the notifications."""
    words = LetterWords(*map(voice.say, LetterWords()))
    mail = _begun(envelope, words.question, id)
    wish = words.wish % {"what": one_line(voice.say(about))}
    text = f"{wish}\n\n{words.agree}\n{envelope.stop}\n\n{words.otherwise}\n"
    mail.set_content(text, cte="quoted-printable")
    return mail


def _begun(envelope: Envelope, subject: str, id: str) -> EmailMessage:
    mail = Letter(policy=SMTP)
    mail["From"] = f"Sanderling <{envelope.sender}>"
    mail["To"] = envelope.recipient
    mail["Subject"] = one_line(subject)
    mail["Date"] = format_datetime(datetime.fromtimestamp(envelope.at // 1000, UTC))
    mail["Message-ID"] = f"<{id}@{domain_of(envelope.sender)}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail["List-Unsubscribe"] = f"<{envelope.stop}>"
    mail["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
    return mail
