"""The fields that storage itself reads out of an event's stored body: its id, tags and story, and nothing else.

The body is the exact signed wire JSON, so it is the one truth about an event; no column repeats what it says unless SQL
filters on it. Skipping the other fields costs a fraction of decoding them.
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
    """Return an event's id. Raises msgspec.DecodeError or UnicodeDecodeError when the body is not the JSON of an event.

    >>> id_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    'x'
    """
    return _decode_id(body).id


def story_in(body: bytes, seq: Seq) -> Seq:
    """Return the position of the first event of an event's story; `seq`, its own, where none is said."""
    story = _decode_story(body).story
    return seq_of(story) if story else seq


def first_seq_in(body: bytes, seq: Seq) -> Seq:
    """Return the position of the first event in a digest; `seq`, its own row's, when there is none to be read."""
    try:
        return seq_of(_decode_events(body).events[0].id)
    except (msgspec.MsgspecError, ValueError, IndexError):
        return seq


def tags_in(body: bytes) -> tuple[str, ...]:
    """Return an event's tags. Raises msgspec.DecodeError or UnicodeDecodeError when it is not the JSON of one.

    >>> tags_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    ('topic:a',)
    """
    return _decode_tags(body).tags
