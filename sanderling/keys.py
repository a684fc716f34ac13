"""API keys as they are made, shown and listed. The plaintext exists once, on the way to the terminal."""

from __future__ import annotations

import hashlib
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any

from sanderling.exits import CommandFailed, Exit
from storage.records.identity import Millis, Seq, id_of, seq_at
from storage.records.key import SHOWN, ApiKey, SigningKey
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
_CHANNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
RATE = 600
"""Requests a minute of a key that nothing else is said of."""
BURST = 100
MOST = 1_000_000
NAME_LENGTH = 100


def make_key(
    name: str,
    scopes: Sequence[str],
    *,
    entropy: Callable[[int], bytes],
    now: Millis,
    rate: int = RATE,
    burst: int = BURST,
) -> tuple[str, ApiKey]:
    """Return a new key's plaintext (`svc_` and 256 bits in base64url) and the record that is stored.

    `rate`: requests a minute; `burst`: how many of them at once. Raises CommandFailed (USAGE) for an empty or
    unprintable name, an unknown scope, or a limit out of bounds.
    """
    if not name.strip() or not name.isprintable() or len(name) > NAME_LENGTH:
        raise CommandFailed(
            f"The name must be 1 to {NAME_LENGTH} printable characters: name the key after what will use it, for "
            "example --name newsroom.",
            Exit.USAGE,
        )
    for scope in scopes:
        check_scope(scope)
    for what, limit in (("rate", rate), ("burst", burst)):
        if not 1 <= limit <= MOST:
            raise CommandFailed(f"--{what} {limit}: must be from 1 to {MOST}.", Exit.USAGE)
    plaintext = "svc_" + urlsafe_b64encode(entropy(32)).rstrip(b"=").decode()
    record = ApiKey(
        id=_new_id(entropy, now),
        name=name.strip(),
        prefix=plaintext[:SHOWN],
        sha256=hashlib.sha256(plaintext.encode()).hexdigest(),
        scopes=tuple(dict.fromkeys(scopes)),
        created_at=now,
        rate_per_minute=rate,
        burst=burst,
    )
    return plaintext, record


def check_scope(scope: str) -> None:
    """Refuse a scope that would never grant anything. Raises CommandFailed (USAGE), with the nearest one."""
    if scope in SCOPES or (scope.startswith(CHANNEL_SCOPE) and _CHANNEL.fullmatch(scope[len(CHANNEL_SCOPE) :])):
        return
    if scope.startswith(CHANNEL_SCOPE):
        says = "a channel's name is 1 to 63 of a-z, 0-9, - and _, and begins with a letter or figure."
    else:
        close = get_close_matches(scope, SCOPES, 1, 0.5)
        says = f"there is no such scope.{f' Did you mean {close[0]}?' if close else ''}"
    raise CommandFailed(
        f"{scope or 'An empty scope'}: {says} There are {', '.join(SCOPES)}, and stream:read:CHANNEL.", Exit.USAGE
    )


def key_document(key: ApiKey) -> dict[str, Any]:
    """Return what of a key is told to programs: all but its hash."""
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "scopes": list(key.scopes),
        "rate_per_minute": key.rate_per_minute,
        "burst": key.burst,
        "created_at": rfc3339(key.created_at),
        "last_used_at": None if key.last_used_at is None else rfc3339(key.last_used_at),
    }


def key_lines(keys: Sequence[ApiKey]) -> list[str]:
    """Return one line a key for the terminal: what is shown of it, name, scopes, rate, creation, last use."""
    rows = [
        (
            f"{key.prefix}...",
            key.name,
            ",".join(key.scopes),
            f"{key.rate_per_minute}/min",
            rfc3339(key.created_at),
            rfc3339(key.last_used_at) if key.last_used_at is not None else "never used",
            key.id,
        )
        for key in keys
    ]
    wide = [max(len(row[column]) for row in rows) if rows else 0 for column in range(7)]
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
