"""Make, show and list API keys. The plaintext exists once, on its way to the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from actors.keys import BURST, RATE, KeyRefused, new_key
from sanderling.exits import CommandFailed, Exit
from storage.records.identity import Millis
from storage.records.key import SHOWN, ApiKey, PublicKey, SigningKey
from storage.records.times import rfc3339

PART = 6
"""Minimum letters of an id, from its beginning or end, that identify a key."""
_TOLD = {
    "name": "{0} Name the key after what will use it, for example --name newsroom.",
    "scopes": "{0}",
    "rate": "--rate: {0}",
    "burst": "--burst: {0}",
}


def make_key(
    name: str,
    scopes: Sequence[str],
    *,
    entropy: Callable[[int], bytes],
    now: Millis,
    rate: int = RATE,
    burst: int = BURST,
) -> tuple[str, ApiKey]:
    """Return a new key's plaintext and its record; see `actors.keys.new_key`. Raises CommandFailed (USAGE)."""
    try:
        return new_key(name, scopes, entropy=entropy, now=now, rate=rate, burst=burst)
    except KeyRefused as error:
        raise CommandFailed(_TOLD[error.field].format(error), Exit.USAGE) from None


def key_document(key: ApiKey) -> dict[str, Any]:
    """Return a key for programs, without its hash."""
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
    """Return one line per key: prefix, name, scopes, rate, creation, last use, id."""
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


def signing_records(keys: Sequence[SigningKey], foreign: Sequence[PublicKey] = ()) -> list[dict[str, str]]:
    told: list[tuple[str, str, Millis]] = [(key.key_id, key.state, key.created_at) for key in keys]
    told += [(key.key_id, "foreign", key.created_at) for key in foreign]
    return [{"key_id": key_id, "state": state, "created_at": rfc3339(at)} for key_id, state, at in told]


def signing_lines(keys: Sequence[SigningKey], foreign: Sequence[PublicKey] = ()) -> list[str]:
    found = signing_records(keys, foreign)
    return [f"{key['key_id']}  {key['state']:<7}  {key['created_at']}" for key in found]


def find_key(keys: Sequence[ApiKey], word: str) -> ApiKey:
    """Find one key by its id, part of the id at either end, its name, or the key's own beginning.

    Raises CommandFailed if none or several match.
    """
    shown = word.removesuffix("...")
    found = [k for k in keys if word in (k.id, k.name) or (shown.startswith("svc_") and k.prefix == shown[:SHOWN])]
    found = found or [k for k in keys if len(word) >= PART and (k.id.startswith(word) or k.id.endswith(word))]
    if not found:
        raise CommandFailed(f"No key is called {word[:SHOWN]!r}; `sanderling keys list` shows them.")
    if len(found) > 1:
        raise CommandFailed(
            f"{len(found)} keys are called {word[:SHOWN]!r}; name one by its id, from `sanderling keys list`."
        )
    return found[0]
