"""Apps that act for people by OAuth: registered apps, codes of consents under way, and grants."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from storage.records.identity import Millis

MOST_CLIENTS: Final = 1_000
UNUSED_CLIENT: Final = Millis(86_400_000)
"""Life of an app without consent."""
FRESH_CLIENT: Final = Millis(600_000)
"""Age at which an unused app may give way to a new one."""
GRANT_LIFE: Final = Millis(90 * 86_400_000)
"""Life of a grant without renewed tokens, and of an app without grants."""
CODE_LIFE: Final = Millis(60_000)
CODE_KEPT: Final = Millis(600_000)
"""How long a used code is known, so that its second use ends the grant."""
TOKEN_LIFE: Final = Millis(3_600_000)


class OAuthClient(Struct, frozen=True):
    """An app. id: random, or the URL of its metadata document. at: when it was registered, or the document fetched."""

    id: str
    name: str
    redirects: tuple[str, ...]
    at: Millis


class OAuthGrant(Struct, frozen=True, kw_only=True):
    """A person's consent. Its access token is the API key with the same id. person: "" for the owner of the service's
    password. client: the app's id. app, host: its name and the host of its redirect URI, as the person saw them.
    resource: as of an ApiKey. last_used_at: of the access tokens.
    """

    id: str
    person: str
    client: str
    app: str
    host: str
    scopes: tuple[str, ...]
    resource: str
    created_at: Millis
    last_used_at: Millis | None = None


class OAuthCode(Struct, frozen=True, kw_only=True):
    """An authorization code: its SHA-256, and the grant that it makes. challenge: of PKCE (S256)."""

    sha256: str
    at: Millis
    redirect: str
    challenge: str
    grant: OAuthGrant

    def __repr__(self) -> str:
        return f"OAuthCode(of {self.grant.id!r})"


class RefreshToken(Struct, frozen=True):
    """The SHA-256 of both halves of a refresh token. A grant keeps its family; each renewal makes a new turn."""

    family: str
    turn: str
