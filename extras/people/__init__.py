"""Several people with access: invitations, roles, second factors, a proxy's or issuer's sign-in, apps, and activity.

`operations.py` has the routes of the API, `screens.py` the pages of the dashboard, `entry.py` opens a person's session
for all ways to sign in. Roles are sets of the scopes of keys, so the core's own checks are the only gate. No setting
switches it: the service imports it when it starts, and without people nothing changes.
"""

from __future__ import annotations

from actors.extras import Extra, calling, member

EXTRA = Extra(
    routes=lambda: {
        "people": member("extras.people.operations", "ROUTES")(),
        "apps": member("extras.people.oauth.operations", "ROUTES")(),
    },
    screens=lambda: (
        *member("extras.people.oidc.screens", "SCREENS")(),
        *member("extras.people.oauth.screens", "SCREENS")(),
    ),
    panels=lambda: {"/sign-in": member("extras.people.oidc.screens", "button")()},
    templates=__name__,
    ports=calling("extras.people.oidc.secret", "ports"),
    endpoints=calling("extras.people.oauth.endpoint", "endpoints"),
)
