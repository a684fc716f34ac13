"""The rules for passwords. Pure.

The most common passwords of 10 or more characters combine few common parts: a word or name, digits, a year, a keyboard
walk, a repetition. So no list of leaked passwords is needed: a password is split into the cheapest sequence of such
parts, and refused if it costs as little as the most common ones. Capitals, accents and the usual signs for letters are
folded first.
"""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import pairwise
from typing import Final
from unicodedata import combining, normalize

from actors.language.speaking import noted, say
from api.dashboard.forms import InvalidForm

WORDS: Final = frozenset(files("api.dashboard").joinpath("account", "common_words.txt").read_text("utf-8").split())
"""Common words in passwords, compiled by hand for this project: English, each language of the dashboard (without
accents), and the most common words of others.
"""
SHORTEST = 10
LONGEST = 1_024
FEWEST_KINDS = 5  # the fewest different characters
CHEAPEST = 10  # the lowest allowed total cost of the parts
READ = 40  # characters that are rated; a longer password has enough of them
_WORD, _WALK, _AGAIN, _YEAR, _DIGIT, _SIGN, _LETTER = 3, 2, 1, 2, 1, 1, 3
_ROWS = ("1234567890-=", "qwertyuiop[]", "asdfghjkl;'", "zxcvbnm,./")
_KEY: Final = {key: (row, place) for row, keys in enumerate(_ROWS) for place, key in enumerate(keys)}
_PLAIN_SIGN = str.maketrans('!"@#$%^&*()_+{}:<>?~', "1'23456789" + "0-=[];,./`")
_AS_LETTERS = (str.maketrans("@4301!$5789", "aaeoiissgtg"), str.maketrans("@4301!$57", "aaeolisst"))
_LONGEST_WORD: Final = max(map(len, WORDS))
_YEAR_FORM = re.compile("(?:19|20)[0-9]{2}")


def check_password(password: str, again: str) -> None:
    """Refuse a password that is easy to guess, or whose repetition differs. Raises InvalidForm."""
    short = noted("At least %(count)s characters. A sentence of four words or more is strong and easy to remember.")
    if len(password) < SHORTEST:
        raise InvalidForm(password=say(short, count=SHORTEST))
    if len(password) > LONGEST:
        raise InvalidForm(password=say("At most %(count)s characters.", count=LONGEST))
    if len(set(password)) < FEWEST_KINDS:
        raise InvalidForm(password=say("Too few different characters."))
    if is_common(password):
        says = say("Too easy to guess: common words, names, digits or neighbouring keys.")
        raise InvalidForm(password=f"{says} {say('Four or more unrelated words make a strong password.')}")
    if password != again:
        raise InvalidForm(again=say("The two passwords differ."))


def is_common(password: str) -> bool:
    """Return whether a password is among the first that an attacker tries.

    >>> [is_common(one) for one in ("1234567890", "qwertyuiop", "password12", "letmein123", "P@ssw0rd!2026")]
    [True, True, True, True, True]
    >>> is_common("gulls over the harbour wall")
    False
    """
    plain = "".join(sign for sign in normalize("NFKD", password.lower()) if not combining(sign))
    return cost_of(plain[:READ]) < CHEAPEST


def cost_of(text: str) -> int:
    best = [0] + [_LETTER * len(text)] * len(text)
    for end in range(1, len(text) + 1):
        costs = ((best[begin], _cost_of_part(text, begin, end)) for begin in range(end))
        best[end] = min(before + cost for before, cost in costs if cost is not None)
    return best[-1]


def _cost_of_part(text: str, begin: int, end: int) -> int | None:
    part, size = text[begin:end], end - begin
    if size == 1:
        if part == " ":  # spaces between words add nothing
            return 0
        return _DIGIT if part.isdigit() else _LETTER if part.isalpha() else _SIGN
    if text[max(0, begin - size) : begin] == part or len(set(part)) == 1:
        return _AGAIN
    if _YEAR_FORM.fullmatch(part):
        return _YEAR
    if size >= 3 and (_is_walk(part) or _is_row(part)):
        return _WALK
    return _WORD if size <= _LONGEST_WORD and _is_word(part) else None


def _is_word(part: str) -> bool:
    readings = (part, *(part.translate(table) for table in _AS_LETTERS))
    return any(word in WORDS or (len(word) > 3 and word[::-1] in WORDS) for word in readings)


def _is_walk(part: str) -> bool:
    """Return whether each key is next to the previous one: qwerty, 1qaz, zaq1, 1q2w3e."""
    places = [_KEY.get(sign) for sign in part.translate(_PLAIN_SIGN)]
    return all(a and b and abs(a[0] - b[0]) <= 1 and -1 <= b[1] - a[1] <= 1 for a, b in pairwise(places))


def _is_row(part: str) -> bool:
    """Return whether the codes rise or fall by one or two: abcdef, 97531."""
    steps = {ord(b) - ord(a) for a, b in pairwise(part)}
    return len(steps) == 1 and abs(steps.pop()) in (1, 2) and part.isalnum()
