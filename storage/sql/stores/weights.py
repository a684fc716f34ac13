"""Fast sizes of sources in the log: events are counted in the index, bytes estimated from the newest events.

Adding up all bodies would read a page of the file for each (`sanderling sources sizes` does). Here a source costs its
range of the index and a few pages.
"""

from __future__ import annotations

from collections.abc import Mapping

from storage.records.event import SourceSize
from storage.records.identity import SourceId
from storage.secrets.connection import Connection

SAMPLE = 50
"""Newest events of a source whose bodies are measured."""
MEASURED = 200
"""Sources with most events, among which the heaviest are found."""
_KEY = "SELECT key FROM source_key WHERE id=?"
_COUNT = "SELECT count(*) FROM log WHERE source=?"
_MEAN = "SELECT avg(length(body)) FROM (SELECT body FROM log WHERE source=? ORDER BY seq DESC LIMIT ?) newest"
_COUNTS = """SELECT k.id, l.source, l.events FROM (
    SELECT source, count(*) AS events FROM log GROUP BY source ORDER BY events DESC, source LIMIT ?
) l JOIN source_key k ON k.key=l.source"""


def held(connection: Connection, source: SourceId) -> SourceSize:
    key = connection.execute(_KEY, (source,)).fetchone()
    if key is None:
        return SourceSize(0, 0)
    (events,) = connection.execute(_COUNT, key).fetchone()
    return _reckoned(connection, key[0], events)


def heaviest(connection: Connection, limit: int) -> Mapping[SourceId, SourceSize]:
    """Return the sources with most bytes in the log, heaviest first."""
    counted = connection.execute(_COUNTS, (max(limit, MEASURED),)).fetchall()
    found = {SourceId(id): _reckoned(connection, key, events) for id, key, events in counted}
    ranked = sorted(found.items(), key=lambda item: (-item[1].bytes, item[0]))
    return dict(ranked[:limit])


def _reckoned(connection: Connection, key: int, events: int) -> SourceSize:
    (mean,) = connection.execute(_MEAN, (key, SAMPLE)).fetchone()
    return SourceSize(events, round(events * (mean or 0)))
