"""The row of the kind `webhook`."""

from __future__ import annotations

from typing import Final

from actors.destination_kinds.addresses import admit
from actors.destination_kinds.fields import AddressField, KindField
from actors.destination_kinds.kind import DestinationKind
from actors.destination_kinds.webhook import sending
from actors.destination_kinds.webhook.access import check_access
from storage.records.destination import WEBHOOK

KIND: Final = DestinationKind(
    id=WEBHOOK,
    label="Webhook",
    family="program",
    where="A program of yours that takes a POST. docs/receivers.md has complete ones to start from.",
    documentation="https://www.standardwebhooks.com/",
    address=AddressField(
        label="Its address",
        help="Public https, that takes a POST. It is checked now and at every delivery.",
        example="https://hooks.example.com/sanderling",
    ),
    fields=(
        KindField(
            name="token",
            label="Bearer token",
            help="If the receiver asks for one: it is sent as Authorization: Bearer.",
            private=True,
            required=False,
            pattern=r"[\x21-\x7e]+",
        ),
        KindField(name="username", label="User name", help="For basic authentication.", required=False),
        KindField(name="password", label="Password", private=True, required=False),
        KindField(
            name="headers",
            label="More headers",
            help="One on a line, as Name: value. They are sealed, and never shown again.",
            example="X-Api-Key: 1b2c3d",
            private=True,
            required=False,
            lines=True,
        ),
    ),
    admit=admit,
    new_secret=sending.new_secret,
    send=sending.send,
    check=check_access,
)
