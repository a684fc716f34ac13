"""Sending mail: the server, the password (read again for each mail), and the default language."""

from __future__ import annotations

from pathlib import Path

import trio

from actors.destination_kinds.email.kind import Mail
from actors.destination_kinds.email.session import Login, server_of
from actors.egress.failures import Blame, LookFailed
from actors.notification.speech import Speech
from actors.settings import Settings
from api.dashboard.language.messages import speech_of
from sanderling.exits import CommandFailed, Exit

LARGEST = 16 << 10


def mail_of(settings: Settings) -> Mail:
    """Raises CommandFailed (BAD_SETTING)."""
    try:
        server = server_of(settings.mail_server, settings.mail_from)
    except ValueError as error:
        raise CommandFailed(f"mail_server = {settings.mail_server!r}: {error}.", Exit.BAD_SETTING) from None

    limiter = trio.CapacityLimiter(1)

    async def login() -> Login | None:
        if not settings.mail_user:
            return None
        password = await trio.to_thread.run_sync(_read, settings.mail_password_file, limiter=limiter)
        return Login(settings.mail_user, password, settings.mail_login == "token")

    return Mail(server, login, settings.public_url())


def speech_for(settings: Settings) -> Speech:
    """Return the languages for notifications. Raises CommandFailed (BAD_SETTING)."""
    speech = speech_of(settings.language)
    if settings.language not in speech.codes:
        known = ", ".join(speech.codes)
        raise CommandFailed(f"language = {settings.language!r}: there is {known}.", Exit.BAD_SETTING)
    return speech


def _read(file: str) -> str:
    """Return the first line of a file. Raises LookFailed: the fault is ours and may pass."""
    if not file:
        return ""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(LARGEST).decode("utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        says = f"mail_password_file can't be read: {getattr(error, 'strerror', None) or error}"
        raise LookFailed(Blame.LOCAL, says) from None
