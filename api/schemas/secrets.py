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
        description="Of a source `headers` or `hello`; of a destination `url`, `secret` or the name of an option",
        examples=["headers"],
    ),
]
SecretValue = Annotated[
    str, Meta(max_length=32_768, description="What it may be", examples=["Authorization: Bearer 3"])
]


class SupposedSecret(Struct, frozen=True, forbid_unknown_fields=True):
    """A value that a source or a destination may have."""

    of: Literal["source", "destination"]
    id: Annotated[str, Meta(min_length=1, max_length=100, extra_json_schema={"format": "uuid"})]
    name: SecretName
    value: SecretValue

    def __repr__(self) -> str:
        return f"SupposedSecret({self.of!r}, {self.id!r}, {self.name!r})"


class SecretsRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Values to compare with those that are sealed here."""

    secrets: Annotated[tuple[SupposedSecret, ...], Meta(min_length=1, max_length=MOST)]


class SecretsAnswer(Struct, frozen=True):
    """Whether each value is the one that is sealed here, in the order of the request. What is not here has none."""

    same: tuple[bool, ...]
