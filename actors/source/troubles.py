"""What a source has to say about itself: that it began to fail, and that it works again. Pure.

Told by the flag, once for each trouble: when it falls from ok, and when it is ok again. The flag's hysteresis keeps a
source at the edge from telling the same thing over and over, and since the flag is saved in the same commit as the
notice, a restart repeats nothing.
"""

from __future__ import annotations

from actors.notices import AlertType, draft
from storage.records.event import Draft
from storage.records.health import Health
from storage.records.identity import Millis
from storage.records.source import Source


def notice(source: Source, before: Health, after: Health, at: Millis) -> Draft | None:
    """Return the notice that a change of health is, if it is one."""
    if before.flag == "ok" and after.flag != "ok" and after.down_since is not None:
        return _draft("source_failing", source, "A source is failing", after.reason, at)
    if before.flag != "ok" and after.flag == "ok":
        return _draft("source_recovered", source, "A source works again", f"Before that: {before.reason}", at)
    return None


def _draft(alert_type: AlertType, source: Source, title: str, why: str, at: Millis) -> Draft:
    return draft(alert_type, source.url, f"{title}: {source.url}", why, at, source_type=source.type)
