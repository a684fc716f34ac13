"""The settings of people: how a proxy or an issuer signs them in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from actors.settings import ExtraSettings, Settings, networks, one_of, setting
from storage.records.access import Role

_ROLES = get_args(Role)
_ISSUER = re.compile(r"https?://[^\s?#@]+")


def _header(name: str, value: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9-]+", value):
        raise ValueError(f"{name} = {value!r}: write the name of a header, such as Remote-User")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSettings(ExtraSettings):
    """The proxy's headers, the issuer, and the roles that their groups give."""

    auth_header: str = setting("", check=_header)
    auth_header_name: str = setting("Remote-Name", check=_header)
    auth_header_email: str = setting("Remote-Email", check=_header)
    auth_header_groups: str = setting("Remote-Groups", check=_header)
    auth_roles: tuple[str, ...] = setting(())
    auth_default_role: str = setting("")

    oidc_issuer: str = setting("")
    oidc_client_id: str = setting("")
    oidc_client_secret_file: str = setting("")
    oidc_scopes: tuple[str, ...] = setting(("openid", "profile", "email"))
    oidc_groups_claim: str = setting("groups")
    oidc_reader_groups: tuple[str, ...] = setting(())
    oidc_editor_groups: tuple[str, ...] = setting(())
    oidc_owner_groups: tuple[str, ...] = setting(())
    oidc_default_role: str = setting("", choices=("", *_ROLES))
    oidc_name: str = setting("")
    oidc_networks: tuple[str, ...] = setting((), check=networks, reached="asked as the issuer of sign-ins")

    def check(self, settings: Settings) -> None:
        for role in (*(text.rpartition("=")[2].strip() for text in self.auth_roles), self.auth_default_role or "owner"):
            if role not in _ROLES:
                raise ValueError(f"auth_roles, auth_default_role: {role!r} is no role: write {one_of(_ROLES)}")
        if self.auth_header and not settings.trusted_proxies:
            says = "auth_header is set and trusted_proxies is not: anyone could send the header. Name the proxy"
            raise ValueError(says)
        if self.auth_header and not (self.auth_roles or self.auth_default_role):
            raise ValueError("auth_header is set, auth_roles and auth_default_role are not: nobody would have a role")
        self._check_issuer()

    def _check_issuer(self) -> None:
        needed = ("oidc_issuer", "oidc_client_id", "oidc_client_secret_file")
        more = ("oidc_reader_groups", "oidc_editor_groups", "oidc_owner_groups", "oidc_default_role", "oidc_name")
        given = [name for name in (*needed, *more, "oidc_networks") if getattr(self, name)]
        missing = [name for name in needed if not getattr(self, name)]
        if given and missing:
            raise ValueError(f"{given[0]} is set and {missing[0]} is not: sign-in with OpenID Connect needs both")
        if not given:
            return
        if not _ISSUER.fullmatch(self.oidc_issuer):
            raise ValueError(f"oidc_issuer = {self.oidc_issuer!r}: write https://, without ? and #")
        if self.oidc_issuer.startswith("http://") and not self.oidc_networks:
            raise ValueError("oidc_issuer is of http and oidc_networks is not set: only an opened network is asked so")
        if "openid" not in self.oidc_scopes:
            raise ValueError("oidc_scopes: openid is missing")
