"""Creation of API keys. Pure: takes entropy and clock as arguments. Only the return value holds the plaintext."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from hashlib import sha256

from actors.errors import did_you_mean
from storage.records.access import SHOWN, ApiKey
from storage.records.identity import Millis, Seq, id_of, seq_at

SCOPES = {
    "sources:read": "read sources, their health, and the texts seen by their checks",
    "sources:write": "add, edit and delete sources, fetch any permitted URL; with sources:read, preview a watched page",
    "stream:read": "read all events, live and past",
    "alerts:read": "see alerts, deliveries; with stream:read, try queries; with sources:read, try templates",
    "alerts:write": "delete alerts and destinations; with stream:read, also add and edit them, and replay "
    "(they send events); with alerts:read, also rotate signing secrets",
    "bins:read": "see test inboxes and their captures",
    "bins:write": "make and delete test inboxes",
    "publications:read": "see publications, with their secret addresses",
    "publications:write": "delete publications; with stream:read, also publish and change them (they show events)",
    "admin": "see the figures and the parts of the running service, and act on them",
}
CHANNEL_SCOPE = "stream:read:"
_CHANNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
RATE = 600  # default requests a minute of a key
BURST = 100
MOST = 1_000_000
NAME_LENGTH = 100


class KeyRefused(ValueError):
    """Invalid key parameters. `field` is name, scopes, rate or burst."""

    def __init__(self, field: str, says: str) -> None:
        super().__init__(says)
        self.field = field


def new_key(
    name: str,
    scopes: Sequence[str],
    *,
    entropy: Callable[[int], bytes],
    now: Millis,
    rate: int = RATE,
    burst: int = BURST,
) -> tuple[str, ApiKey]:
    """Return a new key's plaintext (`svc_` and 256 bits in base64url) and its record. `rate`: requests a minute;
    `burst`: how many of them at once. Raises KeyRefused for a bad name, an unknown scope, or a limit out of bounds.
    """
    if not name.strip() or not name.isprintable() or len(name) > NAME_LENGTH:
        raise KeyRefused("name", f"The name must be 1 to {NAME_LENGTH} printable characters.")
    for scope in scopes:
        check_scope(scope)
    for field, limit in (("rate", rate), ("burst", burst)):
        if not 1 <= limit <= MOST:
            raise KeyRefused(field, f"{limit} must be from 1 to {MOST}.")
    plaintext = "svc_" + urlsafe_b64encode(entropy(32)).rstrip(b"=").decode()
    drawn = int.from_bytes(entropy(10))
    record = ApiKey(
        id=id_of(Seq(seq_at(now) | drawn & 0x7FFF), drawn >> 15 & (1 << 59) - 1),  # with a random counter and tail
        name=name.strip(),
        prefix=plaintext[:SHOWN],
        sha256=sha256(plaintext.encode()).hexdigest(),
        scopes=tuple(dict.fromkeys(scopes)),
        created_at=now,
        rate_per_minute=rate,
        burst=burst,
    )
    return plaintext, record


def check_scope(scope: str) -> None:
    """Refuse a scope that would grant nothing. Raises KeyRefused, with the nearest known scope."""
    if scope in SCOPES or (scope.startswith(CHANNEL_SCOPE) and _CHANNEL.fullmatch(scope[len(CHANNEL_SCOPE) :])):
        return
    if scope.startswith(CHANNEL_SCOPE):
        reason = "a channel's name is 1 to 63 of a-z, 0-9, - and _, and begins with a letter or figure."
    else:
        reason = f"there is no such scope.{did_you_mean(scope, SCOPES)}"
    known = f"There are {', '.join(SCOPES)}, and stream:read:CHANNEL."
    raise KeyRefused("scopes", f"{scope or 'An empty scope'}: {reason} {known}")
