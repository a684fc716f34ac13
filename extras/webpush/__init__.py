"""Notifications on a subscribed phone or computer, through its browser's push service: the destination kind `webpush`.

`kind.py` is the row, `key.py` the key that push services know, `encryption.py` the cryptography, `devices.py` the panel
in the dashboard's Settings. The library is imported only to notify a device, since it takes 11 MB. No setting switches
it: the service imports the rest when it starts.
"""

from __future__ import annotations

from actors.extras import Extra, calling, member

EXTRA = Extra(
    kinds=calling("extras.webpush.kind", "kinds"),
    screens=member("extras.webpush.devices", "SCREENS"),
    panels=lambda: {"/settings": member("extras.webpush.devices", "devices")()},
    templates=__name__,
)
