"""The interpretation of a messenger's responses: each has its own way to say "slow down" or "token revoked". Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from actors.destination_kinds.answer import Answer, escaped
from actors.destination_kinds.messengers.messenger import AnswerRule, Messenger
from actors.egress.posted import PostResult

_SHOWN = 200
"""Characters of a response in an error."""
_ABSENT: Any = object()


def answer_of(messenger: Messenger, posted: PostResult) -> Answer:
    """Return the answer, by the messenger's first matching rule, else by status."""
    said, tree = escaped(posted.body), _tree(posted.body)
    rule = next((rule for rule in messenger.answers if _fits(rule, posted, tree)), None)
    wait = posted.retry_after
    if rule is not None and rule.wait:
        wait = _seconds(rule, tree) or wait
    verdict = None if rule is None else rule.verdict
    if verdict == "delivered" and posted.status // 100 != 2:
        verdict = None  # a success claimed in a redirect or an error is not believed
    answer = Answer(posted.status, posted.latency_ms, retry_after=wait, said=said, verdict=verdict)
    return answer if answer.delivered else answer._replace(error=_error(messenger, rule, posted.status, tree, said))


def _error(messenger: Messenger, rule: AnswerRule | None, status: int, tree: Any, said: str) -> str:
    words = _at(tree, rule.says) if rule is not None and rule.says else _ABSENT
    told = escaped(words.encode()) if isinstance(words, str) else said
    what = {
        "revoked": f"{messenger.label} says that this address or its token is no longer valid",
        "refused": f"{messenger.label} does not take this message",
        "slow": f"{messenger.label} asks for fewer messages",
    }.get(rule.verdict if rule is not None else "", "")
    return ": ".join(filter(None, (what, f"HTTP {status} {told[:_SHOWN]}".rstrip())))


def _fits(rule: AnswerRule, posted: PostResult, tree: Any) -> bool:
    if rule.status and posted.status not in rule.status:
        return False
    if rule.contains and rule.contains.encode() not in posted.body:
        return False
    if not rule.path:
        return True
    found = _at(tree, rule.path)
    # 1 is not True here: a service that returns 1 means a number.
    return found is not _ABSENT and (not rule.values or any(type(found) is type(v) and found == v for v in rule.values))


def _seconds(rule: AnswerRule, tree: Any) -> float | None:
    found = _at(tree, rule.wait)
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        return None
    return found / 1000 if rule.wait_unit == "ms" else float(found)


def _tree(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _ABSENT


def _at(tree: Any, path: str) -> Any:
    """Return the value at a path of names and numbers, `_ABSENT` without one."""
    for step in path.split("."):
        if isinstance(tree, dict):
            tree = tree.get(step, _ABSENT)
        elif isinstance(tree, list) and step.isdigit() and len(step) < 4:
            tree = tree[int(step)] if int(step) < len(tree) else _ABSENT
        else:
            return _ABSENT
    return tree
