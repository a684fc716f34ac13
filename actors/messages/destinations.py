"""Messages to a destination's actor."""

from __future__ import annotations

from dataclasses import dataclass

from actors.messages.views import TestResult
from supervision import Reply


@dataclass(frozen=True, slots=True)
class OutboxGrew:
    """There are new rows for this destination."""


@dataclass(frozen=True, slots=True)
class TestDelivery:
    """Send one sample now; the answer has the result."""

    reply: Reply[TestResult]


DestinationMessage = OutboxGrew | TestDelivery
