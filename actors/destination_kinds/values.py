"""The values of a destination: validated, stored open or sealed, and masked in answers."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import quote, urlsplit

from actors.destination_kinds.answer import Answer
from actors.destination_kinds.fields import KindField
from actors.destination_kinds.kind import DestinationKind
from actors.errors import Unprocessable
from storage.records.destination import ADDRESS, Destination, Private

LONGEST: Final = 4_096
HIDDEN: Final = "[hidden]"
_SHORTEST = 6
"""Shortest part of a private value that is masked in a receiver's response, in characters."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROL_BUT_LINES = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]")
_PLACE = "body.options"


class Values(NamedTuple):
    """The values of a destination, as stored."""

    options: Mapping[str, str]
    private: Mapping[str, Private]


def checked(kind: DestinationKind, given: Mapping[str, str | None], old: Destination | None = None) -> Values:
    """Return a destination's values after an edit; None removes one. Raises Unprocessable.

    Errors never include a private value.
    """
    fields = {field.name: field for field in kind.fields}
    for name in given:
        if name not in fields:
            known = ", ".join(fields) or "none"
            raise Unprocessable(f"{kind.label} has no such field; it has: {known}", f"{_PLACE}.{name[:64]}", None)
    before = {} if old is None else {name: value for name, value in old.values.items() if name in fields}
    after = {name: value for name, value in (before | dict(given)).items() if value}
    for field, says in _wrong(kind, fields, after, () if old is None else old.lost):
        raise Unprocessable(says, f"{_PLACE}.{field.name}", None if field.private else after.get(field.name))
    return Values(
        {name: value for name, value in after.items() if not fields[name].private},
        {name: Private(value) for name, value in after.items() if fields[name].private},
    )


def _wrong(
    kind: DestinationKind, fields: Mapping[str, KindField], values: Mapping[str, str], lost: Collection[str]
) -> Iterator[tuple[KindField, str]]:
    for field in kind.fields:
        value = values.get(field.name)
        if value is None:
            if field.required and not field.default and field.name not in lost:
                yield field, f"{field.label} is needed"
        elif len(value) > LONGEST:
            yield field, f"at most {LONGEST:,} characters"
        elif (_CONTROL_BUT_LINES if field.lines else _CONTROL).search(value):
            yield field, "has a character that can't be sent" if field.lines else "is one line, without controls"
        elif field.pattern and not re.fullmatch(field.pattern, value):
            yield field, f"does not look like one{f'; an example: {field.example}' if field.example else ''}"
    for name, says in kind.check(values):
        yield fields[name], says


def shown_address(kind: DestinationKind, address: str) -> str:
    """Return the visible part of an address.

    >>> from actors.destination_kinds.webhook import KIND
    >>> shown_address(KIND, "https://hooks.example.com/in")
    'https://hooks.example.com/in'
    """
    if not kind.address.private:
        return address
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}/…"


def masked(answer: Answer, destination: Destination) -> Answer:
    """Return an answer without credentials, which some services repeat in their errors."""
    secrets = sorted(_pieces(destination), key=len, reverse=True)
    if not secrets:
        return answer

    def without(text: str) -> str:
        for secret in secrets:
            text = text.replace(secret, HIDDEN)
        return _without_beginning(text, secrets)

    return answer._replace(said=without(answer.said), error=None if answer.error is None else without(answer.error))


def _without_beginning(text: str, secrets: Sequence[str]) -> str:
    """Return a text without a secret's beginning at its end, where it may have been cut."""
    for secret in secrets:
        for length in range(len(secret) - 1, _SHORTEST - 1, -1):
            if text.endswith(secret[:length]):
                return text[:-length] + HIDDEN
    return text


def _pieces(destination: Destination) -> set[str]:
    """Return a destination's private values, whole and in recognisable parts."""
    pieces: set[str] = set()
    for name, private in destination.private.items():
        value = private.value
        pieces |= {value, *value.split("\n"), *(line.partition(":")[2].strip() for line in value.split("\n"))}
        if name == ADDRESS:
            parts = urlsplit(value)
            pieces |= {*parts.path.split("/"), parts.query, *re.split(r"[=&]", parts.query)}
        # As in basic authentication (RFC 7617), with any of the open values as the user.
        for user in destination.options.values():
            pieces.add(base64.b64encode(f"{user}:{value}".encode()).decode())
    pieces |= {quote(piece, safe="") for piece in pieces}
    return {piece for piece in pieces if len(piece) >= _SHORTEST}
