"""The client's secret at the issuer, from its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from actors.settings import Settings
from extras.people.settings import PeopleSettings
from sanderling.exits import CommandFailed, Exit

LARGEST = 4_096


class BadSecret(Exception):
    """The file has no secret; the text says why."""


def client_secret(settings: PeopleSettings) -> str:
    """Return the secret. It is read each time: it may be replaced while the service runs. Raises BadSecret."""
    try:
        with Path(settings.oidc_client_secret_file).open("rb") as opened:
            secret = opened.read(LARGEST).decode("utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        says = getattr(error, "strerror", None) or error
        raise BadSecret(f"oidc_client_secret_file can't be read: {says}") from None
    if not secret:
        raise BadSecret("oidc_client_secret_file is empty")
    return secret


def ports(settings: Settings, log: Callable[..., None]) -> Mapping[str, Any]:
    """Refuse to start without the secret. Replaces no part of the World. Raises CommandFailed (BAD_SETTING)."""
    ours = settings.of(PeopleSettings)
    if ours.oidc_issuer:
        try:
            client_secret(ours)
        except BadSecret as error:
            raise CommandFailed(f"{error}.", Exit.BAD_SETTING) from None
    return {}
