"""Messages to the matcher."""

from __future__ import annotations

from dataclasses import dataclass

from supervision import Reply


@dataclass(frozen=True, slots=True)
class LogGrew:
    """There are new events. One message may cover several events, and one event cause several messages."""


@dataclass(frozen=True, slots=True)
class AlertsChanged:
    """Alerts or destinations were written: read them again before the next event."""

    reply: Reply[None]


MatcherMessage = LogGrew | AlertsChanged
