"""JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/), read as leniently as the XML ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from actors.content.bodies.encoding import DecodedText
from actors.content.bodies.text import absolute, entry_address, normalise, plain
from actors.content.errors import ContentError
from actors.content.feeds.entries import Raw, entries_of, newest
from actors.content.messages.readings import FeedReading
from actors.content.wording.moments import moment
from storage.records.identity import Millis

_HEAD = 4096
_MOST_HUBS = 5
_ITEMS = re.compile(r'"items"\s*:\s*\[')
_NEXT = re.compile(r"\s*,?\s*(?=[{\[\"])")
_CUT = "\0cut"
"""A member that marks a truncated document."""
_DATES = ("date_published", "date_modified")


def looks_like_json(text: str) -> bool:
    """Whether the text begins with a JSON object."""
    return text[:_HEAD].lstrip("\ufeff \t\r\n")[:1] == "{"


def read_json_feed(decoded: DecodedText, url: str) -> FeedReading:
    """Read the feed in a JSON text. Raises ContentError if it is no JSON, hostile, or other JSON."""
    document = _document(decoded.text)
    version, items = document.get("version"), document.get("items")
    declared = isinstance(version, str) and "jsonfeed" in version.lower()
    if not isinstance(items, list) or not (declared or ("title" in document and all(map(_is_item, items[:5])))):
        raise ContentError("The body is JSON, but not a JSON Feed: it has no `version` of jsonfeed.org with `items`.")
    dicts = [item for item in items if isinstance(item, dict)]
    found = newest(dicts, _published)
    return FeedReading(
        title=normalise(_string(document, "title")).replace("\n", " "),
        url=absolute(_string(document, "home_page_url"), url),
        format="json feed",
        entries=entries_of([_raw(item, url) for item in found]),
        damaged=decoded.damaged,
        hubs=tuple(_hubs(document, url)),
        paging=(("next", following),) if (following := absolute(_string(document, "next_url"), url)) else (),
        cut=document.get(_CUT) is True,
        left_out=len(dicts) - len(found),
    )


def _document(text: str) -> Mapping[str, Any]:
    text = text.lstrip("\ufeff \t\r\n")
    try:
        document = json.loads(text, strict=False)
    except RecursionError:
        raise ContentError("The JSON is nested too deeply.") from None
    except json.JSONDecodeError as error:
        if (salvaged := _salvaged(text)) is not None:
            return salvaged
        raise ContentError(f"The body begins like JSON, but is invalid: {error.msg} in line {error.lineno}.") from None
    except ValueError:
        raise ContentError("A number in the JSON is too long.") from None
    return document if isinstance(document, dict) else {}


def _salvaged(text: str) -> Mapping[str, Any] | None:
    """Return the complete items of a document that is truncated within them; None for other defects."""
    start = _ITEMS.search(text)
    if start is None:
        return None
    decoder, items, at = json.JSONDecoder(strict=False), list[object](), start.end()
    try:
        head = json.loads(text[:at] + "]}", strict=False)
        while comma := _NEXT.match(text, at):
            item, at = decoder.raw_decode(text, comma.end())
            items.append(item)
    except json.JSONDecodeError as error:
        # Truncation shows as an error at the very end; an error before that is another defect.
        is_cut = error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated string")
    except (ValueError, RecursionError):
        return None
    else:
        is_cut = not text[at:].strip()
    return {**head, "items": items, _CUT: True} if is_cut and items else None


def _hubs(document: Mapping[str, Any], base: str) -> Iterator[str]:
    hubs = document.get("hubs")
    for hub in hubs[:_MOST_HUBS] if isinstance(hubs, list) else ():
        if isinstance(hub, dict) and (link := absolute(_string(hub, "url"), base)):
            yield link


def _is_item(item: object) -> bool:
    return isinstance(item, dict) and bool({"id", "url", "content_html", "content_text"} & item.keys())


def _raw(item: Mapping[str, Any], base: str) -> Raw:
    markup, text = _string(item, "content_html"), _string(item, "content_text")
    attached = (each.get("url") for each in _listed(item, "attachments") if isinstance(each, dict))
    candidates = (_string(item, "url"), _string(item, "external_url"), absolute(_string(item, "id"), ""), *attached)
    return Raw(
        id=normalise(_string(item, "id")),
        url=next((link for each in candidates if (link := entry_address(str(each or ""), base))), ""),
        title=normalise(_string(item, "title")),
        author=_author(item),
        content=plain(markup) or normalise(text) or plain(_string(item, "summary")),
        published_at=_published(item),
        tags=tuple(_tags(item)),
    )


def _published(item: Mapping[str, Any]) -> Millis | None:
    return next((at for name in _DATES if (at := moment(_string(item, name))) is not None), None)


def _author(item: Mapping[str, Any]) -> str:
    authors = item.get("authors")
    first = authors[0] if isinstance(authors, list) and authors else item.get("author")
    return plain(_string(first, "name")) if isinstance(first, dict) else ""


def _string(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 256 else ""


def _listed(item: Mapping[str, Any], name: str) -> list[Any]:
    found = item.get(name)
    return found if isinstance(found, list) else []


def _tags(item: Mapping[str, Any]) -> Iterator[str]:
    for word in _listed(item, "tags"):
        if isinstance(word, str):
            yield f"category:{word}"
    for attached in _listed(item, "attachments"):
        if isinstance(attached, dict) and (kind := _string(attached, "mime_type")):
            yield f"enclosure:{kind}"
