"""An issuer of OpenID Connect from PyPI, on loopback. Arguments: its port, and the address of our callback.

A separate environment runs it: Canaille and its packages are not among ours.
"""

from __future__ import annotations

import sys
from urllib.parse import urljoin

from canaille import create_app  # type: ignore[import-not-found]
from canaille.app import models  # type: ignore[import-not-found]
from canaille.backends import Backend  # type: ignore[import-not-found]

port, redirect = sys.argv[1:]
app = create_app(
    {
        "SECRET_KEY": "not a secret",
        "SERVER_NAME": f"127.0.0.1:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "TESTING": True,
        "CANAILLE": {"DATABASE": "memory"},
        "CANAILLE_OIDC": {"TRUSTED_DOMAINS": []},
    }
)
with app.app_context():
    kept = Backend.instance
    people = {}
    for name in ("ada", "bo"):
        named = {"user_name": name, "formatted_name": f"{name} of PyPI", "family_name": name}
        people[name] = models.User(emails=[f"{name}@pypi.test"], password=name, **named)
    for person in people.values():
        kept.save(person)
    for group in ("gulls", "keepers"):
        kept.save(models.Group(display_name=group, members=[people["ada"]]))
    client = models.Client(
        client_id="sanderling",
        client_secret="a-long-secret-of-the-client",
        client_name="Sanderling",
        client_uri="http://127.0.0.1",
        redirect_uris=[redirect],
        post_logout_redirect_uris=[urljoin(redirect, "/sign-in")],
        grant_types=["authorization_code"],
        response_types=["code"],
        token_endpoint_auth_method="client_secret_basic",
        scope=["openid", "profile", "email", "groups"],
    )
    kept.save(client)
    client.audience = [client]
    kept.save(client)
print("ready", flush=True)
app.run("127.0.0.1", int(port), threaded=True)
