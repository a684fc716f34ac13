"""Recognise a file's program by its content. Pure."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from actors.content.bodies.encoding import decode
from extras.migrate.drafting import Kind, NotReadable
from extras.migrate.lists import columns_of, delimiter_of
from extras.migrate.whole.reading import begins_export

_JOB = re.compile(
    r"^(?:- )?(?:name|url|navigate|command|kind|filters?|user_visible_url|report)\s*:(?:\s|$)", re.MULTILINE
)
_ADDRESS = re.compile(
    r"^[ \t]*(?:(?:https?|wss?)://\S|[\w-]+(?:\.[\w-]+)+(?:/\S*)?[ \t\r]*$)", re.MULTILINE | re.IGNORECASE
)
_BEGINNING: Final = 64 * 1024
MOST_TEXT: Final = 64 * 1024 * 1024  # maximum bytes of a file that is no zip
_JSON_BEGINS = (b"{", b"[")
_CHANGEDETECTION: Final = ("watching", "include_filters", "fetch_backend")


def kind_of(data: bytes) -> Kind:
    """Raises NotReadable if the content is not recognised."""
    start = data[:_BEGINNING].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"PK\x03\x04"):
        return "changedetection"
    if start.startswith(_JSON_BEGINS):
        return _kind_of_json(data, start)
    text = decode(data[:_BEGINNING], "").text
    if text.lstrip("\ufeff \t\r\n").startswith("<"):
        return "opml"
    if _JOB.search(text):
        return "urlwatch"
    if _is_table(text):
        return "csv"
    if _ADDRESS.search(text):
        return "urls"
    raise NotReadable("Its format is unknown. Name the program with --from.")


def _kind_of_json(data: bytes, start: bytes) -> Kind:
    if begins_export(start):
        return "sanderling"
    if len(data) > MOST_TEXT:
        raise NotReadable(f"It is larger than {MOST_TEXT >> 20} MiB.")
    found = decoded(data)
    first = found[0] if isinstance(found, list) and found else found
    if isinstance(first, Mapping) and any(name in first for name in _CHANGEDETECTION):
        return "changedetection"
    raise NotReadable("It is JSON, but of no supported program.")


def _is_table(text: str) -> bool:
    header = next((line for line in text.splitlines() if line.strip()), "")
    try:
        cells = next(csv.reader([header], delimiter=delimiter_of(header)), [])
    except csv.Error:
        return False
    return "url" in columns_of(cells)


def decoded(data: bytes) -> Any:
    """Parse JSON. Raises NotReadable, also if nested too deeply."""
    try:
        return msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotReadable(f"It is not JSON: {error}.") from None
    except RecursionError:
        raise NotReadable("It is JSON that is nested too deeply.") from None
