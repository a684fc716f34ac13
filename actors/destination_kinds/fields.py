"""The fields of a kind: its address and further values, as a form shows them. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files
from typing import Final, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

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
