"""The contract of a kind: its address and further values, as a form shows them, and the answer to one attempt. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

Verdict = Literal["delivered", "again", "slow", "refused", "revoked"]
GONE: Final = 410
EXCERPT: Final = 1024  # stored characters of an answer


class Answer(NamedTuple):
    """The result of one attempt. `status`: None without a response. `timeout`: it was waited for. excerpt: the
    beginning of the response, escaped. ours: it failed on this machine (no route, no resolver), which says nothing
    about the receiver. verdict: the meaning, if a kind's own rules decide it and not the status.
    """

    status: int | None
    latency_ms: int
    error: str | None = None
    retry_after: float | None = None
    timeout: bool = False
    ours: bool = False
    excerpt: str = ""
    verdict: Verdict | None = None

    @property
    def delivered(self) -> bool:
        """Whether the receiver took it: 2xx only."""
        if self.verdict is not None:
            return self.verdict == "delivered"
        return self.status is not None and 200 <= self.status < 300

    @property
    def gone(self) -> bool:
        """Whether the receiver refuses all further deliveries: 410, or a revoked token."""
        return self.verdict == "revoked" or (self.verdict is None and self.status == GONE)

    @property
    def refused(self) -> bool:
        return self.verdict == "refused"

    @property
    def slow(self) -> bool:
        return self.verdict == "slow" or (self.verdict is None and self.status == 429)

    @property
    def outcome(self) -> str:
        if self.delivered:
            return "delivered"
        if self.status is None:
            return "ours" if self.ours else "timeout" if self.timeout else "unreachable"
        outcomes = {2: "client_error", 3: "redirect", 4: "client_error"}  # 2xx with an error inside
        return outcomes.get(self.status // 100, "server_error")


def escaped(body: bytes) -> str:
    r"""Return a receiver's text, safe to show: no character of it moves a cursor or hides a letter.

    >>> escaped("fel: å\x1b[31m".encode())
    'fel: å\\x1b[31m'
    """
    text = body[:EXCERPT].decode("utf-8", "replace")
    printable = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return printable[:EXCERPT]


Family = Literal["program", "chat", "phone", "on-call", "mail"]


class AddressField(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind's address in a form. private: its path is sealed, and only its host is shown. default: for everyone."""

    label: str
    help: str = ""
    example: str = ""
    private: bool = False
    default: str = ""


class KindField(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A further value of a kind in a form. many: separated by commas. private: sealed and never shown again. lines: it
    may have several lines. pattern: matches the whole value.
    """

    name: str
    label: str
    help: str = ""
    example: str = ""
    private: bool = False
    required: bool = True
    many: bool = False
    lines: bool = False
    pattern: str = ""
    default: str = ""


LANGUAGE, MESSAGE, MESSAGE_TITLE = "language", "message", "message_title"
_FILE: Final = tomllib.loads(files("actors.destination_kinds").joinpath("fields.toml").read_text("utf-8"))
_LANGUAGE, *_MESSAGE = msgspec.convert(_FILE["people"], list[KindField])
MESSAGE_FIELDS: Final = tuple(_MESSAGE)  # further fields of all kinds for people


WEBHOOK_ADDRESS: Final = msgspec.convert(_FILE["webhook_address"], AddressField)
WEBHOOK_FIELDS: Final = msgspec.convert(_FILE["webhook"], tuple[KindField, ...])


def people_fields(codes: Sequence[str]) -> tuple[KindField, ...]:
    return (replace(_LANGUAGE, example=codes[-1], pattern="|".join(codes)), *MESSAGE_FIELDS)
