"""The present state of a source, as one word. Pure.

It shows how the last check went and whether checks happen. Health is different: a score over days, which a single
failed check does not lower.
"""

from __future__ import annotations

from storage.records import trail
from storage.records.source import Source, SourceRuntime
from storage.records.states import SourceState
from storage.records.trail import Verdict


def state_of(source: Source, hot: SourceRuntime, *, overdue: bool) -> SourceState:
    """Return the state of a source. overdue: `next_look_at` has passed without a check."""
    if not source.enabled:
        return "paused"
    if hot.breaker.failures or hot.breaker.state != "closed" or hot.health.down_since is not None:
        # A 404 opens the breaker at once. It will not pass, so the state is failing, not resting.
        rests = hot.breaker.state != "closed" and _last(hot) is not Verdict.REMOTE_PERMANENT
        return "resting" if rests else "failing"
    if overdue:
        return "overdue"
    if hot.last_look_at is None:
        return "new"
    if is_unrendered(source, hot):
        return "unrendered"
    return "throttled" if hot.last_error is not None and _last(hot) is Verdict.THROTTLED else "ok"


def is_unrendered(source: Source, hot: SourceRuntime) -> bool:
    """Return whether the last check failed because no browser here could render the page."""
    wants = source.is_web_page and (source.render == "always" or (source.render == "auto" and hot.rendered))
    return wants and hot.last_error is not None and _newest(hot) is Verdict.LOCAL


def _newest(hot: SourceRuntime) -> Verdict | None:
    rows = trail.read(hot.trail)
    return rows[-1].verdict if rows else None


def _last(hot: SourceRuntime) -> Verdict | None:
    """Return the verdict of the last check, skipping those that our own connection spoilt."""
    verdicts = (row.verdict for row in reversed(trail.read(hot.trail)))
    return next((verdict for verdict in verdicts if verdict is not Verdict.LOCAL), None)
