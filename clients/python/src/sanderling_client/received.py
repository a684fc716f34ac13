"""One event of a stream, as it came."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from sanderling_client.calling import decoded
from sanderling_client.records import Event


class Received(NamedTuple):
    """One event of a stream, as it came. `data` is the JSON that was signed."""

    id: str
    type: str
    data: str

    @property
    def event(self) -> Event:
        """The event as a record. `document` has the fields of later versions too."""
        found: Event = decoded(self.data.encode(), (Event,))
        return found

    @property
    def document(self) -> dict[str, Any]:
        """The event as plain JSON."""
        return dict(msgspec.json.decode(self.data))
