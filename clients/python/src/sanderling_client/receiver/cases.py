"""The cases of `probe`: how a receiver should respond to each, and how much it matters.

Pure except for the clock and randomness of a `Forge`. Every body is signed like a live one; a case's fault is added
afterwards.
"""

from __future__ import annotations

import json
import random
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from typing import Any
from uuid import UUID

from nacl.signing import SigningKey

from sanderling_client.receiver.capture import rfc3339
from sanderling_client.verify import base64url, canonical, signed_bytes, token_of

SLOW = 6.0
"""Seconds to send a slow body."""
ASTRAY = 360
"""Seconds that a wrong timestamp is off: one minute beyond the limit."""
BASE = "https://sanderling.invalid"
MOST_CONTENT = 64 << 10
"""The most bytes of content that an event has."""
_CONTENT = "This is a test delivery. It has the shape and both signatures of a live one; its event is in no stream."


class Should(Enum):
    """The expected response."""

    ACCEPT = "accept"
    REFUSE = "refuse"
    EITHER = "either"


class Weight(Enum):
    """How bad a fault is. vital: forgeries pass, or nothing does. major: deliveries get lost or repeat. minor: else."""

    VITAL = "vital"
    MAJOR = "major"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Posting:
    """One request to send. seconds: spread the body over this time."""

    headers: Mapping[str, str]
    body: bytes
    seconds: float = 0.0


Make = Callable[["Forge"], Sequence[Posting]]


@dataclass(frozen=True, slots=True)
class Case:
    """make: builds the requests when they are sent. together: send them concurrently."""

    name: str
    should: Should
    weight: Weight
    make: Make
    fault: str
    """The consequence of the wrong response."""
    together: bool = False


class Signer:
    """Signs events as a service does, with the Ed25519 key of 32 secret bytes."""

    def __init__(self, seed: bytes) -> None:
        self._key = SigningKey(seed)
        public = {"crv": "Ed25519", "kty": "OKP", "x": base64url(bytes(self._key.verify_key))}
        self.key_id = base64url(sha256(canonical(public)).digest())

    def sign(self, event: Mapping[str, Any], now: int) -> bytes:
        """Return an event's wire form. now: in ms."""
        signed = {**event, "signed_at": rfc3339(now), "key_id": self.key_id}
        return compact({**signed, "signature": base64url(self._key.sign(canonical(signed)).signature)})


class Forge:
    """Makes signed deliveries and corrupts them. now: in ms since 1970."""

    def __init__(self, secret: str, signer: Signer, now: Callable[[], int], chance: random.Random) -> None:
        self._secret, self._signer, self._now, self._chance = secret, signer, now, chance
        self._last = 0

    def _mint(self) -> str:
        """Return a UUIDv7 that is greater than all before: its 12 bits after the time count."""
        self._last = max(self._last + 1, self._now() << 12)
        time, count = divmod(self._last, 1 << 12)
        return str(UUID(int=time << 80 | 7 << 76 | count << 64 | 2 << 62 | self._chance.getrandbits(62)))

    def event(self, **changes: Any) -> tuple[str, bytes]:
        """Return the id of a new event, greater than all before, and its signed wire form."""
        now, id = self._now(), self._mint()
        event = {
            "$schema": f"{BASE}/schemas/stream-event/1.json",
            "id": id,
            "source_id": str(UUID(int=self._chance.getrandbits(128), version=4)),
            "source_type": "html",
            "source_url": BASE,
            "url": BASE,
            "title": "Test delivery",
            "summary": "Test delivery",
            "author": "",
            "content": _CONTENT,
            "content_hash": "sha256:" + sha256(_CONTENT.encode()).hexdigest(),
            "simhash": 0,
            "tags": ["kind:test"],
            "published_at": None,
            "fetched_at": rfc3339(now),
            "emitted_at": rfc3339(now),
            "schema_version": 1,
        }
        return id, self._signer.sign(event | changes, now)

    def good(self, *, seconds: float = 0.0, **changes: Any) -> Posting:
        """Return a correct delivery."""
        id, body = self.event(**changes)
        return Posting(self.headers(id, body), body, seconds)

    def headers(self, id: str, body: bytes, *, off: int = 0, secrets: Sequence[str] | None = None) -> dict[str, str]:
        """Return headers that sign a body; the timestamp is `off` seconds from now."""
        at = self._now() // 1000 + off
        signed = signed_bytes(id, at, body)
        tokens = [token_of(secret, signed) for secret in ([self._secret] if secrets is None else secrets)]
        return {"webhook-id": id, "webhook-timestamp": str(at), "webhook-signature": " ".join(tokens)}

    def stranger(self) -> str:
        """Return a secret unknown to the receiver."""
        return "whsec_" + b64encode(self._chance.randbytes(32)).decode()

    def altered(self, name: str, change: Callable[[str], str | None]) -> Posting:
        """Return a delivery with one header changed after signing; None removes it."""
        posting = self.good()
        headers = {**posting.headers, name: change(posting.headers[name])}
        return Posting({key: value for key, value in headers.items() if value is not None}, posting.body)

    def signed_by(self, secrets: Callable[[str], Sequence[str]]) -> Posting:
        """Return a delivery signed with secrets chosen from the receiver's own."""
        id, body = self.event()
        return Posting(self.headers(id, body, secrets=secrets(self._secret)), body)

    def off_by(self, seconds: int) -> Posting:
        """Return a correctly signed delivery with another time."""
        id, body = self.event()
        return Posting(self.headers(id, body, off=seconds), body)

    def spoilt(self, spoil: Callable[[bytes], bytes]) -> Posting:
        """Return a delivery with its body changed after signing."""
        posting = self.good()
        return Posting(posting.headers, spoil(posting.body))

    def digest(self) -> Posting:
        """Return a digest of three events."""
        now, id = self._now(), self._mint()
        frame = {
            "id": id,
            "destination_id": id,
            "alert_id": id,
            "delivery_mode": "15min",
            "window_start": rfc3339(now - 900_000),
            "window_end": rfc3339(now),
            "count": 3,
            "events": [json.loads(self.event()[1]) for _ in range(3)],
        }
        body = compact(frame)
        return Posting(self.headers(id, body), body)

    def later(self) -> Posting:
        """Return a delivery with a field and a kind of notice that no receiver knows yet."""
        id, body = self.event(in_a_later_version="?", alert_type="source_renamed")
        return Posting(self.headers(id, body), body)

    def forged_inside(self) -> Posting:
        """Return a delivery with a valid request signature and an invalid event signature."""
        id, body = self.event()
        body = flipped(body)
        return Posting(self.headers(id, body), body)


def compact(value: Mapping[str, Any]) -> bytes:
    """Encode JSON as the service does."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def flipped(body: bytes) -> bytes:
    """Flip one bit in the middle of the content."""
    place = body.index(b"test delivery. It") + 3
    return body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]


def rewritten(body: bytes) -> bytes:
    """Serialize the same JSON differently."""
    return json.dumps(json.loads(body)).encode()


def _twice(forge: Forge) -> Sequence[Posting]:
    return [forge.good()] * 2


def _reversed(forge: Forge) -> Sequence[Posting]:
    older, newer = forge.good(), forge.good()
    return [newer, older]


def _rotated(forge: Forge) -> Sequence[Posting]:
    other = forge.stranger()
    return [forge.signed_by(lambda ours: [other, ours]), forge.signed_by(lambda ours: [ours, other])]


def _other_time(forge: Forge) -> Sequence[Posting]:
    return [
        forge.altered("webhook-timestamp", lambda at: str(int(at) - 30)),
        forge.altered("webhook-timestamp", lambda _at: "soon"),
    ]


def _unsigned(forge: Forge) -> Sequence[Posting]:
    return [
        forge.altered("webhook-signature", lambda _tokens: None),
        forge.altered("webhook-signature", lambda _tokens: "v1,"),
        forge.altered("webhook-signature", lambda _tokens: "v1"),
    ]


def _unbound(forge: Forge) -> Sequence[Posting]:
    return [forge.altered(name, lambda _value: None) for name in ("webhook-id", "webhook-timestamp")]


def _accepts(weight: Weight, name: str, make: Make, fault: str, *, together: bool = False) -> Case:
    return Case(name, Should.ACCEPT, weight, make, fault, together)


def _refuses(weight: Weight, name: str, make: Make, fault: str) -> Case:
    return Case(name, Should.REFUSE, weight, make, fault)


TEXT = 'Zwölf Boxkämpfer, \u2028 日本語, \U0001f426, a tab\t and a \\ and a " and U+007F \x7f. '
LARGE = ("Sanderlings run along the tide line. " * (MOST_CONTENT // 37 + 1))[:MOST_CONTENT]
_VITAL, _MAJOR, _MINOR = Weight

CASES = (
    _accepts(_VITAL, "good", lambda f: [f.good()], "a good delivery is refused: wrong --secret, or is --data needed?"),
    _accepts(_MAJOR, "the same again", _twice, "a repeated delivery is refused, and will be repeated on"),
    _accepts(_MAJOR, "newer before older", _reversed, "a late delivery is refused, and will be repeated"),
    _accepts(_MAJOR, "four at once", lambda f: [f.good() for _ in range(4)], "four at once are refused", together=True),
    _accepts(_MAJOR, "64 KiB of content", lambda f: [f.good(content=LARGE)], "long contents are refused"),
    _accepts(_MAJOR, "all of Unicode", lambda f: [f.good(content=TEXT, title=TEXT)], "odd characters break it"),
    _accepts(_MAJOR, "two signatures", _rotated, "a rotation of the secret will lose deliveries"),
    _accepts(
        _MAJOR,
        "other schemes beside",
        lambda f: [f.altered("webhook-signature", lambda tokens: f"v1a,AAAA v2,x {tokens}")],
        "a new signature scheme will lose deliveries",
    ),
    _accepts(_MINOR, "a digest", lambda f: [f.digest()], "digests are refused"),
    _accepts(_MINOR, "a later version", lambda f: [f.later()], "a new field or kind of notice will break it"),
    _accepts(_MINOR, "slowly sent", lambda f: [f.good(seconds=SLOW)], "a slow sender is refused"),
    _refuses(_VITAL, "flipped bit", lambda f: [f.spoilt(flipped)], "a forged body passes"),
    _refuses(_VITAL, "cut body", lambda f: [f.spoilt(lambda body: body[:-1])], "a cut body passes"),
    _refuses(
        _VITAL,
        "another id",
        lambda f: [f.altered("webhook-id", lambda _id: f.event()[0])],
        "an id that was not signed passes",
    ),
    _refuses(_VITAL, "another timestamp", _other_time, "a timestamp that was not signed passes"),
    _refuses(_VITAL, "another secret", lambda f: [f.signed_by(lambda _: [f.stranger()])], "anybody's deliveries pass"),
    _refuses(_VITAL, "no signature", _unsigned, "unsigned deliveries pass"),
    _refuses(_VITAL, "no id, no timestamp", _unbound, "deliveries without an id or a timestamp pass"),
    _refuses(_MAJOR, "6 minutes old", lambda f: [f.off_by(-ASTRAY)], "what was seen once can be sent again for ever"),
    _refuses(_MAJOR, "6 minutes ahead", lambda f: [f.off_by(ASTRAY)], "timestamps in the future pass"),
    _refuses(_MAJOR, "re-serialised", lambda f: [f.spoilt(rewritten)], "it verifies other bytes than those that came"),
    Case("forged inside", Should.EITHER, _MINOR, lambda f: [f.forged_inside()], ""),
)
"""In sending order. The last one only shows whether the receiver checks the event's own signature."""
