"""The two signatures of a delivery: Ed25519 inside the event, HMAC around the request that carries it; and those of
checks.

All of it is pure: bytes and records in, bytes out; it may import only `storage.records` and the checks of the Python
client (`sanderling_client.verify`, `receiver/receipt.py`). The recorder signs events, deliveries sign requests; bins
and receivers verify both.

The signature inside an event is Ed25519 (RFC 8032) over the RFC 8785 form of all its other fields. It belongs to the
content, not to the transport: it stays valid in a stream, a delivery, a digest and an export, and after any
re-serialisation of the JSON. Keys are published as a JWK Set (RFC 7517, RFC 8037); a key's id is its thumbprint (RFC
7638). Other kinds of documents, such as coverage receipts, are signed with the same keys. Their signed form begins with
a context, which names the kind and is not JSON, so a signature of one kind is never valid for another. Signed documents
have ASCII names, no floats and only integers within 2^53. For them sorted compact JSON is the RFC 8785 form (a property
test compares it with an independent implementation).

The signature around a delivery is Standard Webhooks: HMAC-SHA256 over the raw bytes of `id.timestamp.body`.

Checks sign their HTTP messages (RFC 9421) by Web Bot Auth (draft-ietf-webbotauth-httpsig-protocol): a request names the
origin that publishes its keys, so a site need not trust an address. These keys are derived from those of events, since
one key should have one use: they rotate with them and need no storage.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import blake2b, sha256
from typing import Any, Final, Literal, NamedTuple

import msgspec
import nacl.signing
from msgspec import UNSET, Struct, UnsetType, json
from nacl.bindings import crypto_sign, crypto_sign_BYTES, crypto_sign_seed_keypair

from sanderling_client.receiver.receipt import WHYS
from sanderling_client.verify import base64url, contexts_of, signed_bytes, token_of, unbase64url
from sanderling_client.verify import canonical as canonical_json
from storage.records.access import PublicKey, SigningKey
from storage.records.checks import Verdict
from storage.records.coverage import Coverage, Why
from storage.records.destination import Secret
from storage.records.event import Event
from storage.records.identity import Millis, rfc3339
from storage.records.message import Message, joined, message

MOST_BYTES: Final = 2_048
MOST_URL: Final = 256  # maximum bytes of an address in a receipt
MOST_WHYS: Final = 2  # maximum reasons in the sentence; each unknown period has its own


class UnknownTime(Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """A period without records, and why."""

    start: str
    end: str
    why: Why


class LongestGap(Struct, frozen=True, rename={"start": "from", "end": "to"}):
    """The longest known time without an answered check; an hour at the edge of a known period may lengthen it."""

    start: str
    end: str
    seconds: int


class CoverageReceipt(Struct, frozen=True, kw_only=True, rename={"start": "from", "end": "to"}):
    """The known checks of one source in a period."""

    type: Literal["coverage"] = "coverage"
    source_id: str
    url: str | UnsetType = UNSET
    url_sha256: str | UnsetType = UNSET
    start: str
    end: str
    says: str
    looks: int
    answered: int
    outcomes: Mapping[str, int]
    versions: int
    first_answered_at: str | None
    last_answered_at: str | None
    longest_gap: LongestGap | None
    unknown_seconds: int
    unknown: Sequence[UnknownTime]
    not_running_seconds: int
    first_event_id: str | None
    last_event_id: str | None
    events_since: str | None
    signed_at: str | UnsetType = UNSET
    key_id: str | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class LoggedEvents(NamedTuple):
    """The source's events in the period: the ids of the first and last. since: the log has none before this time."""

    first: str | None
    last: str | None
    since: Millis | None


def receipt_of(source: str, url: str, coverage: Coverage, logged: LoggedEvents) -> CoverageReceipt:
    gap = coverage.gap
    is_short = len(json.encode(url)) <= MOST_URL
    return CoverageReceipt(
        source_id=source,
        url=url if is_short else UNSET,
        url_sha256=UNSET if is_short else sha256(url.encode("utf-8", "replace")).hexdigest(),
        start=rfc3339(coverage.start),
        end=rfc3339(coverage.end),
        says=str(summarise(coverage)),
        looks=sum(coverage.looks),
        answered=coverage.answered,
        outcomes={verdict.name.lower(): coverage.looks[verdict] for verdict in Verdict},
        versions=coverage.bodies,
        first_answered_at=_moment(coverage.first),
        last_answered_at=_moment(coverage.last),
        longest_gap=None if gap is None else LongestGap(rfc3339(gap.start), rfc3339(gap.end), gap.seconds),
        unknown_seconds=-(-coverage.unknown_ms // 1000),
        unknown=[UnknownTime(rfc3339(span.start), rfc3339(span.end), span.why) for span in coverage.unknown],
        not_running_seconds=coverage.resting // 1000,
        first_event_id=logged.first,
        last_event_id=logged.last,
        events_since=_moment(logged.since),
    )


def summarise(coverage: Coverage) -> Message:
    if coverage.unknown_ms >= coverage.end - coverage.start:
        return message("Nothing is known of this time: %(reason)s.", reason=WHYS[coverage.unknown[0].why])
    looks = _check_counts(coverage.answered, sum(coverage.looks) - coverage.answered)
    if coverage.gap is not None:
        looks = message("%(rest)s, the longest pause was %(span)s", rest=looks, span=span_of(coverage.gap.seconds))
    if not coverage.unknown:
        return message("%(what)s; nothing is unknown.", what=looks)
    times, span = len(coverage.unknown), span_of(-(-coverage.unknown_ms // 1000))
    why = joined(list(dict.fromkeys(WHYS[span.why] for span in coverage.unknown))[:MOST_WHYS], "; ")
    if times == 1:
        says = "%(what)s; one time is unknown, %(span)s in all (%(reason)s)."
        return message(says, what=looks, span=span, reason=why)
    says = "%(what)s; %(times)s times are unknown, %(span)s in all (%(reason)s)."
    return message(says, what=looks, times=times, span=span, reason=why)


def _check_counts(answered: int, failed: int) -> Message:
    successes, failures = f"{answered:,}", f"{failed:,}"
    if not failed:
        return message("1 check succeeded") if answered == 1 else message("%(count)s checks succeeded", count=successes)
    if answered == 1:
        return message("1 check succeeded, %(bad)s failed", bad=failures)
    return message("%(count)s checks succeeded, %(bad)s failed", count=successes, bad=failures)


def span_of(seconds: int) -> Message:
    """Format a duration in at most two units, rounded up to the smaller one.

    >>> [str(span_of(seconds)) for seconds in (0, 59, 720, 5_401, 90_000, 86_400 * 12 + 1)]
    ['0 s', '59 s', '12 min', '1 h 31 min', '1 d 1 h', '12 d 1 h']
    """
    if seconds < 60:
        return message("%(count)s s", count=seconds)
    minutes = -(-seconds // 60)
    if minutes < 60:
        return message("%(count)s min", count=minutes)
    hours, rest = divmod(minutes, 60)
    if hours < 24:
        both = message("%(hours)s h %(minutes)s min", hours=hours, minutes=rest)
        return both if rest else message("%(count)s h", count=hours)
    days, hours = divmod(-(-minutes // 60), 24)
    return message("%(days)s d %(hours)s h", days=days, hours=hours) if hours else message("%(count)s d", count=days)


def _moment(at: Millis | None) -> str | None:
    return None if at is None else rfc3339(at)


_ENCODER, _SORTED = msgspec.json.Encoder(), msgspec.json.Encoder(order="sorted")


def canonical(event: Event) -> bytes:
    """Return the RFC 8785 form of an event without its `signature`. Raises UnicodeEncodeError on lone surrogates."""
    if event.signature is not msgspec.UNSET:
        event = msgspec.structs.replace(event, signature=msgspec.UNSET)
    return _SORTED.encode(event)


class Signer:
    """Signs events with one key. It has no other state, so any thread may use it."""

    def __init__(self, key: SigningKey) -> None:
        self.key_id = key.key_id
        _, self._key = crypto_sign_seed_keypair(key.seed)

    def _signature(self, signed: bytes) -> str:
        return base64url(crypto_sign(signed, self._key)[:crypto_sign_BYTES])  # without PyNaCl's copies of the message

    def sign(self, event: Event, at: Millis) -> bytes:
        """Return the signed wire JSON of an event, in the order of `Event`. Lone surrogates become U+FFFD."""
        event = msgspec.structs.replace(event, signed_at=rfc3339(at), key_id=self.key_id, signature=msgspec.UNSET)
        try:
            signed = canonical(event)
        except UnicodeEncodeError:
            event = _without_surrogates(event)
            signed = canonical(event)
        signature = self._signature(signed)
        return _ENCODER.encode(msgspec.structs.replace(event, signature=signature))

    def sign_document(self, document: Mapping[str, Any], at: Millis) -> bytes:
        """Sign a JSON object; members keep their order. Raises ValueError for no I-JSON, KeyError without `type`."""
        signed = {**document, "signed_at": rfc3339(at), "key_id": self.key_id}
        context = contexts_of(document["type"])[0]
        signature = self._signature(context + canonical_json(signed))
        return _ENCODER.encode({**signed, "signature": signature})


def new_signing_key(seed: bytes, at: Millis) -> SigningKey:
    """Return the key pair of 32 secret bytes, named by its thumbprint. Raises ValueError for another length."""
    if len(seed) != nacl.bindings.crypto_sign_SEEDBYTES:
        raise ValueError(f"a seed has 32 bytes, not {len(seed)}")
    return SigningKey(key_id=_thumbprint(_public(seed)), seed=seed, created_at=at)


def public_half(key: SigningKey) -> PublicKey:
    return PublicKey(key.key_id, _public(key.seed), key.created_at)


def check_public(key: PublicKey) -> None:
    """Raise ValueError unless a key has 32 bytes and its own thumbprint as id."""
    if len(unbase64url(key.x)) != nacl.bindings.crypto_sign_PUBLICKEYBYTES or _thumbprint(key.x) != key.key_id:
        raise ValueError(f"{key.key_id[:60]!r} is not the thumbprint of its Ed25519 key")


def jwks(keys: Sequence[SigningKey], others: Sequence[PublicKey] = ()) -> bytes:
    """Encode public halves as a JWK Set, retired ones too: old events stay verifiable. others: of other instances."""
    published = [
        {"kty": "OKP", "crv": "Ed25519", "x": key.x, "kid": key.key_id, "alg": "EdDSA", "use": "sig"}
        for key in {each.key_id: each for each in (*map(public_half, keys), *others)}.values()
    ]
    return _ENCODER.encode({"keys": published})


def _without_surrogates(event: Event) -> Event:
    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if isinstance(value, dict):
            return {name: clean(item) for name, item in value.items()}
        return [clean(item) for item in value] if isinstance(value, list | tuple) else value

    return msgspec.convert(clean(msgspec.to_builtins(event)), Event)


def _public(seed: bytes) -> str:
    return base64url(bytes(nacl.signing.SigningKey(seed).verify_key))


def _thumbprint(x: str) -> str:
    """Return the RFC 7638 thumbprint of an OKP key: only the required members, in the order of RFC 8037 (2)."""
    return base64url(sha256(canonical_json({"crv": "Ed25519", "kty": "OKP", "x": x})).digest())


LIFE: Final = 300  # validity of a request's signature in seconds: allows for wrong clocks and slow connections
DIRECTORY_LIFE: Final = 7 * 86_400  # validity of the directory's proof in seconds; a list may use a copy for as long
_LABEL, _PERSON = "sig1", b"looks of rfc9421"


class MessageSigner:
    """Signs messages with the key derived from one of events."""

    def __init__(self, key: SigningKey) -> None:
        seed = blake2b(key.seed, digest_size=32, person=_PERSON).digest()
        self.key = new_signing_key(seed, key.created_at)
        self._key = nacl.signing.SigningKey(seed)

    def sign_request(self, method: str, authority: str, path: str, agent: str, at: int) -> list[tuple[str, str]]:
        """Return the headers that sign a request. agent: the origin that publishes the keys. at: seconds since 1970."""
        agent_component = f'"signature-agent";key="{_LABEL}"'
        components = [("@authority", authority), ("@method", method), ("@path", path or "/")]
        lines = [*((f'"{name}"', value) for name, value in components), (agent_component, f'"{agent}"')]
        return [("Signature-Agent", f'{_LABEL}="{agent}"'), *self._signed(lines, at, at + LIFE, "web-bot-auth")]

    def sign_directory(self, authority: str, digest: str, at: int) -> list[tuple[str, str]]:
        """Return the headers that sign a directory: this key's holder publishes it at this authority."""
        lines = [('"@authority";req', authority), ('"content-digest"', digest)]
        return self._signed(lines, at, at + DIRECTORY_LIFE, "http-message-signatures-directory")

    def _signed(self, lines: Sequence[tuple[str, str]], created: int, expires: int, tag: str) -> list[tuple[str, str]]:
        names = " ".join(name for name, _ in lines)
        params = f'({names});created={created};expires={expires};keyid="{self.key.key_id}";alg="ed25519";tag="{tag}"'
        base = "\n".join(f"{name}: {value}" for name, value in [*lines, ('"@signature-params"', params)])
        signature = b64encode(self._key.sign(base.encode()).signature).decode()
        return [("Signature-Input", f"{_LABEL}={params}"), ("Signature", f"{_LABEL}=:{signature}:")]


def key_directory(signers: Sequence[MessageSigner]) -> bytes:
    """Encode the public halves as a directory, a JWK Set, with retired keys for requests in flight."""
    keys = [
        {"kty": "OKP", "crv": "Ed25519", "x": key.x, "kid": key.key_id, "use": "sig", "nbf": key.created_at // 1000}
        for key in (public_half(signer.key) for signer in signers)
    ]
    return msgspec.json.encode({"keys": keys})


def content_digest(body: bytes) -> str:
    """Return the value of Content-Digest (RFC 9530)."""
    return f"sha-256=:{b64encode(sha256(body).digest()).decode()}:"


PREFIX = "whsec_"
MOST_LIVE = 5


def new_secret(entropy: bytes) -> str:
    """Return a signing secret of 24 to 64 unguessable bytes (the bounds of Standard Webhooks)."""
    if not 24 <= len(entropy) <= 64:
        raise ValueError(f"a secret is made of 24 to 64 bytes, not {len(entropy)}")
    return PREFIX + b64encode(entropy).decode()


def is_secret(text: str) -> bool:
    """Whether a text is a secret in the form of `new_secret`.

    >>> is_secret(new_secret(bytes(range(32)))), is_secret("whsec_c2hvcnQ="), is_secret("hunter2")
    (True, False, False)
    """
    try:
        entropy = b64decode(text.removeprefix(PREFIX), validate=True)
    except ValueError:
        return False
    return text.startswith(PREFIX) and 24 <= len(entropy) <= 64


def live_secrets(secrets: Sequence[Secret], at: Millis) -> tuple[str, ...]:
    """Return the secrets that sign at a moment, newest first: the current one and those in their overlap."""
    return tuple(secret.value for secret in secrets if secret.until is None or at < secret.until)[:MOST_LIVE]


def sign_webhook(secrets: Sequence[str], webhook_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`: one token per secret, so that a receiver may hold any of them."""
    signed = signed_bytes(webhook_id, timestamp, body)
    return " ".join(token_of(secret, signed) for secret in secrets)
