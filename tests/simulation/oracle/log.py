"""The promises of the log."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from tests.simulation.clients import position
from tests.simulation.facts import Facts
from tests.simulation.program import ALERT_WORD


def twice(facts: Facts) -> Iterator[str]:
    """No frame is reported twice."""
    for plan in facts.program.origins:
        times = Counter(logged.event["url"] for logged in facts.of(plan)) if plan.tier == "push" else Counter[str]()
        yield from (f"{url} is in the log {count} times" for url, count in times.items() if count > 1)


def admitted(facts: Facts) -> Iterator[str]:
    """No unwanted frame is reported."""
    for plan in facts.program.origins:
        for logged in facts.of(plan) if plan.tier == "push" else ():
            content = logged.event["content"].lower()
            if not any(word in content for word in (ALERT_WORD, *(alert.word for alert in facts.program.alerts))):
                yield f"{logged.event['url']} matches no alert"


def buried(facts: Facts) -> Iterator[str]:
    """A deleted source reports nothing more."""
    gone = {deleted.id: deleted.head for deleted in facts.deleted}
    for logged in facts.log:
        if logged.seq > gone.get(logged.event["source_id"], logged.seq):
            yield f"{logged.event['id']} is of a source that was deleted"


def order(facts: Facts) -> Iterator[str]:
    """Ids increase in commit order, and name their position."""
    for before, after in zip(facts.log, facts.log[1:], strict=False):
        if after.seq <= before.seq or after.event["id"] <= before.event["id"]:
            yield f"{after.event['id']} comes after {before.event['id']}"
    for logged in facts.log:
        if position(logged.event["id"]) != logged.seq:
            yield f"{logged.event['id']} does not name its position {logged.seq}"


def signed(facts: Facts) -> Iterator[str]:
    """Every event verifies with a published key."""
    if facts.jwks is None:
        yield "no key set was given"
        return
    keys = {key["kid"]: VerifyKey(_unbase(key["x"])) for key in facts.jwks["keys"]}
    for logged in facts.log:
        fault = _signature_fault(dict(logged.event), keys)
        if fault:
            yield f"{logged.event['id']}: {fault}"


def _signature_fault(event: dict[str, Any], keys: dict[str, VerifyKey]) -> str:
    signature = event.pop("signature", "")
    key = keys.get(event.get("key_id", ""))
    if key is None:
        return "signed with a key that is not published"
    # Without floats and with ASCII names, sorted compact JSON is the RFC 8785 form.
    canonical = json.dumps(event, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    try:
        key.verify(canonical, _unbase(signature))
    except (BadSignatureError, ValueError):
        return "the signature is wrong"
    return ""


def _unbase(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
