"""Checks of a template beyond its field types. Pure.

Each check yields the place, as `sources[1].url`, and the remedy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from actors.egress.url import parse_url
from actors.errors import UrlRefused
from actors.query import QueryError, UnknownLanguage, parse
from actors.templates.domain import NoDomain, read_domain
from actors.templates.expansion import NAME, SAMPLE_BASE, names_in, samples
from actors.templates.template import MOST_SOURCES, REGISTRY_BASE, Parameter, Suggestion, Template
from storage.records.source import OWN_NAMESPACES
from storage.records.tiers import TIERS, Tier

Found = Iterator[tuple[str, str]]
CHANNELS = (*TIERS, "alerts")
"""The service's own channels: no template or alert may use these names."""


def check(template: Template) -> Found:
    """Yield all errors of a template."""
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


def _check_parameters(template: Template) -> Found:
    used = {name for pattern in template.sources for name in names_in(pattern.url)}
    yield from _repeated("parameters", [parameter.key for parameter in template.parameters])
    for number, parameter in enumerate(template.parameters):
        place = f"parameters[{number}]"
        if parameter.key == REGISTRY_BASE:
            yield f"{place}.key", f"{REGISTRY_BASE} is the name of a setting: choose another key"
        if parameter.min > parameter.max:
            yield f"{place}.min", f"min is {parameter.min} and max is {parameter.max}: swap them, or raise max"
        if parameter.key not in used:
            yield f"{place}.key", f"no source has {{{parameter.key}}} in its URL: use it there, or leave it out"
        yield from _check_example(place, parameter)
    most = len(template.sources) * prod(parameter.max for parameter in template.parameters)
    if most > MOST_SOURCES:
        yield "parameters", f"up to {most} sources at once; at most {MOST_SOURCES}: lower a max, or drop sources"


def _check_example(place: str, parameter: Parameter) -> Found:
    try:
        if parameter.type == "domain":
            read_domain(parameter.example)
    except NoDomain as error:
        yield f"{place}.example", f"{parameter.example!r} {error}"


def _check_url(template: Template, url: str, tier: Tier) -> Iterator[str]:
    known = {**samples(template), REGISTRY_BASE: SAMPLE_BASE}
    strange = [name for name in names_in(url) if name not in known]
    if strange:
        yield f"{{{strange[0]}}} is no parameter; there are {', '.join(f'{{{name}}}' for name in known)}"
        return
    filled = NAME.sub(lambda found: known[found[1]], url)
    if "{" in filled or "}" in filled:
        yield "a brace that belongs to no parameter: write {name}, or %7B and %7D for braces of the URL's own"
        return
    try:
        found = parse_url(filled)
    except UrlRefused as refusal:
        yield f"no URL that can be watched: {refusal.detail}"
        return
    if found.scheme not in tier.schemes:
        yield f"a {found.scheme} URL can't be watched as this type, which goes with {' and '.join(tier.schemes)}"


def _check_tags(template: Template, tags: Sequence[str]) -> Iterator[str]:
    domains = {parameter.key for parameter in template.parameters if parameter.type == "domain"}
    for tag in tags:
        space, colon, value = tag.partition(":")
        if colon and not (space and value):
            yield f"{tag!r}: write <namespace>:<value>, or a word"
        if space in OWN_NAMESPACES:
            yield f"{tag!r}: the namespace {space} is the service's own; choose another"
        for name in names_in(tag):
            if name not in domains:
                yield f"{tag!r}: {{{name}}} is no parameter of type domain, and only those can be in tags"


def _check_alert(template: Template, suggestion: Suggestion) -> Found:
    try:
        parse(suggestion.query, suggestion.language)
    except UnknownLanguage as error:
        yield "language", str(error)
    except QueryError as error:
        yield "query", f"{error.reason} (at character {error.position})"
    if suggestion.channel in (*CHANNELS, template.id):
        yield "channel", f"{suggestion.channel} is a channel already: choose another, or leave it out"


def _repeated(what: str, keys: Sequence[str]) -> Found:
    for number, key in enumerate(keys):
        if key in keys[:number]:
            yield f"{what}[{number}].key", f"{key!r} is taken by {what}[{keys.index(key)}]: each needs its own"
