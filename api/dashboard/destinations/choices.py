"""The choices that destination forms share, and the display of a new secret."""

from __future__ import annotations

from api.dashboard.language.speaking import noted, say
from api.dashboard.screen import Secret, Visit
from storage.records.alert import Alert

MODES = (
    ("instant", noted("At once, each event by itself")),
    ("15min", noted("Every 15 minutes, in one digest")),
    ("hourly", noted("Every hour, in one digest")),
    ("daily", noted("Every day, in one digest")),
)
FORMATS = (
    ("event", noted("The event or digest itself")),
    ("cloudevents", noted("In an envelope of CloudEvents 1.0.2")),
)
FAMILIES = (
    ("program", noted("A program")),
    ("chat", noted("A chat")),
    ("phone", noted("A phone")),
    ("on-call", noted("On call")),
    ("mail", noted("Mail")),
)
"""Families of kinds, in display order."""
BIN = noted("Webhook bin")
"""The label of a bin created for an alert."""

CHOICES = 200
"""Alerts to choose from, the newest first."""


def signing_secret(label: str, secret: str) -> Secret:
    """Return a destination's secret, to show once."""
    return Secret(
        say("Signing secret of %(name)s", name=label),
        secret,
        say("Your receiver checks each delivery's webhook-signature with it. Keep it where the receiver can read it."),
    )


async def alert_choices(visit: Visit) -> list[tuple[str, str]]:
    """Return the choices of an alert; the first is none."""
    found: list[Alert] = sorted(
        await visit.context.storage.alerts.all(), key=lambda each: each.created_at, reverse=True
    )
    return [("", say("Choose an alert")), *((alert.id, alert.name) for alert in found[:CHOICES])]
