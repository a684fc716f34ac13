"""Several people with access: invitations, roles, second factors, sign-in by a proxy, and who changed what.

`operations.py` has the routes of the API, `screens.py` the pages of the dashboard, `entry.py` opens a person's session
for all ways to sign in. Roles are sets of the scopes of keys, so the core's own checks are the only gate. No setting
switches it: the service imports it when it starts, and without people nothing changes.
"""

from __future__ import annotations

from actors.extras import Extra, calling, member

EXTRA = Extra(
    routes=lambda: {"people": member("extras.people.operations", "ROUTES")()},
    screens=lambda: (*member("extras.people.oidc.screens", "SCREENS")(),),
    panels=lambda: {"/sign-in": member("extras.people.oidc.screens", "button")()},
    templates=__name__,
    ports=calling("extras.people.oidc.secret", "ports"),
)
