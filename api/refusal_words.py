"""Refusals for people, with the text to type instead. Pure.

The API's problem documents keep rules, locations and types, for programs. `RULES` has a sentence for each rule of the
guard whose own detail is too technical.
"""

from __future__ import annotations

import re
from typing import Final

RULES: Final = {
    "url-relative": "Type the whole address, such as https://example.com/feed.",
    "url-scheme": "This address cannot be reached. Type the whole address, such as https://example.com/feed.",
    "url-character": "An address has no spaces and no invisible characters. Type %20 in the place of a space.",
    "url-backslash": "An address has no backslash. Type / in its place.",
    "url-host-empty": "The name of the site is missing: type it after //.",
    "url-host-idna": "The name of the site is invalid. Copy the address from your browser.",
    "url-host-spelling": "Type the numbers of the address as in 192.0.2.1.",
    "url-userinfo": "An address with a name or password in it is not watched. Leave out the part before the @.",
    "url-loop": "This address is the service itself, so deliveries would loop. Choose another one.",
    "url-no-bin": "There is no bin at this address, or it has expired. Make a new one.",
}
"""The sentence for each rule. Other rules show their detail."""
_ELSEWHERE: Final = ("redirects ", "leads to ")
"""Prefixes of details about an address that no user typed."""
_RULE = re.compile(r" \(rule: ([a-z0-9-]+)\)$")
_OPENS = re.compile(r"^(.*) is not public; SANDERLING_ALLOW_NETWORKS=(\S+) would open it$", re.S)
_FIELDS: Final = (
    (re.compile(r"Expected `str` of length >= 1$"), "Type something here."),
    (re.compile(r"Expected `str` of length >= (\d+)"), "At least {} characters."),
    (re.compile(r"Expected `str` of length <= (\d+)"), "At most {} characters."),
    (re.compile(r"Expected `(?:int|float)` >= (\S+)"), "A number, {} or more."),
    (re.compile(r"Expected `(?:int|float)` <= (\S+)"), "A number, {} or less."),
    (re.compile(r"Expected `(?:array|tuple)` of length <= (\d+)"), "At most {} of them."),
    (re.compile(r"Expected `(?:int|float)(?: \| null)?`"), "Enter a number."),
    (re.compile(r"Expected `bytes|Invalid base64"), "Choose a file."),
    (re.compile(r"Expected `bool`"), "Enter true or false."),
    (re.compile(r"Expected `str` matching"), "This has the wrong format."),
    (re.compile(r"Invalid enum value"), "Choose one from the list."),
)


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
