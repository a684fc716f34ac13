"""Every error as an RFC 9457 problem document, from one table. Pure.

Handlers and hooks raise a `Refusal` for a fault in the request; actors raise `actors.errors`. `refusals.refusal_of`
turns any exception into the Refusal to send. Anything else is our own bug: a 500 that reveals no details.

Problem documents have rules, locations and types, for programs. `refusal_words.toml` has the sentences for people,
with the text to type instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType, field, json, toml
from msgspec.structs import replace

from storage.records.secrecy import without_secrets

MEDIA = "application/problem+json"
SHOWN = 200  # most characters of a refused value to show


class Kind(Struct, frozen=True):
    """One kind of error: status, title, and the text of its page. example: a sample `detail`."""

    status: int
    title: str
    says: str
    example: str = ""


KINDS: Final = json.decode(
    files("api.openapi").joinpath("words/problems.json").read_bytes(), type=dict[str, dict[str, Kind]]
)["problems"]
"""The kinds by slug. `library-full` is no 503, as waiting does not help and monitors would alarm, and no `conflict`, as
clients retry that.
"""


class FieldError(Struct, frozen=True):
    """One place that is wrong: place, reason and found value."""

    location: str
    message: str
    value: Any = None


class Problem(Struct, frozen=True, kw_only=True):
    """An RFC 9457 problem document."""

    schema: str = field(name="$schema")
    type: str
    title: str
    status: int
    detail: str
    instance: str | UnsetType = UNSET
    errors: tuple[FieldError, ...] | UnsetType = UNSET


class Refusal(Exception):
    """End the request with a problem of this kind. `headers` go with the answer."""

    def __init__(
        self, slug: str, detail: str, errors: Sequence[FieldError] = (), headers: Mapping[str, str] | None = None
    ) -> None:
        self.slug, self.detail = slug, without_secrets(detail)
        super().__init__(self.detail)
        self.errors = tuple(replace(error, message=without_secrets(error.message)) for error in errors)
        self.headers = dict(headers or {})

    @property
    def status(self) -> int:
        return KINDS[self.slug].status

    def document(self, base_url: str, instance: str | None = None) -> Problem:
        kind = KINDS[self.slug]
        return Problem(
            schema=f"{base_url}/schemas/problem/1.json",
            type=f"{base_url}/problems/{self.slug}",
            title=kind.title,
            status=kind.status,
            detail=self.detail,
            instance=instance or UNSET,
            errors=self.errors or UNSET,
        )

    def encode(self, base_url: str, instance: str | None = None) -> bytes:
        return json.encode(self.document(base_url, instance)) + b"\n"


def later(slug: str, detail: str, seconds: int) -> Refusal:
    return Refusal(slug, detail, headers={"Retry-After": str(seconds)})


def invalid(location: str, message: str, value: Any = None) -> Refusal:
    return Refusal("invalid-request", f"{location}: {message}", [FieldError(location, message, shown(value))])


def shown(value: Any) -> Any:
    """Return the safe part of a refused value: scalars, cut, without secrets; containers as their type only."""
    if isinstance(value, str):
        return without_secrets(value.encode("utf-8", "replace").decode()[: 10 * SHOWN])[:SHOWN]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value)[:SHOWN]
    return value if value is None or isinstance(value, int | float | bool) else f"({type(value).__name__})"


INTERNAL = Refusal("internal", KINDS["internal"].says)


_TABLES = toml.decode(files("api").joinpath("refusal_words.toml").read_bytes(), type=dict[str, dict[str, str]])
RULES: Final = _TABLES["rules"]  # The sentence for each rule. Other rules show their detail.
_ELSEWHERE: Final = ("redirects ", "leads to ")  # prefixes of details about an address that no user typed
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
