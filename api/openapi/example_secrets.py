"""An example of a comparison of secrets."""

from __future__ import annotations

from msgspec import Struct

from api.schemas.secrets import SecretsAnswer

ALL: tuple[Struct, ...] = (SecretsAnswer((True,)),)
