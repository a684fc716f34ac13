"""API keys, signing keys and the password for the command line, with or without a running service on the data.

Commands and tests make and show keys here; `api/keys.py` checks them.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from actors.settings import Settings
from actors.signatures import jwks, new_signing_key
from api.keys import BURST, RATE, KeyRefused, new_key
from sanderling.data_folder import find_master_key, master_in, working_in
from sanderling.engines import engine_of
from sanderling.environment import environ
from sanderling.exits import CommandFailed, Exit
from sanderling.real_world import entropy, now
from storage.records.access import SHOWN, Activity, ApiKey, SigningKey, allowed
from storage.records.identity import Millis, Seq, id_of, rfc3339, seq_at
from storage.sql.stores.people import CommandKeys
from storage.sqlite.upkeep import RotationResult, rotate

Names = Sequence[str]
PART = 6  # minimum letters of an id, from its beginning or end, that identify a key
_TOLD = {
    "name": "{0} Name the key after what will use it, for example --name newsroom.",
    "scopes": "{0}",
    "rate": "--rate: {0}",
    "burst": "--burst: {0}",
}


def create(
    settings: Settings,
    name: str,
    scopes: Sequence[str],
    *,
    rate: int = RATE,
    burst: int = BURST,
    person: str = "",
    days: int | None = None,
) -> tuple[ApiKey, str]:
    """Return a key and its plaintext. person: id or e-mail address. days: until it expires. Raises CommandFailed."""
    plaintext, key = make_key(name, scopes, entropy=entropy, now=now(), rate=rate, burst=burst)
    if days is not None:
        key = replace(key, expires_at=Millis(key.created_at + days * 86_400_000))
    with engine_of(settings).keys(existing=False) as keys:
        key = replace(key, person=_person_of(keys, person, key)) if person else key
        keys.add(key, _done("keys create", key, after=True))
    return key, plaintext


def _person_of(keys: CommandKeys, text: str, key: ApiKey) -> str:
    if (who := keys.person(text)) is None:
        raise CommandFailed(f"{text}: there is no such person; `sanderling people list` shows them.", Exit.USAGE)
    if more := set(key.scopes) - set(allowed(key.scopes, who.role)):
        raise CommandFailed(f"{who.name} is {who.role}, which does not include {', '.join(sorted(more))}.", Exit.USAGE)
    return who.id


def _done(operation: str, key: ApiKey, *, after: bool) -> Activity:
    shown = msgspec.json.encode({"name": key.name, "prefix": key.prefix, "scopes": key.scopes, "person": key.person})
    drawn = int.from_bytes(entropy(10))
    id = id_of(Seq(seq_at(now()) | drawn & 0x7FFF), drawn >> 15 & (1 << 59) - 1)
    told = {"after" if after else "before": shown}
    return Activity(
        id=id, at=now(), person="", by="this machine", operation=operation, object=f"/v1/keys/{key.id}", **told
    )


def every(settings: Settings) -> Sequence[ApiKey]:
    """Raises CommandFailed."""
    with engine_of(settings).keys() as keys:
        return keys.all()


def signing(settings: Settings) -> Sequence[SigningKey]:
    with engine_of(settings).keys() as keys:
        return keys.signing()


def published(settings: Settings) -> bytes:
    with engine_of(settings).keys() as keys:
        return jwks(keys.signing(), keys.public())


def forget_signing(settings: Settings, key_id: str) -> None:
    """Stop publishing another instance's public key; a running server follows. Raises CommandFailed."""
    with engine_of(settings).keys() as keys:
        if keys.forget_public(key_id):
            return
        if any(key.key_id == key_id for key in keys.signing()):
            raise CommandFailed(
                f"{key_id}: is this instance's own, and stays published for its old signatures; `sanderling keys "
                "rotate-signing` makes another one sign.",
                Exit.USAGE,
            )
    raise CommandFailed(f"{key_id}: no such key is published; `sanderling keys signing --jwks` shows them.", Exit.USAGE)


def rotate_signing(settings: Settings) -> SigningKey:
    key = new_signing_key(entropy(32), now())
    with engine_of(settings).keys() as keys:
        keys.add_signing(key)
    return key


def rotate_master(settings: Settings, to: Path | None, *, lost: bool) -> RotationResult:
    """Reseal all secrets with the key in a file, or a new one. lost: give up the old key's. Raises CommandFailed."""
    engine_of(settings).refuse("Its secrets can't be sealed again yet: keep the old master key.")
    folder = Path(settings.data)
    if not folder.is_dir():  # reading must not create it
        raise CommandFailed(f"{folder}: there is no such data folder; name the service's with --data.", Exit.BAD_DATA)
    named = find_master_key(environ())
    new = None if to is None else master_in(to)
    if new is None and named is not None:
        raise CommandFailed(
            "You set this service's master key. Make another, and pass its file:\n\n"
            "  (umask 077; sanderling keys master > new.key)\n  sanderling keys rotate-master --to new.key",
            Exit.USAGE,
        )
    with working_in(folder):
        fresh = (lambda: "whsec_" + base64.b64encode(entropy(32)).decode()) if lost else None
        return rotate(folder, None if named is None else named.vault, None if new is None else new.vault, fresh)


def set_up_link(settings: Settings, url: str | None = None) -> str:
    """Return the URL of a link that sets the password; older links end. url: if it differs from the settings."""
    from api.dashboard.account.entry import new_link  # imports the dashboard

    path, link = new_link(entropy, now())
    with engine_of(settings).keys(existing=False) as keys:
        keys.offer(link)
    return (url or settings.public_url()) + path


def revoke(settings: Settings, word: str) -> ApiKey:
    """Delete and return the key that matches an id, a name or a beginning. Raises CommandFailed."""
    with engine_of(settings).keys() as keys:
        key = find_key(keys.all(), word)
        keys.revoke(key.id, _done("keys revoke", key, after=False))
    return key


def make_key(
    name: str, scopes: Names, *, entropy: Callable[[int], bytes], now: Millis, rate: int = RATE, burst: int = BURST
) -> tuple[str, ApiKey]:
    """Return a new key's plaintext and its record; see `api.keys.new_key`. Raises CommandFailed (USAGE)."""
    try:
        return new_key(name, scopes, entropy=entropy, now=now, rate=rate, burst=burst)
    except KeyRefused as error:
        raise CommandFailed(_TOLD[error.field].format(error), Exit.USAGE) from None


def key_document(key: ApiKey) -> dict[str, Any]:
    shown = {name: getattr(key, name) for name in ("id", "name", "prefix", "scopes", "rate_per_minute", "burst")}
    times = {name: getattr(key, name) for name in ("created_at", "last_used_at", "expires_at")}
    shown |= {name: None if at is None else rfc3339(at) for name, at in times.items()}
    return shown | {"scopes": list(key.scopes), "person": key.person or None}


def signing_records(settings: Settings) -> list[dict[str, str]]:
    with engine_of(settings).keys() as keys:
        told: list[tuple[str, str, Millis]] = [(key.key_id, key.state, key.created_at) for key in keys.signing()]
        told += [(key.key_id, "foreign", key.created_at) for key in keys.public()]
    return [{"key_id": key_id, "state": state, "created_at": rfc3339(at)} for key_id, state, at in told]


def find_key(keys: Sequence[ApiKey], word: str) -> ApiKey:
    """Find one key by part of its id at either end, its name, or its own beginning. Raises CommandFailed."""
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
