"""Several people with access: invitations, roles, second factors, a proxy's or issuer's sign-in, apps, and activity.

`operations.py` has the routes of the API, `screens.py` the pages, `signing_in.py` the sign-in form, joining and second
factors, `proxy.py` the sign-in by a header. All ways to sign in end in `entry.py`. `recording.py` writes the activity.
Roles are sets of the scopes of keys, so the core's own checks are the only gate. No setting switches it: the service
imports it when it starts, and without people nothing changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from actors.extras import Extra, calling, member, members

if TYPE_CHECKING:
    from api.dashboard.screen import Screen


def _screens() -> Sequence[Screen]:
    modules = ("screens", "signing_in", "proxy", "oidc.screens", "oauth.screens")
    return [screen for name in modules for screen in member(f"{__name__}.{name}", "SCREENS")()]


EXTRA = Extra(
    commands=members(f"{__name__}.commands", "people"),
    routes=lambda: {
        "people": member(f"{__name__}.operations", "ROUTES")(),
        "apps": member(f"{__name__}.oauth.operations", "ROUTES")(),
    },
    screens=_screens,
    templates=__name__,
    panels=lambda: {
        "/settings": member(f"{__name__}.signing_in", "panel")(),
        "/sign-in": member(f"{__name__}.oidc.screens", "button")(),
    },
    ports=calling(f"{__name__}.oidc.secret", "ports"),
    endpoints=calling(f"{__name__}.oauth.endpoint", "endpoints"),
    recorder=calling(f"{__name__}.recording", "recorder"),
    sign_in=calling(f"{__name__}.signing_in", "sign_in"),
    gate=calling(f"{__name__}.proxy", "gate"),
)
