"""The expansion of a template and its values into sources to attach. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple
from urllib.parse import quote

from actors.egress.url import parse_url
from actors.templates.template import REGISTRY_BASE, Parameter, Pattern, Template
from storage.records.source import tag_of
from storage.records.tiers import SourceType

Values = Mapping[str, tuple[str, ...]]
"""By parameter, in the order given; read by `parameters.py`."""
NAME = re.compile(r"\{([a-z][a-z0-9_]*)\}")
SAMPLES = {"domain": "example.com", "string": "x"}
SAMPLE_BASE = "https://registry.example"


class PlannedSource(NamedTuple):
    """A source to attach. `url` is normalized; `tags` include the template's own."""

    url: str
    host: str
    type: SourceType
    tags: tuple[str, ...]


def expand(template: Template, values: Values, registry_base: str) -> tuple[PlannedSource, ...]:
    """Return the sources of a template, value by value in the order given, each URL once. Raises UrlRefused."""
    found: dict[str, PlannedSource] = {}
    for chosen in product(*(values[parameter.key] for parameter in template.parameters)):
        texts = dict(zip((parameter.key for parameter in template.parameters), chosen, strict=True))
        for pattern in template.sources:
            wanted = _fill(template, pattern, texts, registry_base)
            found.setdefault(wanted.url, wanted)
    return tuple(found.values())


def try_out(template: Template, key: str, value: str) -> None:
    """Fill a value into every URL with its name, and samples into the rest. Raises UrlRefused."""
    texts = {**samples(template), key: value}
    for pattern in template.sources:
        if key in names_in(pattern.url):
            _fill(template, pattern, texts, SAMPLE_BASE)


def samples(template: Template) -> dict[str, str]:
    """Return a short value for each parameter."""
    return {parameter.key: SAMPLES[parameter.type] for parameter in template.parameters}


def names_in(text: str) -> Iterator[str]:
    """Yield the names between braces."""
    return (found[1] for found in NAME.finditer(text))


def _fill(template: Template, pattern: Pattern, texts: Mapping[str, str], registry_base: str) -> PlannedSource:
    kinds = {parameter.key: parameter for parameter in template.parameters}

    def in_url(found: re.Match[str]) -> str:
        name = found[1]
        return registry_base.rstrip("/") if name == REGISTRY_BASE else _encoded(kinds[name], texts[name])

    url = parse_url(NAME.sub(in_url, pattern.url))
    tags = (NAME.sub(lambda found: texts[found[1]], tag) for tag in pattern.tags)
    return PlannedSource(url.text, url.host, pattern.type, tuple(dict.fromkeys((*map(tag_of, tags), template.tag))))


def _encoded(parameter: Parameter, value: str) -> str:
    """Encode a value: a domain is ASCII already; a string must not end its part of the URL."""
    return value if parameter.type == "domain" else quote(value, safe="")
