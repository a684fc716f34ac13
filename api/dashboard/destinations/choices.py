"""The choices that forms of destinations share, and the secret that a new one is shown with."""

from __future__ import annotations

from api.dashboard.screen import Secret

MODES = (
    ("instant", "At once, each event by itself"),
    ("15min", "Every 15 minutes, in one digest"),
    ("hourly", "Every hour, in one digest"),
    ("daily", "Every day, in one digest"),
)
FORMATS = (("event", "The event or digest itself"), ("cloudevents", "In an envelope of CloudEvents 1.0.2"))
FAMILIES = (
    ("program", "A program"),
    ("chat", "A chat"),
    ("phone", "A phone"),
    ("on-call", "On call"),
    ("mail", "Mail"),
)
"""Families of kinds, in the order in which they are offered."""
BIN = "Webhook bin"
"""The label of a bin that is made for an alert."""


def signing_secret(label: str, secret: str) -> Secret:
    """Return a destination's secret, to be shown once."""
    return Secret(
        f"Signing secret of {label}",
        secret,
        "Your receiver checks each delivery's webhook-signature with it. Keep it where the receiver can read it.",
    )
