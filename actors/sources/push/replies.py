"""A user's replies to a server's pings: rules `pattern -> text`. Pure.

A `*` in the pattern matches any characters, and a `*` in the text repeats them: `{"ping":*} -> {"pong":*}`. White
space around JSON's punctuation is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

ARROW: Final = " -> "
_LONGEST: Final = 1_000
"""Longest ping, in characters."""
_SIGNS = re.compile(r"\s*([{}\[\]:,])\s*")


@lru_cache(maxsize=256)
def _rule(rule: str) -> tuple[re.Pattern[str], str]:
    pattern, _, text = rule.partition(ARROW)
    before, star, after = _SIGNS.sub(r"\1", pattern.strip()).partition("*")
    return re.compile(re.escape(before) + (f"(.+){re.escape(after)}" if star else "()"), re.DOTALL), text.strip()


def is_rule(rule: str) -> bool:
    """Return whether a rule is valid.

    >>> is_rule('{"ping":*} -> {"pong":*}'), is_rule("2 -> 3"), is_rule("2"), is_rule("*-* -> x")
    (True, True, False, False)
    """
    pattern, arrow, text = rule.partition(ARROW)
    return bool(pattern.strip() and arrow and text.strip()) and pattern.count("*") <= 1


def reply_to(message: str, rules: Sequence[str]) -> str | None:
    """Return the reply to a message; None if no rule matches.

    >>> reply_to('{"ping": 17}', ("2 -> 3", '{"ping":*} -> {"pong":*}'))
    '{"pong":17}'
    """
    if not rules or len(message) > _LONGEST:
        return None
    said = _SIGNS.sub(r"\1", message.strip())
    for rule in rules:
        pattern, text = _rule(rule)
        if found := pattern.fullmatch(said):
            return text.replace("*", found[1])
    return None
