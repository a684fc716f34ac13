"""What a source has to say about itself: that it fails, that it has gone quiet, that all is well again. Pure.

Told by the flag, once for each trouble: when it falls from ok, and when it is ok again. The flag's hysteresis keeps a
source at the edge from telling the same thing over and over, and since the flag is saved in the same commit as the
notice, a restart repeats nothing.
"""

from __future__ import annotations

from actors.notices import AlertType, draft
from actors.source.health import quiet_notice
from storage.records.event import Draft
from storage.records.health import Health
from storage.records.identity import Millis
from storage.records.source import Source

_TITLES: dict[AlertType, str] = {
    "source_failing": "A source is failing",
    "source_quiet": "A source has gone quiet",
    "source_recovered": "A source works again",
}


def notice(source: Source, before: Health, after: Health, at: Millis) -> Draft | None:
    """Return the notice that a change of health is, if it is one."""
    kind = quiet_notice(before, after)
    if kind is None:
        return None
    title = f"{_TITLES[kind]}: {source.url}"
    says = f"Before that: {before.reason}" if kind == "source_recovered" else after.reason
    return draft(kind, source.url, title, says, at, source_type=source.type)
