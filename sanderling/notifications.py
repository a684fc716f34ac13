"""Parts of notifications that come from the settings: mail, languages, templates and messengers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import trio

from actors.catalogue import Catalogue, Named
from actors.destination_kinds.email import Login, Mail, server_of
from actors.destination_kinds.messengers import messenger
from actors.destination_kinds.messengers.messenger import Messenger
from actors.egress.failures import Blame, CheckFailed
from actors.language.sentences import message_languages
from actors.notification.message_language import MessageLanguages
from actors.settings import Settings
from actors.templates import template as catalogue
from actors.templates.template import Template
from sanderling.exits import CommandFailed, Exit

LARGEST = 16 << 10


N = TypeVar("N", bound=Named)


def templates_of(folder: str) -> Catalogue[Template]:
    """Raises CommandFailed (BAD_SETTING)."""
    return _catalogue(folder, "templates", catalogue.built_in, catalogue.with_folder)


def messengers_of(folder: str) -> Catalogue[Messenger]:
    """Raises CommandFailed (BAD_SETTING)."""
    return _catalogue(folder, "kinds of destinations", messenger.built_in, messenger.with_folder)


def _catalogue(
    folder: str, what: str, built_in: Callable[[], Catalogue[N]], with_folder: Callable[[Path], Catalogue[N]]
) -> Catalogue[N]:
    if not folder:
        return built_in()
    try:
        return with_folder(Path(folder))
    except OSError as error:
        says = f"{folder} can't be read as a folder of {what}: {error.strerror or error}."
        raise CommandFailed(says, Exit.BAD_SETTING) from None


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
        password = await trio.to_thread.run_sync(_first_line, settings.mail_password_file, limiter=limiter)
        return Login(settings.mail_user, password, settings.mail_login == "token")

    return Mail(server, login, settings.public_url())


def languages_for(settings: Settings) -> MessageLanguages:
    """Raises CommandFailed (BAD_SETTING)."""
    languages = message_languages(settings.language)
    if settings.language not in languages.codes:
        known = ", ".join(languages.codes)
        raise CommandFailed(f"language = {settings.language!r}: there is {known}.", Exit.BAD_SETTING)
    return languages


def _first_line(file: str) -> str:
    """Raises CheckFailed: the fault is ours and may pass."""
    if not file:
        return ""
    try:
        with Path(file).open("rb") as opened:
            return opened.read(LARGEST).decode("utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        says = f"mail_password_file can't be read: {getattr(error, 'strerror', None) or error}"
        raise CheckFailed(Blame.LOCAL, says) from None
