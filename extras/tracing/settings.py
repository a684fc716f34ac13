"""The settings of tracing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from actors.settings import ExtraSettings, address, setting, stars

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OUR_HEADER = re.compile(r"(?i)host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding")


def headers_in(text: str) -> Mapping[str, str]:
    """Return the headers of a setting in the form of OTEL_EXPORTER_OTLP_HEADERS. Raises ValueError, without values.

    >>> headers_in("api-key=k3y, x-team=a%20b")
    {'api-key': 'k3y', 'x-team': 'a b'}
    """
    found: dict[str, str] = {}
    for number, pair in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        name, equals, value = pair.partition("=")
        name, value = name.strip(), unquote(value.strip())
        if not equals or not _HEADER.fullmatch(name):
            raise ValueError(f"header {number} is not written as name=value, with a comma before the next")
        if _OUR_HEADER.fullmatch(name):
            raise ValueError(f"{name} is a header of the request itself")
        if not value.isascii() or not value.isprintable():
            raise ValueError(f"{name} has a character that can't be sent")
        found[name] = value
    return found


def _headers(name: str, value: str) -> None:
    try:
        headers_in(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingSettings(ExtraSettings):
    """The collector, and the share of traces that it gets."""

    otlp_endpoint: str = setting("", check=address)
    otlp_headers: str = setting("", mask=stars, check=_headers)
    otlp_sampling: float = setting(1.0, "", 0, 1)
