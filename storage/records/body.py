"""What storage itself reads out of an event's stored body: its id and its tags, and nothing else.

The body is the exact signed wire JSON, so it is the one truth about an event; no column repeats what it says unless SQL
filters on it. Skipping the other fields costs a fraction of decoding them.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct


class _Id(Struct, gc=False):
    id: str = ""


class _Tags(Struct, gc=False):
    tags: tuple[str, ...] = ()


_decode_id = msgspec.json.Decoder(_Id).decode
_decode_tags = msgspec.json.Decoder(_Tags).decode


def id_in(body: bytes) -> str:
    """Return an event's id. Raises msgspec.DecodeError when the body is not the JSON of an event.

    >>> id_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    'x'
    """
    return _decode_id(body).id


def tags_in(body: bytes) -> tuple[str, ...]:
    """Return an event's tags. Raises msgspec.DecodeError when the body is not the JSON of an event.

    >>> tags_in(b'{"content":"...","id":"x","tags":["topic:a"]}')
    ('topic:a',)
    """
    return _decode_tags(body).tags
