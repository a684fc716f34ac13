"""Enabled reporters of urlwatch and webchanges as destinations. Pure.

Both keep them in a separate settings file, which is read if appended to the jobs as another YAML document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from extras.migrate.apprise import Reached
from extras.migrate.drafting import Drafting
from extras.migrate.fields import text, truth
from extras.migrate.notifying import NATIVE, people, posted
from extras.migrate.plan import DestinationBody, shortened

_HERE: Final = frozenset({"stdout", "browser", "html", "text", "markdown", "database", "separate", "tz", "footnote"})
"""Local reporters and formatting settings."""
_Settings = Mapping[str, Any]


def is_settings(document: Any) -> bool:
    """Return whether a document is the program's settings, not a job."""
    return isinstance(document, dict) and isinstance(document.get("report"), dict) and "url" not in document


def reporters(drafting: Drafting, place: str, settings: _Settings) -> Sequence[DestinationBody]:
    """Return the destinations of enabled reporters; note those without a counterpart."""
    found: list[DestinationBody] = []
    for name, one in settings["report"].items():
        if name in _HERE or not isinstance(one, dict) or not truth(one.get("enabled", False)):
            continue
        where = f"{place}, {shortened(str(name), 40)}"
        if name == "webhook":
            found += _webhook(drafting, where, text(one, "webhook_url"))
        elif (read := _READ.get(name)) is None:
            drafting.note(where, "reporter", "impossible", "there is no such kind of destination")
        else:
            found += people(drafting, where, str(name), tuple(read(one)))
    return found


def _webhook(drafting: Drafting, place: str, address: str) -> Sequence[DestinationBody]:
    """Read webchanges' webhook reporter, which posts to a chat's address."""
    try:
        kind = NATIVE.get(urlsplit(address).hostname or "")
    except ValueError:
        kind = None
    return (
        people(drafting, place, "webhook", (Reached(kind, address, {}),)) if kind else posted(drafting, place, address)
    )


def _addressed(kind: str, name: str = "webhook_url") -> Callable[[_Settings], Iterator[Reached]]:
    """Return a reader for reporters that need only an address."""

    def read(one: _Settings) -> Iterator[Reached]:
        if address := text(one, name):
            yield Reached(kind, address, {})

    return read


def _telegram(one: _Settings) -> Iterator[Reached]:
    token, chats = text(one, "bot_token"), one.get("chat_id")
    for chat in chats if isinstance(chats, list) else [chats]:
        if token and isinstance(chat, str | int) and str(chat):
            yield Reached("telegram", "", {"token": token, "chat": str(chat)})


def _matrix(one: _Settings) -> Iterator[Reached]:
    room, token = text(one, "room_id"), text(one, "access_token")
    if room.startswith("!") and token:
        yield Reached("matrix", text(one, "homeserver"), {"room": room, "token": token})


def _gotify(one: _Settings) -> Iterator[Reached]:
    if token := text(one, "token"):
        yield Reached("gotify", text(one, "server_url"), {"token": token})


def _pushover(one: _Settings) -> Iterator[Reached]:
    if (token := text(one, "app")) and (user := text(one, "user")):
        yield Reached("pushover", "", {"token": token, "user": user})


def _mail(one: _Settings) -> Iterator[Reached]:
    for address in text(one, "to").split(","):
        if "@" in address:
            yield Reached("email", address.strip(), {})


_READ: Final[Mapping[str, Callable[[_Settings], Iterator[Reached]]]] = {
    "telegram": _telegram,
    "slack": _addressed("slack"),
    "discord": _addressed("discord"),
    "mattermost": _addressed("mattermost"),
    "matrix": _matrix,
    "gotify": _gotify,
    "pushover": _pushover,
    "email": _mail,
    "mailgun": _mail,
}
