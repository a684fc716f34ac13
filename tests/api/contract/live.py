from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from api.route import PUBLIC
from api.route import SCOPES as ROUTE_SCOPES
from sanderling.keyring import make_key
from sanderling.real_world import entropy, now
from storage.sqlite.database import open_keys

SCOPES = tuple(sorted(ROUTE_SCOPES - {PUBLIC}))


def a_tireless_key(folder: Path) -> str:
    """Make a key with a practically unlimited rate."""
    plaintext, key = make_key("tests", SCOPES, entropy=entropy, now=now())
    with open_keys(folder) as keys:
        keys.add(replace(key, rate_per_minute=10_000_000, burst=1_000_000))
    return plaintext
