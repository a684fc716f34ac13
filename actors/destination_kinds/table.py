"""The kinds of destinations: those with code, and one for each messenger's file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from actors.catalogue import Catalogue
from actors.destination_kinds.email import Mail, email_kind
from actors.destination_kinds.kind import DestinationKind, Service
from actors.destination_kinds.messengers.kind import kind_of
from actors.destination_kinds.messengers.messenger import Messenger, built_in
from actors.destination_kinds.webhook import KIND as WEBHOOK
from actors.extras import always_on
from actors.notification.message_language import ENGLISH_ONLY, MessageLanguages

Kinds = Mapping[str, DestinationKind]


async def _nobody() -> None:
    return None


NO_MAIL: Final = Mail(None, _nobody, "")


@cache
def built_in_kinds() -> Kinds:
    return kinds_of(built_in(), NO_MAIL)


def kinds_of(
    messengers: Catalogue[Messenger],
    mail: Mail,
    service: Service | None = None,
    languages: MessageLanguages = ENGLISH_ONLY,
) -> Kinds:
    chats = (kind_of(chat, languages) for chat in sorted(messengers, key=lambda chat: chat.label.casefold()))
    others = (kind for extra in always_on() for kind in extra.kinds(languages, service))
    return {kind.id: kind for kind in (WEBHOOK, email_kind(mail, languages), *others, *chats)}
