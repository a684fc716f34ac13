"""Refusals for people, with the text to type instead. Pure.

The API's problem documents keep rules, locations and types, for programs. `refusal_words.toml` has the sentences.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

from msgspec import toml

_TABLES = toml.decode(files("api").joinpath("refusal_words.toml").read_bytes(), type=dict[str, dict[str, str]])
RULES: Final = _TABLES["rules"]
"""The sentence for each rule. Other rules show their detail."""
_ELSEWHERE: Final = ("redirects ", "leads to ")
"""Prefixes of details about an address that no user typed."""
_RULE = re.compile(r" \(rule: ([a-z0-9-]+)\)$")
_OPENS = re.compile(r"^(.*) is not public; SANDERLING_ALLOW_NETWORKS=(\S+) would open it$", re.S)
_FIELDS: Final = [(re.compile(pattern), words) for pattern, words in _TABLES["fields"].items()]


def in_words(detail: str) -> str:
    """Return a problem's detail as a sentence for a person, without the name of its rule.

    >>> in_words("a URL has no backslash; write %5C or a slash (rule: url-backslash)")
    'An address has no backslash. Type / in its place.'
    >>> in_words("10.0.0.1 is not public; SANDERLING_ALLOW_NETWORKS=10.0.0.1/32 would open it (rule: address-private)")
    '10.0.0.1 is not a public address. To reach it, start the service with --allow-networks 10.0.0.1/32.'
    >>> in_words("it can't be watched now: answered 404")
    "It can't be watched now: answered 404."
    """
    rule = _RULE.search(detail)
    if rule is not None and rule[1] in RULES and not detail.startswith(_ELSEWHERE):
        return RULES[rule[1]]
    text = _RULE.sub("", detail)
    if closed := _OPENS.match(text):
        return f"{closed[1]} is not a public address. To reach it, start the service with --allow-networks {closed[2]}."
    return sentence(text)


def sentence(text: str) -> str:
    """Return text with a capital and a full stop. A leading address or name keeps its spelling.

    >>> sentence("at most 7 days"), sentence("news.example.org does not resolve"), sentence("Why?")
    ('At most 7 days.', 'news.example.org does not resolve.', 'Why?')
    """
    first = text.split(" ", 1)[0].rstrip(":;,")
    whole = text[:1].upper() + text[1:] if first.replace("'", "").isalpha() else text
    return whole if whole.endswith((".", "!", "?", "…")) else f"{whole}."


def plainly(message: str) -> str:
    """Return a field's validation message in plain words.

    >>> plainly("Expected `str` of length >= 10")
    'At least 10 characters.'
    """
    for pattern, words in _FIELDS:
        found = pattern.match(message)
        if found is not None:
            return words.format(*found.groups())
    return message.partition(" - at `")[0]


def field_of(location: str) -> str:
    """Return the field that a problem's location names, as a person would write it; "" for the whole body.

    >>> field_of("body.source_ids[3]"), field_of("query.limit"), field_of("body")
    ('source ids', 'limit', '')
    """
    _where, _, path = location.partition(".")
    return path.partition("[")[0].rpartition(".")[2].replace("_", " ")
