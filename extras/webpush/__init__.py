"""Notifications on a subscribed phone or computer, through its browser's push service: the destination kind `webpush`.

`kind.py` is the row, `encryption.py` the cryptography, `devices.py` the panel in the dashboard's Settings. The library
is imported only to notify a device, since it takes 11 MB. No setting switches it: the service imports the rest when it
starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from actors.extras import Extra

if TYPE_CHECKING:
    from actors.destination_kinds.kind import DestinationKind, Service
    from actors.notification.speech import Speech
    from api.dashboard.screen import Panel, Screen


def _kinds(speech: Speech, service: Service | None) -> Sequence[DestinationKind]:
    from extras.webpush.kind import NO_PUSH, push_of, webpush_kind

    return (webpush_kind(NO_PUSH if service is None else push_of(service), speech),)


def _screens() -> Sequence[Screen]:
    from extras.webpush.devices import SCREENS

    return SCREENS


def _panels() -> Mapping[str, Panel]:
    from extras.webpush.devices import devices

    return {"/settings": devices}


EXTRA = Extra(kinds=_kinds, screens=_screens, panels=_panels, templates=__name__)
