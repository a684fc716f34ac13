"""A text frame of a push source: JSON by its common field names, anything else as content.

One frame may hold several events (an array, JSON lines), each in up to `MOST_LAYERS` envelopes. Pings, acknowledgements
and other protocol signals are not events.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from actors.content.bodies.text import absolute, cap, normalise, plain
from actors.content.errors import ContentError
from actors.content.wording.dates import moment_of
from actors.content.wording.words import content_hash, simhash, word_lists
from storage.records.identity import Millis

MOST = 1 << 20  # characters per frame: 1 MiB
MOST_EVENTS: Final = 5_000  # events per frame
MOST_LAYERS, MOST_SMALL, _SMALL_OBJECTS = 3, 4096, 100
MARK = 6  # bytes of a mark: among 10,000 marks, a new frame collides with an old one once in 28 billion

_TITLES, _URLS, _CONTENTS, _KEYS, _AUTHORS, _TIMES, _TAGS, _NESTS, _VERBS = (
    tuple(word_lists("frames")["fields"][use].split("|"))
    for use in ("titles", "urls", "contents", "keys", "authors", "times", "tags", "nests", "verbs")
)
OF_FRAMES = "category:"  # prefix of tags that come from a frame
_SAYING = (*_TITLES, *_URLS, *_CONTENTS)
PINGS: Final = frozenset(word_lists("frames")["signals"]["pings"].split("|"))
_SIGNALS = PINGS.union(word_lists("frames")["signals"]["others"].split("|"))
_JSON = json.JSONDecoder(strict=False)
_SOCKET_IO = re.compile(r"42(?:/[^,\[]{0,200},)?\d{0,20}(?=\[)")
_ENGINE_IO_OPENS = re.compile(r'4?0(?:/[^,\[]{0,200},)?\{"sid"')
_MOST_LABEL, _MOST_KEY, _MOST_TAGS = 1_000, 200, 20

Layers = Sequence[Mapping[str, Any]]  # an object's fields, innermost first, then those of its envelopes


class Frame(Struct, frozen=True):
    """One event of a frame; absent texts are "". `cap_content` fills in the last three fields. Frames with the same
    `mark`, of id, title, URL and content, or of all the text without an id, are duplicates.
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


def is_small(text: str) -> bool:
    """Whether the event loop may read the frame itself: at worst that takes a few milliseconds."""
    return len(text) <= MOST_SMALL and text.count("{") <= _SMALL_OBJECTS


def read_frames(text: str, url: str, name: str = "") -> list[Frame]:
    """Return the events of a frame; links resolve against `url`. Raises ContentError for hostile JSON."""
    if len(text) > MOST:
        raise ContentError(f"The frame has {len(text)} characters; at most {MOST} are read.")
    found = [frame for layers, raw in _parts(text) if (frame := _event(layers, raw, url)) is not None]
    if name:
        tag = f"{OF_FRAMES}{name.lower()[:100]}"
        found = [replace(frame, tags=(*frame.tags, tag)) if tag not in frame.tags else frame for frame in found]
    return found


def cap_content(frame: Frame) -> Frame:
    """Cap the content to the size of an event; the hashes cover all of it."""
    content, truncated = cap(frame.content)
    exact, like = content_hash(frame.content), simhash(frame.content)
    return replace(frame, content=content, content_truncated=truncated, content_hash=exact, simhash=like)


def _event(layers: Layers | None, raw: str, url: str) -> Frame | None:
    """Return the event in an object, or in a text if `layers` is None; None for a signal."""
    if layers is None:
        content = plain(raw) if "<" in raw else normalise(raw)
        return Frame("", _mark(raw), "", "", "", content, None, ())
    said = _string(layers, _CONTENTS)
    title = plain(_string(layers, _TITLES))[:_MOST_LABEL]
    link = absolute(_string(layers, _URLS), url)
    if (not said or len(said) < 20) and not title and not link and _is_signal(layers, said):
        return None
    lists = (value for fields in layers for name in _TAGS if isinstance(value := fields.get(name), list))
    words = [normalise(word).lower()[:100] for word in next(lists, ()) if isinstance(word, str)]
    own, content = normalise(_string(layers, _KEYS)), plain(said) or normalise(raw)
    times = (moment_of(of[name]) for of in layers for name in _TIMES if name in of)
    return Frame(
        id=own if len(own) <= _MOST_KEY else "",
        mark=_mark("\0".join((own, title, link, content)) if own else raw),
        title=title,
        author=plain(_string(layers, _AUTHORS))[:_MOST_LABEL],
        url=link,
        content=content,
        published_at=next((at for at in times if at is not None), None),
        tags=tuple(f"{OF_FRAMES}{word}" for word in dict.fromkeys(words[:_MOST_TAGS]) if word and "\n" not in word),
    )


def _mark(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=MARK).digest()


# --- from a frame to its objects -------------------------------------------------------------------------------------


def _parts(text: str) -> Iterator[tuple[Layers | None, str]]:
    if text[:1] == "{" and type(value := _decoded(text)) is dict:
        yield from _of_object(_folded(value), (), text)
        return
    found = _read(text)
    for value in [text] if found is None else _bounded(found):
        if isinstance(value, dict):
            yield from _of_object(_folded(value), (), json.dumps(value, ensure_ascii=False))
        else:
            yield None, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _bounded(values: list[Any]) -> list[Any]:
    if len(values) > MOST_EVENTS:
        raise ContentError(f"The frame holds {len(values)} events; at most {MOST_EVENTS} are read.")
    return values


def _read(text: str) -> list[Any] | None:
    text = text.replace("\x1e", "\n").strip("\ufeff \t\r\n\0")
    if not text or text in {"o", "h"} or (len(text) < 20 and text.lower() in _SIGNALS):
        return []
    if text.startswith(("CONNECTED\n", "RECEIPT\n")) or _ENGINE_IO_OPENS.match(text):
        return []
    if text.startswith("MESSAGE\n"):  # STOMP
        body = text.replace("\r\n", "\n").partition("\n\n")[2]
        return _values(value) if (value := _decoded(body)) is not None else [body]
    if (named := _SOCKET_IO.match(text)) and isinstance(value := _decoded(text[named.end() :]), list):
        found = [inner for each in value[1:] for inner in _values(each) or ()]
        return found or [json.dumps(each, ensure_ascii=False) for each in value[1:]]
    text = text[1:] if text.startswith('a["') else text  # SockJS
    if not text.startswith(("{", "[", '"')):
        return None
    if (value := _decoded(text)) is not None:
        return _values(value)
    lines = [line for line in text.split("\n") if line.strip()]
    values = [_decoded(line) for line in _bounded(lines)] if len(lines) > 1 else []
    if not values or not all(isinstance(value, dict | list) for value in values):
        return None
    return [each for value in values for each in _values(value) or ()]


def _values(value: Any) -> list[Any] | None:
    if isinstance(value, dict):
        return [value]
    if isinstance(value, str):
        inner = _decoded(value) if value.lstrip()[:1] in {"{", "["} else None
        return [value] if inner is None else _values(inner)
    if not isinstance(value, list) or all(isinstance(each, dict) for each in value):
        return value if isinstance(value, list) else None
    if all(isinstance(each, str) and each.lstrip()[:1] in {"{", "["} for each in value):
        return [inner for each in value for inner in _values(_decoded(each)) or [each]]
    if any(isinstance(each, str) and each.lower() in _SIGNALS for each in value):
        return []
    return [each for each in value if isinstance(each, dict) and each][-1:] or None  # Nostr: ["EVENT", "x", {...}]


def _of_object(fields: dict[str, Any], around: Layers, raw: str) -> Iterator[tuple[Layers, str]]:
    inner = _inner(fields, first=not around) if len(around) < MOST_LAYERS else None
    if inner is None:
        yield (fields, *around), raw
    elif isinstance(inner, dict):
        yield from _of_object(inner, (fields, *around), raw)
    else:
        for each in _bounded(inner):
            yield from _of_object(_folded(each), (fields, *around), json.dumps(each, ensure_ascii=False))


def _inner(fields: dict[str, Any], *, first: bool) -> dict[str, Any] | list[dict[str, Any]] | None:
    for nest in _NESTS:
        if (value := fields.get(nest)) is None:
            continue
        if isinstance(value, str):
            value = _decoded(value) if value[:1] in {"{", "["} else None
        is_object = isinstance(value, dict)
        if not is_object and not (isinstance(value, list) and value and all(isinstance(each, dict) for each in value)):
            continue
        if (is_object and first) or not _says(fields):
            del fields[nest]
            return _folded(value) if isinstance(value, dict) else value
    objects = [name for name, value in fields.items() if type(value) is dict]
    if len(objects) == 1 and not _says(fields) and _says(inner := _folded(fields[objects[0]])):
        del fields[objects[0]]
        return inner
    return None


def _says(fields: Mapping[str, Any]) -> bool:
    return any(isinstance(value := fields.get(name), str) and value[:1] not in {"", "{", "["} for name in _SAYING)


def _folded(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name.lower().replace("_", ""): inner for name, inner in value.items()}


def _decoded(text: str) -> Any:
    """Decode JSON; None if the text is not JSON. Raises ContentError for hostile JSON."""
    try:
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, ValueError):
            return _JSON.decode(text)  # takes raw control characters too
    except RecursionError:
        raise ContentError("The JSON of the frame is nested too deeply.") from None
    except json.JSONDecodeError:
        return None
    except ValueError:
        raise ContentError("The JSON of the frame holds a number that is too long.") from None


# --- the fields ------------------------------------------------------------------------------------------------------


def _is_signal(layers: Layers, said: str) -> bool:
    """Whether an object without title and link is a ping, an acknowledgement or empty."""
    if said and not said.isdigit() and said.lower() not in _SIGNALS:
        return False
    outer = layers[-1]
    if not any(layers) or not PINGS.isdisjoint(outer):
        return True
    if "result" in outer and outer.keys() <= {"jsonrpc", "id", "result"}:
        return len(layers) == 1
    verbs = [value for fields in layers for verb in _VERBS if isinstance(value := fields.get(verb), str)]
    if len(outer) == 1 and isinstance(outer.get("type"), int):  # SignalR
        return True
    return any(verb.lower().rpartition(":")[2] in _SIGNALS for verb in verbs)


def _string(layers: Layers, names: tuple[str, ...]) -> str:
    for fields in layers:
        for name in names:
            value = fields.get(name)
            if value is None:
                continue
            if isinstance(value, dict):
                value = value.get("name") or value.get("login") or value.get("text")
            if isinstance(value, str) and (value := value.strip()):
                return value
            if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 256:
                return str(value)
    return ""
