"""Secrets at rest: the sealed columns, and the boxes with their keys.

All columns are sealed, sealed with another key, or given up together; everything else that grants access is stored as a
hash. A database also has the mark of its master key: one empty box, written before anything can be sealed.

A box is XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) under a key derived from the master key for one kind of row (keyed
BLAKE2b, RFC 7693), with the row's name as associated data. So a box that was altered, or moved to another row or table,
cannot be opened: an attacker with write access to the database but without the key cannot give one destination the
secret of another.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

from nacl.exceptions import CryptoError
from nacl.secret import Aead
from nacl.signing import SigningKey
from nacl.utils import random

from storage.errors import Unopened
from storage.records.destination import LINK

SIZE = 32
NONCE = Aead.NONCE_SIZE
_PERSON = b"sanderling at"  # at rest; BLAKE2b's "person" separates this use of the key from any other
_MAC = b"sanderling mac"
_FORM = b"\x01"  # The first byte of a box: its format. There is one so far.
_WRITTEN = re.compile(r"smk_([A-Za-z0-9_-]{43})", re.ASCII)


class Vault:
    """Seals and opens with one master key of 32 bytes. Its repr hides the key from log lines and tracebacks."""

    def __init__(self, master: bytes) -> None:
        assert len(master) == SIZE
        self._master = master
        self._boxes: dict[str, Aead] = {}

    def __repr__(self) -> str:
        return "Vault(...)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vault) and self._master == other._master

    def __hash__(self) -> int:
        return hash(self._master)

    def seal(self, kind: str, name: str, secret: bytes) -> bytes:
        """Seal a secret for the row `name` of a kind: 41 bytes longer, and different at each call."""
        # Random nonces of 24 bytes do not repeat, and need no other property.
        return self.seal_with(kind, name, secret, random(NONCE))

    def seal_with(self, kind: str, name: str, secret: bytes, nonce: bytes) -> bytes:
        """Seal like `seal`, with a nonce that no other box of this kind has."""
        return _FORM + bytes(self._box(kind).encrypt(secret, name.encode(), nonce))

    def open(self, kind: str, name: str, box: bytes) -> bytes:
        """Return the secret. Raises Unopened if the box was altered, moved, or sealed with another master key."""
        if box[:1] == _FORM:
            try:
                return self._box(kind).decrypt(box[1:], name.encode())
            except (CryptoError, ValueError):
                pass  # raised below, like a box of another form
        raise Unopened(kind, name)

    def opens(self, kind: str, name: str, box: bytes) -> bool:
        try:
            self.open(kind, name, box)
        except Unopened:
            return False
        return True

    def mac_key(self, context: str) -> bytes:
        """Derive a key of 32 bytes for MACs that only holders of the master key can make, one for each context."""
        return blake2b(context.encode(), key=self._master, digest_size=SIZE, person=_MAC).digest()

    def _box(self, kind: str) -> Aead:
        if kind not in self._boxes:
            derived = blake2b(kind.encode(), key=self._master, digest_size=Aead.KEY_SIZE, person=_PERSON)
            self._boxes[kind] = Aead(derived.digest())
        return self._boxes[kind]


def written(master: bytes) -> str:
    """Return a master key in the form of its file.

    >>> written(bytes(32))
    'smk_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    """
    return "smk_" + base64.urlsafe_b64encode(master).decode().rstrip("=")


def read_master(text: str) -> bytes | None:
    """Parse a master key, ignoring surrounding white space; None if the text is none."""
    found = _WRITTEN.fullmatch(text.strip())
    return None if found is None else base64.urlsafe_b64decode(found[1] + "=")


class Rows(Protocol):
    """The result of a statement: the rows found, and the number of rows changed, as DB-API 2.0 (PEP 249) has them."""

    @property
    def rowcount(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def close(self) -> None: ...
    def fetchmany(self, size: int = 1, /) -> list[Any]: ...
    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...


class Connection(Protocol):
    """Runs statements inside the caller's transaction. The placeholder is `?`."""

    def execute(self, statement: str, parameters: Sequence[Any] = (), /) -> Rows:
        """Run a statement."""

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]], /) -> Rows:
        """Run a statement once per row; `rowcount` is the total."""


_VAULT, _MARK = "vault", "mark"


def mark(connection: Connection, vault: Vault) -> None:
    """Write the mark of the key that seals a database, inside the caller's transaction."""
    box = vault.seal(_VAULT, _MARK, b"")
    connection.execute("INSERT INTO vault VALUES(1, ?) ON CONFLICT(one) DO UPDATE SET box=excluded.box", (box,))


def read_mark(connection: Connection) -> bytes | None:
    """Return the mark of a database that has the table; None if nothing is sealed yet."""
    row = connection.execute("SELECT box FROM vault").fetchone()
    return None if row is None else bytes(row[0])


def opens_mark(vault: Vault, box: bytes) -> bool:
    return vault.opens(_VAULT, _MARK, box)


class Lost(NamedTuple):
    """How many of each have lost their secrets."""

    keys: int
    destinations: int
    sources: int


class Form(NamedTuple):
    """Converts the content of a box to JSON (`told`) and back (`read`)."""

    told: Callable[[bytes], Any]
    read: Callable[[Any], bytes]


def encoded(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


_HEX, _JSON, _TEXT = Form(bytes.hex, bytes.fromhex), Form(json.loads, encoded), Form(bytes.decode, str.encode)


class SealedPlace(NamedTuple):
    """The statements that read and write one kind of box. field: in a backup. since: the schema with its column."""

    kind: str
    boxes: str
    put: str
    field: str
    form: Form
    since: int = 7


SEEDS = SealedPlace(
    "signing_key", "SELECT key_id, seed FROM signing_key", "UPDATE signing_key SET seed=? WHERE key_id=?", "seeds", _HEX
)
_SECRETS = "SELECT id, sealed FROM destination", "UPDATE destination SET sealed=? WHERE id=?"
SECRETS = SealedPlace("destination", *_SECRETS, "destinations", _JSON)
HELLOS = SealedPlace(
    "source",
    "SELECT k.id, s.sealed FROM source s JOIN source_key k ON k.key=s.key WHERE s.sealed IS NOT NULL",
    "UPDATE source SET sealed=? WHERE key=(SELECT key FROM source_key WHERE id=?)",
    "hellos",
    _TEXT,
)
COOKIES = SealedPlace(
    "cookies",
    "SELECT k.id, h.jar FROM source_hot h JOIN source_key k ON k.key=h.key WHERE h.jar IS NOT NULL",
    "UPDATE source_hot SET jar=? WHERE key=(SELECT key FROM source_key WHERE id=?)",
    "cookies",
    _TEXT,
    since=17,
)
_PRIVATE = (
    "SELECT id, private FROM destination WHERE private IS NOT NULL",
    "UPDATE destination SET private=? WHERE id=?",
)
PRIVATE = SealedPlace("private", *_PRIVATE, "private", _JSON, since=9)
_TOKENS = "SELECT id, sealed FROM publication WHERE sealed IS NOT NULL", "UPDATE publication SET sealed=? WHERE id=?"
ADDRESSES = SealedPlace("publication", *_TOKENS, "addresses", _TEXT, since=10)
_HUBS = "SELECT id, sealed FROM subscription WHERE sealed IS NOT NULL", "UPDATE subscription SET sealed=? WHERE id=?"
SUBSCRIPTIONS = SealedPlace("subscription", *_HUBS, "subscriptions", _TEXT, since=11)
_PUSH = "SELECT public, sealed FROM push_key", "UPDATE push_key SET sealed=? WHERE public=?"
PUSH = SealedPlace("push_key", *_PUSH, "push", _HEX, since=18)
_TOTP = "SELECT id, totp FROM person WHERE totp IS NOT NULL", "UPDATE person SET totp=? WHERE id=?"
TOTP = SealedPlace("totp", *_TOTP, "totp", _HEX, since=20)
PLACES = (SEEDS, SECRETS, HELLOS, PRIVATE, ADDRESSES, SUBSCRIPTIONS, COOKIES, PUSH, TOTP)
_DESTINATIONS = "SELECT id, body FROM destination"
_SOURCES = "SELECT k.id, s.body FROM source s JOIN source_key k ON k.key=s.key"
_PUT_DESTINATION = "UPDATE destination SET body=? WHERE id=?"
_KEEP = "INSERT INTO public_key(key_id, x, created_at) VALUES(?,?,?) ON CONFLICT DO NOTHING"
_PUT_SOURCE = "UPDATE source SET body=? WHERE key=(SELECT key FROM source_key WHERE id=?)"


def boxes(connection: Connection, place: SealedPlace) -> Sequence[tuple[str, bytes | None]]:
    return connection.execute(place.boxes).fetchall()


def opened(connection: Connection, vault: Vault, place: SealedPlace) -> Mapping[str, bytes]:
    return {name: vault.open(place.kind, name, box or b"") for name, box in boxes(connection, place)}


def examine_boxes(connection: Connection, vault: Vault, places: Iterable[SealedPlace] = PLACES) -> int:
    """Open every box once and return their number. Raises Unopened. About 15 microseconds each."""
    return sum(len(opened(connection, vault, place)) for place in places)


def seal_plain(connection: Connection, vault: Vault) -> None:
    """Seal secrets that programs before schema 7 left plain, inside the caller's transaction."""
    for id, seed, at in connection.execute("SELECT key_id, seed, created_at FROM signing_key").fetchall():
        if seed:  # a backup of that schema has none
            keep_public(connection, id, seed, at)
            connection.execute(SEEDS.put, (vault.seal(SEEDS.kind, id, seed), id))
    for id, body in connection.execute(_DESTINATIONS).fetchall():
        record = json.loads(body)
        if record.get("secrets"):
            secrets = encoded(record["secrets"])
            connection.execute(SECRETS.put, (vault.seal(SECRETS.kind, id, secrets), id))
            connection.execute(_PUT_DESTINATION, (encoded(record | {"secrets": []}), id))
    for id, body in connection.execute(_SOURCES).fetchall():
        record = json.loads(body)
        if record.get("hello") is not None:
            connection.execute(HELLOS.put, (vault.seal(HELLOS.kind, id, record["hello"].encode()), id))
            connection.execute(_PUT_SOURCE, (encoded(record | {"hello": None}), id))


def keep_public(connection: Connection, key_id: str, seed: bytes, created_at: int) -> None:
    """Store a signing key's public half unsealed, so that events can be verified even if the box is given up."""
    half = base64.urlsafe_b64encode(bytes(SigningKey(seed).verify_key)).decode().rstrip("=")
    connection.execute(_KEEP, (key_id, half, created_at))


def reseal(connection: Connection, old: Vault, new: Vault) -> int:
    """Seal everything with another key, inside the caller's transaction; return how many boxes. Raises Unopened."""
    count = 0
    for place in PLACES:
        for name, secret in opened(connection, old, place).items():
            connection.execute(place.put, (new.seal(place.kind, name, secret), name))
            count += 1
    mark(connection, new)
    return count


def give_up(connection: Connection, vault: Vault, fresh: Callable[[], str]) -> Lost:
    """Give up every secret that this key cannot open, inside the caller's transaction; return how many are lost.

    A destination gets a new unknown secret (`fresh`) or loses its private values, and is paused; so is a source whose
    sealed part is lost. A signing key leaves its public half, and the service makes a new one; it also makes a new key
    for push services. A publication stays at its address, which can no longer be shown, and loses its subscriptions.
    Other subscriptions with a lost secret are deleted: subscribers renew them when their lease ends. Renewed cookies
    are deleted.
    """
    keys = _unopened(connection, vault, SEEDS)
    connection.executemany("DELETE FROM signing_key WHERE key_id=?", [(id,) for id in keys])
    unsigned, unknown = _unopened(connection, vault, SECRETS), _unopened(connection, vault, PRIVATE)
    destinations = sorted({*unsigned, *unknown})
    bodies = dict(connection.execute(_DESTINATIONS).fetchall())
    for id in unsigned:
        connection.execute(SECRETS.put, (vault.seal(SECRETS.kind, id, encoded([{"value": fresh()}])), id))
    connection.executemany(PRIVATE.put, [(None, id) for id in unknown])
    for id in destinations:
        connection.execute(_PUT_DESTINATION, (encoded(_unknown_to_all(json.loads(bodies[id]))), id))
    sources = _unopened(connection, vault, HELLOS)
    bodies = dict(connection.execute(_SOURCES).fetchall())
    for id in sources:
        connection.execute(HELLOS.put, (None, id))
        connection.execute(_PUT_SOURCE, (encoded(json.loads(bodies[id]) | {"enabled": False}), id))
    for place, statement in (
        (COOKIES, "UPDATE source_hot SET jar=NULL WHERE key=(SELECT key FROM source_key WHERE id=?)"),
        (ADDRESSES, "DELETE FROM subscription WHERE publication=?"),
        (ADDRESSES, "UPDATE publication SET sealed=NULL WHERE id=?"),
        (SUBSCRIPTIONS, "DELETE FROM subscription WHERE id=?"),
        (PUSH, "DELETE FROM push_key WHERE public=?"),
    ):
        connection.executemany(statement, [(name,) for name in _unopened(connection, vault, place)])
    mark(connection, vault)
    return Lost(len(keys), len(destinations), len(sources))


def _unknown_to_all(destination: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a destination with a lost secret: paused, with its earlier state in `was_enabled`."""
    was = destination.get("was_enabled")
    asked = {"confirmed": False} if LINK in destination.get("private_names", ()) else {}
    return (
        destination
        | asked
        | {"enabled": False, "was_enabled": destination.get("enabled", True) if was is None else was}
    )


def _unopened(connection: Connection, vault: Vault, place: SealedPlace) -> Sequence[str]:
    return [name for name, box in boxes(connection, place) if not vault.opens(place.kind, name, box or b"")]
