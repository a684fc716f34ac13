"""A template: its file read from TOML and checked, a caller's parameters, and its sources for these. Pure.

A value may become the host of a URL, so anything that two parsers might read differently is refused here, with a hint.
Its resolution is the guard's business.

Each check yields the place, as `sources[1].url`, and the remedy.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Annotated, Final, Literal, NamedTuple
from urllib.parse import quote

import idna
from msgspec import Meta, Struct, json
from msgspec.structs import replace

from actors.catalogue import Reader, read_file
from actors.egress.url import parse_url, read_host
from actors.errors import DomainError, UrlRefused
from actors.query import QueryError, UnknownLanguage, parse
from storage.records.alert import Matching
from storage.records.source import OWN_NAMESPACES, tag_of
from storage.records.tiers import TIERS, SourceType, Tier

MOST_SOURCES = 100  # maximum sources of one instantiation, for any values
REGISTRY_BASE = "registry_base"  # the one name between braces that is a setting, not a parameter

Line = Annotated[str, Meta(min_length=1, max_length=200)]
Slug = Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$(?!\n)")]
Key = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}$(?!\n)")]
Count = Annotated[int, Meta(ge=1, le=50)]
ParameterType = Literal["domain", "string", "url", "number"]


class Parameter(Struct, frozen=True, forbid_unknown_fields=True):
    """A parameter for the caller: from `min` to `max` values. A domain is bare, a string is free text."""

    key: Key
    type: ParameterType
    description: Line
    example: Line
    min: Count = 1
    max: Count = 1


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """A source. Its URL and tags may contain `{key}` for the value of a parameter."""

    url: Annotated[str, Meta(min_length=1, max_length=2048)]
    type: SourceType
    tags: Annotated[tuple[Line, ...], Meta(max_length=20)] = ()


class Suggestion(Struct, frozen=True, forbid_unknown_fields=True):
    """An alert over the template's sources. `key` identifies it, so it must never change. Its name and query may
    contain `{key}`, several values joined by OR; each combination is an alert of its own.
    """

    key: Slug
    name: Line
    query: Annotated[str, Meta(max_length=4096)]
    language: Annotated[str, Meta(max_length=20)] = "en"
    channel: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$(?!\n)")] | None = None
    match: Matching = "change"


class Template(Struct, frozen=True, forbid_unknown_fields=True):
    """A template. Its `version` rises with each change to its contents."""

    id: Slug
    version: Annotated[int, Meta(ge=1, le=1_000_000)]
    name: Line
    summary: Annotated[str, Meta(min_length=1, max_length=1000)]
    category: Slug
    sources: Annotated[tuple[Pattern, ...], Meta(min_length=1, max_length=50)]
    parameters: Annotated[tuple[Parameter, ...], Meta(max_length=5)] = ()
    alerts: Annotated[tuple[Suggestion, ...], Meta(max_length=20)] = ()

    @property
    def tag(self) -> str:
        return f"template:{self.id}"

    def alert_key(self, suggestion: Suggestion) -> str:
        return f"{self.id}/{suggestion.key}"


Values = Mapping[str, tuple[str, ...]]  # by parameter, in the order given; see `read_parameters`
NAME = re.compile(r"\{([a-z][a-z0-9_]*)\}")
SAMPLES = {"domain": "example.com", "string": "x", "url": "https://example.com/", "number": "1"}
SAMPLE_BASE = "https://registry.example"


class PlannedSource(NamedTuple):
    """A source to attach. `url` is normalized; `tags` include the template's own."""

    url: str
    host: str
    type: SourceType
    tags: tuple[str, ...]


def expand(template: Template, values: Values, registry_base: str) -> tuple[PlannedSource, ...]:
    """Return the sources of a template, value by value in the order given, each URL once. Raises UrlRefused."""
    sources: dict[str, PlannedSource] = {}
    keys = [parameter.key for parameter in template.parameters]
    for chosen, pattern in product(product(*map(values.__getitem__, keys)), template.sources):
        source = _fill(template, pattern, dict(zip(keys, chosen, strict=True)), registry_base)
        sources.setdefault(source.url, source)
    return tuple(sources.values())


def substitute(text: str, values: Mapping[str, Sequence[str]]) -> str:
    """Return an alert's text with these values.

    >>> substitute("{words} price<{below}", {"words": ["kettle", "pot"], "below": ["300"]})
    'kettle OR pot price<300'
    """
    return NAME.sub(lambda found: " OR ".join(values.get(found[1], (found[0],))), text)


def with_values(template: Template, values: Values) -> Template:
    def filled(alert: Suggestion) -> Suggestion:
        key = "/".join((alert.key, *(substitute(f"{{{name}}}", values) for name in placeholders(alert.query))))
        name = substitute(alert.name, values)[:LONGEST]
        return replace(alert, key=key, name=name, query=substitute(alert.query, values))

    return replace(template, alerts=tuple(map(filled, template.alerts)))


def check_value(template: Template, key: str, value: str) -> None:
    """Fill a value into every URL and query with its name, and samples into the rest. Raises UrlRefused, QueryError."""
    texts = {**samples(template), key: value}
    for pattern in template.sources:
        if key in placeholders(pattern.url):
            _fill(template, pattern, texts, SAMPLE_BASE)
    for suggestion in with_values(template, {name: (text,) for name, text in texts.items()}).alerts:
        parse(suggestion.query, suggestion.language)


def samples(template: Template) -> dict[str, str]:
    return {parameter.key: SAMPLES[parameter.type] for parameter in template.parameters}


def placeholders(text: str) -> Iterator[str]:
    return (found[1] for found in NAME.finditer(text))


def _fill(template: Template, pattern: Pattern, texts: Mapping[str, str], registry_base: str) -> PlannedSource:
    kinds = {parameter.key: parameter for parameter in template.parameters}

    def in_url(found: re.Match[str]) -> str:
        name = found[1]
        if name == REGISTRY_BASE:
            return registry_base.rstrip("/")
        # Domains and addresses are read already; a string must not end its part of the URL.
        return quote(texts[name], safe="") if kinds[name].type == "string" else texts[name]

    url = parse_url(NAME.sub(in_url, pattern.url))
    tags = (NAME.sub(lambda found: texts[found[1]], tag) for tag in pattern.tags)
    return PlannedSource(url.text, url.host, pattern.type, tuple(dict.fromkeys((*map(tag_of, tags), template.tag))))


_COMBINABLE_SCRIPTS = frozenset(("LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"))
"""Scripts allowed together in one word (UTS 39, 5.2, highly restrictive)."""


class InvalidDomain(ValueError):
    """Not a bare domain; the message is a sentence without its subject."""


def read_domain(text: str) -> str:
    """Return a domain in normal form: ASCII (IDNA 2008), lower case, no dot at the end. Raises NoDomain.

    >>> read_domain("Bücher.Example.")
    'xn--bcher-kva.example'
    """
    _check_characters(text)
    try:
        name = read_host(text)
    except UrlRefused as refusal:
        if refusal.rule == "url-host-spelling":
            raise InvalidDomain(_ADDRESS) from None
        raise InvalidDomain(f"is no domain: {refusal.detail}") from None
    if name.rpartition(".")[2].isdigit():
        raise InvalidDomain(_ADDRESS)
    if "." not in name:
        raise InvalidDomain("is a single label: write the whole domain, such as example.com")
    for label in name.split("."):
        _check_script(label)
    return name


_ADDRESS = "is an IP address: write a domain, such as example.com"


def _check_characters(text: str) -> None:
    scheme, separator, _ = text.partition("://")
    faults = {
        "is empty: write a domain, such as example.com": not text.strip(),
        "has a space or an invisible character": any(sign.isspace() or not sign.isprintable() for sign in text),
        f"has a scheme: leave {scheme[:10]}:// away, as in example.com": separator,
        "has a user name: write the bare domain, as in example.com": "@" in text,
        _ADDRESS: text.startswith("[") or text.count(":") > 1,
        "has a path: write the bare domain, as in example.com": not {*"/\\?#"}.isdisjoint(text),
        "has a port: write the bare domain, as in example.com": ":" in text,
        "has a wildcard: name each domain by itself": "*" in text,
    }
    if fault := next((says for says, is_wrong in faults.items() if is_wrong), ""):
        raise InvalidDomain(fault)


def _check_script(label: str) -> None:
    """Refuse a label that may imitate another name by mixing scripts."""
    if not label.startswith("xn--"):
        return
    decoded = idna.decode(label)
    letters = (character for character in decoded if unicodedata.category(character)[0] == "L")
    scripts = {unicodedata.name(letter, "").split(" ")[0] for letter in letters}
    if len(scripts) > 1 and not scripts <= _COMBINABLE_SCRIPTS:
        raise InvalidDomain(f"mixes letters of different scripts ({', '.join(sorted(scripts))}) in {decoded!r}")


Errors = Iterator[tuple[str, str]]
CHANNELS = (*TIERS, "alerts")  # the service's own channels: no template or alert may use these names


def check(template: Template) -> Errors:
    if template.id in CHANNELS:
        yield "id", f"{template.id} is a channel of the service itself: choose another id"
    yield from _check_parameters(template)
    for number, pattern in enumerate(template.sources):
        place = f"sources[{number}]"
        yield from ((f"{place}.url", says) for says in _check_url(template, pattern.url, TIERS[pattern.type]))
        yield from ((f"{place}.tags", says) for says in _check_tags(template, pattern.tags))
    yield from _repeated("alerts", [suggestion.key for suggestion in template.alerts])
    for number, suggestion in enumerate(template.alerts):
        yield from ((f"alerts[{number}].{name}", says) for name, says in _check_alert(template, suggestion))


def _check_parameters(template: Template) -> Errors:
    used = {name for pattern in template.sources for name in placeholders(pattern.url)}
    used |= {name for suggestion in template.alerts for name in placeholders(suggestion.query)}
    yield from _repeated("parameters", [parameter.key for parameter in template.parameters])
    for number, parameter in enumerate(template.parameters):
        place = f"parameters[{number}]"
        if parameter.key == REGISTRY_BASE:
            yield f"{place}.key", f"{REGISTRY_BASE} is the name of a setting: choose another key"
        if parameter.min > parameter.max:
            yield f"{place}.min", f"min is {parameter.min} and max is {parameter.max}: swap them, or raise max"
        if parameter.key not in used:
            says = f"no source has {{{parameter.key}}} in its URL and no alert in its query: use it, or leave it out"
            yield f"{place}.key", says
        try:
            if parameter.type == "domain":
                read_domain(parameter.example)
        except InvalidDomain as error:
            yield f"{place}.example", f"{parameter.example!r} {error}"
    most = len(template.sources) * prod(parameter.max for parameter in template.parameters)
    if most > MOST_SOURCES:
        yield "parameters", f"up to {most} sources at once; at most {MOST_SOURCES}: lower a max, or drop sources"


def _check_url(template: Template, url: str, tier: Tier) -> Iterator[str]:
    known = {**samples(template), REGISTRY_BASE: SAMPLE_BASE}
    unknown = [name for name in placeholders(url) if name not in known]
    if unknown:
        yield f"{{{unknown[0]}}} is no parameter; there are {', '.join(f'{{{name}}}' for name in known)}"
        return
    url_text = NAME.sub(lambda parsed: known[parsed[1]], url)
    if "{" in url_text or "}" in url_text:
        yield "a brace that belongs to no parameter: write {name}, or %7B and %7D for braces of the URL's own"
        return
    try:
        parsed = parse_url(url_text)
    except UrlRefused as refusal:
        yield f"no URL that can be watched: {refusal.detail}"
        return
    if parsed.scheme not in tier.schemes:
        yield f"a {parsed.scheme} URL can't be watched as this type, which goes with {' and '.join(tier.schemes)}"


def _check_tags(template: Template, tags: Sequence[str]) -> Iterator[str]:
    domains = {parameter.key for parameter in template.parameters if parameter.type == "domain"}
    for tag in tags:
        namespace, colon, value = tag.partition(":")
        if colon and not (namespace and value):
            yield f"{tag!r}: write <namespace>:<value>, or a word"
        if namespace in OWN_NAMESPACES:
            yield f"{tag!r}: the namespace {namespace} is the service's own; choose another"
        for name in placeholders(tag):
            if name not in domains:
                yield f"{tag!r}: {{{name}}} is no parameter of type domain, and only those can be in tags"


def _check_alert(template: Template, suggestion: Suggestion) -> Errors:
    known = {name: (text,) for name, text in samples(template).items()}
    if unknown := [name for name in placeholders(suggestion.query) if name not in known]:
        yield "query", f"{{{unknown[0]}}} is no parameter"
        return
    try:
        parse(substitute(suggestion.query, known), suggestion.language)
    except UnknownLanguage as error:
        yield "language", str(error)
    except QueryError as error:
        yield "query", f"{error.reason} (at character {error.position})"
    if suggestion.channel in (*CHANNELS, template.id):
        yield "channel", f"{suggestion.channel} is a channel already: choose another, or leave it out"


def _repeated(what: str, keys: Sequence[str]) -> Errors:
    for number, key in enumerate(keys):
        if key in keys[:number]:
            yield f"{what}[{number}].key", f"{key!r} is taken by {what}[{keys.index(key)}]: each needs its own"


_CHOICES = {
    "parameters": ": write domain, string, url or number",
    "sources": ": write push, feed or html",
    "alerts": ": write change, added, removed or page",
}


def read_template(text: str, file: str) -> Template:
    """Return the template in a file; `file` is its name for the errors. Raises BadFile."""
    return read_file(text, file, Template, check, _CHOICES)


_READER: Final = Reader("template", "actors.templates", "builtin", read_template)
built_in = _READER.built_in
with_folder = _READER.with_folder

DIALECT = "https://json-schema.org/draft/2020-12/schema"
LONGEST = 200
LONGEST_OF = {"string": LONGEST, "domain": 260, "url": 2048, "number": 20}  # characters of a string value
_NUMBER = re.compile(r"\d{1,12}(\.\d{1,4})?")
_SHOWN = 60


class ParameterError(NamedTuple):
    """One error: the place (`params.domain[1]`), the reason, and the value."""

    place: str
    says: str
    value: object


class BadParameters(DomainError):
    """The parameters do not fit the template (400)."""

    def __init__(self, errors: Sequence[ParameterError]) -> None:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        super().__init__(f"{errors[0].place}: {errors[0].says}{more}")
        self.wrong = tuple(errors)


def json_schema(template: Template) -> str:
    """Return a template's parameters as JSON Schema (2020-12): names, counts and lengths; no check of domains."""
    taken = {
        parameter.key: {
            "type": "array",
            "minItems": parameter.min,
            "maxItems": parameter.max,
            "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_OF[parameter.type]},
            "description": parameter.description,
            "examples": [[parameter.example]],
        }
        for parameter in template.parameters
    }
    schema = {"$schema": DIALECT, "type": "object", "additionalProperties": False, "required": list(taken)}
    return json.encode(schema | {"properties": taken}).decode()


def read_parameters(template: Template, arguments: Mapping[str, object]) -> Values:
    """Return the values of all parameters, each value once. Raises BadParameters with all errors."""
    names = [parameter.key for parameter in template.parameters]
    hint = f"it takes {', '.join(names)}" if names else f"{template.id} takes none"
    errors = [
        ParameterError(f"params.{key[:_SHOWN]}", f"there is no such parameter; {hint}", value)
        for key, value in arguments.items()
        if key not in names
    ]
    values = {each.key: _values(template, each, arguments.get(each.key), errors) for each in template.parameters}
    if errors:
        raise BadParameters(errors)
    return values


def _values(template: Template, parameter: Parameter, given: object, errors: list[ParameterError]) -> tuple[str, ...]:
    place, expected = f"params.{parameter.key}", f"{parameter.min} to {parameter.max} values"
    values: dict[str, None] = {}
    if not isinstance(given, list):
        says = "required, but missing: an array of" if given is None else "must be an array of"
        errors.append(ParameterError(place, f"{says} {expected}", given))
    elif not parameter.min <= len(given) <= parameter.max:
        errors.append(ParameterError(place, f"takes {expected}, not {len(given)}", given))
    else:
        for index, value in enumerate(given):
            try:
                values[_value(template, parameter, value)] = None
            except ValueError as error:
                errors.append(ParameterError(f"{place}[{index}]", str(error), value))
    return tuple(values)


def _value(template: Template, parameter: Parameter, arguments: object) -> str:
    if not isinstance(arguments, str):
        raise ValueError("must be a string")
    longest = LONGEST_OF[parameter.type]
    value = read_domain(arguments) if parameter.type == "domain" else _read_string(arguments, longest)
    if parameter.type == "number" and not _NUMBER.fullmatch(value := value.replace(",", ".").replace(" ", "")):
        raise ValueError("must be a number, such as 300 or 19.90")
    try:
        check_value(template, parameter.key, value)
    except QueryError as error:
        raise ValueError(f"gives no query: {error.reason}") from None
    except UrlRefused as refusal:
        raise InvalidDomain(f"gives no URL that can be watched: {refusal.detail}") from None
    return value


def _read_string(text: str, longest: int) -> str:
    value = unicodedata.normalize("NFC", text).strip()
    if not value:
        raise ValueError("is empty")
    if len(value) > longest:
        raise ValueError(f"has {len(value)} characters; at most {longest}")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value):
        raise ValueError("has a control character or a line break")
    return value
