"""API keys as they are made, shown and listed. The plaintext exists once, on the way to the terminal."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence

from sanderling.exits import CommandFailed, Exit
from storage.records.identity import Millis, Seq, id_of, seq_at
from storage.records.key import ApiKey, SigningKey
from storage.records.times import rfc3339

SCOPES = (
    "sources:read",
    "sources:write",
    "stream:read",
    "alerts:read",
    "alerts:write",
    "bins:read",
    "bins:write",
    "admin",
)
CHANNEL_SCOPE = "stream:read:"
SHOWN = 12
"""Characters of a key that are kept and shown, so that a person can tell keys apart."""


def make_key(name: str, scopes: Sequence[str], *, entropy: Callable[[int], bytes], now: Millis) -> tuple[str, ApiKey]:
    """Return a new key's plaintext (`svc_` and 256 bits in base64url) and the record that is stored.

    Raises CommandFailed (USAGE) for an empty name or an unknown scope.
    """
    if not name.strip():
        raise CommandFailed(
            "The name is empty: name the key after what will use it, for example --name newsroom.", Exit.USAGE
        )
    for scope in scopes:
        if scope not in SCOPES and not (scope.startswith(CHANNEL_SCOPE) and len(scope) > len(CHANNEL_SCOPE)):
            raise CommandFailed(
                f"{scope}: there is no such scope. There are {', '.join(SCOPES)}, and stream:read:CHANNEL.", Exit.USAGE
            )
    plaintext = "svc_" + urlsafe_b64encode(entropy(32)).rstrip(b"=").decode()
    record = ApiKey(
        id=_new_id(entropy, now),
        name=name.strip(),
        prefix=plaintext[:SHOWN],
        sha256=hashlib.sha256(plaintext.encode()).hexdigest(),
        scopes=tuple(dict.fromkeys(scopes)),
        created_at=now,
    )
    return plaintext, record


def key_lines(keys: Sequence[ApiKey]) -> list[str]:
    """Return one line a key for the terminal: what is shown of it, name, scopes, creation, last use."""
    rows = [
        (
            f"{key.prefix}...",
            key.name,
            ",".join(key.scopes),
            rfc3339(key.created_at),
            rfc3339(key.last_used_at) if key.last_used_at is not None else "never used",
            key.id,
        )
        for key in keys
    ]
    wide = [max(len(row[column]) for row in rows) if rows else 0 for column in range(6)]
    return ["  ".join(f"{cell:<{wide[n]}}" for n, cell in enumerate(row)).rstrip() for row in rows]


def signing_lines(keys: Sequence[SigningKey]) -> list[str]:
    """Return one line a signing key for the terminal: its id, whether it signs, and since when it is there."""
    return [f"{key.key_id}  {key.state:<7}  {rfc3339(key.created_at)}" for key in keys]


def find_key(keys: Sequence[ApiKey], word: str) -> ApiKey:
    """Return the one key that an id, a name or the beginning of a key (as shown, or whole) names.

    Raises CommandFailed when there is none, or more than one.
    """
    shown = word.removesuffix("...")
    found = [k for k in keys if word in (k.id, k.name) or (shown.startswith("svc_") and k.prefix == shown[:SHOWN])]
    if not found:
        raise CommandFailed(f"No key is called {word[:SHOWN]!r}; `sanderling keys list` shows them.")
    if len(found) > 1:
        raise CommandFailed(
            f"{len(found)} keys are called {word[:SHOWN]!r}; name one by its id, from `sanderling keys list`."
        )
    return found[0]


def _new_id(entropy: Callable[[int], bytes], now: Millis) -> str:
    """Return a UUIDv7 of this moment with a random counter and tail."""
    drawn = int.from_bytes(entropy(10))
    return id_of(Seq(seq_at(now) | drawn & 0x7FFF), drawn >> 15 & (1 << 59) - 1)
