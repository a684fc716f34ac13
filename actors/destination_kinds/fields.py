"""The fields of a kind: its address and further values, as a form shows them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

Family = Literal["program", "chat", "phone", "on-call", "mail"]


class AddressField(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kind's address, as a form asks for it.

    private: its path is a credential, so it is sealed, and only its host is shown. default: the service's own address,
    for kinds with one address for everyone.
    """

    label: str
    help: str = ""
    example: str = ""
    private: bool = False
    default: str = ""


class KindField(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A further value of a kind, as a form asks for it. many: several values, separated by commas.

    private: sealed and never shown again. lines: it may have several lines. pattern: matches the whole value.
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


LANGUAGE: Final = "language"
MESSAGE: Final = "message"
MESSAGE_TITLE: Final = "message_title"
MESSAGE_FIELDS: Final = (
    KindField(
        name=MESSAGE_TITLE,
        label="Title template",
        help="Your own title. Left empty, it is the usual one.",
        example="{{ host }}: {{ title }}",
        required=False,
    ),
    KindField(
        name=MESSAGE,
        label="Message template",
        help="Your own text. Names in double braces are filled in. Left empty, it is the usual message.",
        example="{{ title }}\n{{ difference }}\n{{ link }}",
        required=False,
        lines=True,
    ),
)
"""Further fields of all kinds for people."""


def for_people(codes: Sequence[str]) -> tuple[KindField, ...]:
    """Return the fields of all kinds for people; `codes`: the service's languages."""
    language = KindField(
        name=LANGUAGE,
        label="Language",
        help="The language of the service's own words. Empty: the service's setting.",
        example=codes[-1],
        required=False,
        pattern="|".join(codes),
    )
    return (language, *MESSAGE_FIELDS)
