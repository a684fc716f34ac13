"""Wire shapes of the comparison of secrets."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

MOST = 100
"""Secrets per request."""
SecretName = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=100,
        description="For a source `headers` or `hello`; for a destination `url`, `secret` or the name of an option",
        examples=["headers"],
    ),
]
SecretValue = Annotated[
    str, Meta(max_length=32_768, description="The value to compare", examples=["Authorization: Bearer 3"])
]


class SupposedSecret(Struct, frozen=True, forbid_unknown_fields=True):
    """A value to compare with a stored secret."""

    of: Literal["source", "destination"]
    id: Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})]
    name: SecretName
    value: SecretValue

    def __repr__(self) -> str:
        return f"SupposedSecret({self.of!r}, {self.id!r}, {self.name!r})"


class SecretsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Values to compare with the stored secrets."""

    secrets: Annotated[tuple[SupposedSecret, ...], Meta(min_length=1, max_length=MOST)]


class SecretsAnswer(Struct, frozen=True):
    """Whether each value equals the stored one, in the order of the request; false if none is stored."""

    same: tuple[bool, ...]
