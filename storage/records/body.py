"""What storage itself reads out of an event's stored body: its id and its tags, and nothing else.

The body is the exact signed wire JSON, so it is the one truth about an event; no column repeats what it says unless SQL
filters on it. Skipping the other fields costs a tenth of decoding them.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct


class Head(Struct, frozen=True, gc=False):
    """The two fields of a body that storage needs."""

    id: str = ""
    tags: tuple[str, ...] = ()


_decode = msgspec.json.Decoder(Head).decode


def head_of(body: bytes) -> Head:
    """Return a body's id and tags. Raises msgspec.DecodeError when it is not the JSON of an event.

    >>> head_of(b'{"content":"...","id":"x","tags":["topic:a"]}')
    Head(id='x', tags=('topic:a',))
    """
    return _decode(body)
