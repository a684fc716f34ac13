"""A text frame of a push source: JSON by its common field names, anything else as content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from actors.content.bodies.links import absolute
from actors.content.bodies.text import cap, normalise, plain
from actors.content.errors import ContentError
from actors.content.wording.fingerprint import content_hash, simhash
from actors.content.wording.moments import moment_of
from storage.records.identity import Millis

MOST = 1 << 20
"""Characters of a frame: 1 MiB."""
SMALL = 4096
"""Characters of a frame that may be read in the loop: whatever it says, that takes no more than a few milliseconds."""
MARK = 6
"""Bytes of a mark: among 10,000 of them a new frame passes for an old one once in 28 thousand million."""

_TITLES = ("title", "headline", "name", "subject")
_URLS = ("url", "link", "href", "permalink")
_CONTENTS = ("content", "text", "body", "message", "description", "summary")
_KEYS = ("id", "guid", "uuid", "key", "event_id", "message_id")
_AUTHORS = ("author", "user", "username", "by", "creator", "sender")
_TIMES = ("published_at", "published", "created_at", "date", "timestamp", "time", "ts", "updated_at")
_TAGS = ("tags", "categories", "topics")
OF_FRAMES = "category:"
"""How the tags begin that a frame brings."""
_NESTS = ("data", "payload", "event", "message", "object", "item", "commit")
_JSON = json.JSONDecoder(strict=False)
_MOST_LABEL = 1_000
_MOST_KEY = 200
_MOST_TAGS = 20


class Frame(Struct, frozen=True):
    """What a frame says; absent texts are "". `id` is the frame's own, if it has one.

    Frames with the same `mark` are the same news: by their id, title, URL and content, and without an id by all they
    say. The last three fields are filled in by `told`.
    """

    id: str
    mark: bytes
    title: str
    author: str
    url: str
    content: str
    published_at: Millis | None
    tags: tuple[str, ...]
    content_hash: str = ""
    simhash: int = 0
    content_truncated: bool = False


def read_frame(text: str, url: str) -> Frame:
    """Return the frame's fields; relative links are resolved against `url`. Raises ContentError for hostile JSON."""
    if len(text) > MOST:
        raise ContentError(f"The frame has {len(text)} characters; at most {MOST} are read.")
    fields = _fields(text)
    if fields is None:
        content = plain(text) if "<" in text else normalise(text)
        return Frame("", _mark(text), "", "", "", content, None, ())
    own = normalise(_string(fields, _KEYS))
    title = plain(_string(fields, _TITLES))[:_MOST_LABEL]
    link = absolute(_string(fields, _URLS), url)
    content = plain(_string(fields, _CONTENTS)) or normalise(text)
    return Frame(
        id=own if len(own) <= _MOST_KEY else "",
        mark=_mark("\0".join((own, title, link, content)) if own else text),
        title=title,
        author=plain(_string(fields, _AUTHORS))[:_MOST_LABEL],
        url=link,
        content=content,
        published_at=next(
            (at for name in _TIMES if name in fields and (at := moment_of(fields[name])) is not None), None
        ),
        tags=tuple(_tags(fields)),
    )


def told(frame: Frame) -> Frame:
    """Return the frame as an event tells it: its content cut to what an event holds, hashed before."""
    content, truncated = cap(frame.content)
    exact, like = content_hash(frame.content), simhash(frame.content)
    return replace(frame, content=content, content_truncated=truncated, content_hash=exact, simhash=like)


def _mark(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=MARK).digest()


def _fields(text: str) -> Mapping[str, Any] | None:
    """Return the frame's fields in lower case, a nested object's behind its own; None when it is no JSON object."""
    if text.lstrip()[:1] != "{":
        return None
    try:
        value = _JSON.decode(text)
    except RecursionError:
        raise ContentError("The JSON of the frame is nested too deeply.") from None
    except json.JSONDecodeError:
        return None
    except ValueError:
        raise ContentError("The JSON of the frame holds a number that is too long.") from None
    fields = {name.lower(): inner for name, inner in value.items()}
    for nest in _NESTS:
        if isinstance(inner := fields.get(nest), dict):
            fields = {name.lower(): deeper for name, deeper in inner.items()} | {
                name: outer for name, outer in fields.items() if not isinstance(outer, dict)
            }
            break
    return fields


def _string(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, dict):
            value = value.get("name") or value.get("login") or value.get("text")
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 256:
            return str(value)
    return ""


def _tags(fields: Mapping[str, Any]) -> Iterator[str]:
    for name in _TAGS:
        value = fields.get(name)
        if isinstance(value, list):
            words = [normalise(word).lower()[:100] for word in value if isinstance(word, str)]
            yield from (f"{OF_FRAMES}{word}" for word in dict.fromkeys(words[:_MOST_TAGS]) if word and "\n" not in word)
            return
