"""The fields that storage reads from an event's stored body: id, tags and story.

The body is the exact signed wire JSON and the only source of truth. A column repeats a field only if SQL filters on it.
Decoding only these fields costs a fraction of decoding the event.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from storage.records.identity import Seq, seq_of


class _Id(Struct, gc=False):
    id: str = ""


class _Tags(Struct, gc=False):
    tags: tuple[str, ...] = ()


class _Story(Struct, gc=False):
    story: str = ""


class _Events(Struct, gc=False):
    events: list[_Id] = []


_decode_events = msgspec.json.Decoder(_Events).decode
_decode_id = msgspec.json.Decoder(_Id).decode
_decode_story = msgspec.json.Decoder(_Story).decode
_decode_tags = msgspec.json.Decoder(_Tags).decode


def id_in(body: bytes) -> str:
    """Return an event's id. Raises msgspec.DecodeError or UnicodeDecodeError if the body is not an event's JSON.

    >>> id_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    'x'
    """
    return _decode_id(body).id


def story_in(body: bytes, seq: Seq) -> Seq:
    """Return the position of the first event of the story; `seq` (the event's position) if the body names no story."""
    story = _decode_story(body).story
    return seq_of(story) if story else seq


def first_seq_in(body: bytes, seq: Seq) -> Seq:
    """Return the position of the first event of a digest; `seq` if the body has none that is readable."""
    try:
        return seq_of(_decode_events(body).events[0].id)
    except (msgspec.MsgspecError, ValueError, IndexError):
        return seq


def tags_in(body: bytes) -> tuple[str, ...]:
    """Return an event's tags. Raises msgspec.DecodeError or UnicodeDecodeError if the body is not an event's JSON.

    >>> tags_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    ('topic:a',)
    """
    return _decode_tags(body).tags
