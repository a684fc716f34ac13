"""Apps: their registration (RFC 7591), metadata documents at an https URL, and redirect URIs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

import msgspec
import trio
from msgspec import Meta, Struct

from actors.app_context import AppContext
from actors.egress.failures import CheckFailed
from actors.egress.http import FetchRequest, RedirectElsewhere
from actors.egress.traffic import network_transport
from actors.egress.url import parse_url
from actors.errors import DomainError
from actors.language.speaking import noted
from storage.records.grant import OAuthClient
from storage.records.identity import Millis

DOCUMENT_LIFE = 600_000
"""Milliseconds until a metadata document is fetched again."""
DOCUMENT_LIMIT = 16 << 10
DOCUMENT_TIME = 10.0
"""Seconds for the fetch: a person waits for the page."""
NAME_LENGTH = 80
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_URI = re.compile(r"[!$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]{1,2048}", re.ASCII)


class ClientRefused(ValueError):
    """An unusable app. The message is a sentence; error: the code of RFC 7591, 3.2.2."""

    def __init__(self, says: str, error: str = "invalid_client_metadata") -> None:
        super().__init__(says)
        self.error = error


class ClientMetadata(Struct, frozen=True):
    """An app's metadata. Other fields are ignored, as RFC 7591 requires."""

    redirect_uris: Annotated[tuple[str, ...], Meta(min_length=1, max_length=10)]
    client_name: str = ""
    client_id: str = ""
    token_endpoint_auth_method: str = "none"  # noqa: S105 - a method
    grant_types: tuple[str, ...] = ("authorization_code",)
    response_types: tuple[str, ...] = ("code",)


def client_in(raw: bytes, id: str, now: Millis) -> OAuthClient:
    """Raises ClientRefused. Apps are public: a registration's other method becomes `none` (RFC 7591, 3.2.1)."""
    try:
        found = msgspec.json.decode(raw, type=ClientMetadata)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ClientRefused(f"The metadata is invalid: {error}.") from None
    for uri in found.redirect_uris:
        check_redirect(uri)
    if "authorization_code" not in found.grant_types or "code" not in found.response_types:
        raise ClientRefused("The only flow is authorization_code, with response_type code.")
    name = " ".join("".join(sign if sign.isprintable() else " " for sign in found.client_name).split())
    return OAuthClient(id, name[:NAME_LENGTH] or host_of(found.redirect_uris[0]), found.redirect_uris, now)


def check_redirect(uri: str) -> None:
    """Refuse a redirect URI unless it is https, or http on the app's own machine (RFC 8252, 7.3)."""
    split = _split(uri)
    local = split is not None and split.scheme == "http" and split.hostname in _LOOPBACK
    if split is None or not (split.scheme == "https" or local):
        says = f"{uri[:200]!a} is no redirect URI: use https, or http on 127.0.0.1, [::1] or localhost, no fragment."
        raise ClientRefused(says, "invalid_redirect_uri")


def matches(given: str, registered: Sequence[str]) -> bool:
    """Return whether a redirect URI is one of the registered ones. Only on the app's own machine may its port differ.

    >>> matches("https://a.test/back", ["https://a.test/back"]), matches("https://a.test/back/x", ["https://a.test/back"])
    (True, False)
    >>> matches("http://127.0.0.1:4000/x", ["http://127.0.0.1/x"]), matches("http://localhost:1/x", ["http://[::1]/x"])
    (True, False)
    """
    if given in registered:
        return True
    local = _without_port(given)
    return local is not None and any(local == _without_port(one) for one in registered)


def _without_port(uri: str) -> tuple[str | None, str, str] | None:
    split = _split(uri)
    if split is None or split.scheme != "http" or split.hostname not in _LOOPBACK:
        return None
    return split.hostname, split.path, split.query


def _split(uri: str) -> SplitResult | None:
    if not _URI.fullmatch(uri):
        return None
    try:
        split = urlsplit(uri)
        split.port  # noqa: B018 - raises ValueError
    except ValueError:
        return None
    return split if split.hostname and "@" not in split.netloc else None


def host_of(uri: str) -> str:
    return urlsplit(uri).netloc


def is_document(client_id: str) -> bool:
    """Return whether a client id is the URL of a metadata document.

    >>> is_document("https://a.test/app.json"), is_document("https://a.test/"), is_document("https://a.test/x/../y")
    (True, False, False)
    """
    split = _split(client_id)
    if split is None or split.scheme != "https" or split.path in ("", "/"):
        return False
    return not {".", ".."} & set(split.path.split("/"))


async def named(context: AppContext, client_id: str) -> OAuthClient:
    """Raises ClientRefused. An id may be a URL; only a signed-in person's request comes here and makes us fetch."""
    now, stored = context.world.now(), await context.storage.oauth.client(client_id)
    if not is_document(client_id):
        if stored is None:
            raise ClientRefused(
                noted("This app is not registered here, or was forgotten after 90 days. Connect it again.")
            )
        return stored
    if stored is not None and stored.at > now - DOCUMENT_LIFE:
        return stored
    found = client_in(await _fetched(context, client_id), client_id, now)
    if not await context.storage.oauth.put_client(found, now):
        raise ClientRefused(noted("Too many apps have registered here. Try again in ten minutes."))
    return found


async def _fetched(context: AppContext, url: str) -> bytes:
    """Return a metadata document that names its own URL. Redirects are not followed. Raises ClientRefused."""
    way = network_transport(context.world, context.settings, (), "")
    try:
        with trio.fail_after(DOCUMENT_TIME):
            wish = FetchRequest(parse_url(url, schemes=("https",)), accept="application/json", limit=DOCUMENT_LIMIT)
            body = (await way.deliver.get(wish)).body
        named = msgspec.json.decode(body, type=ClientMetadata)
    except (CheckFailed, DomainError, RedirectElsewhere, trio.TooSlowError, msgspec.MsgspecError, UnicodeDecodeError):
        raise ClientRefused(noted("The app's metadata document could not be fetched, or is invalid.")) from None
    finally:
        await way.aclose()
    if named.client_id != url or named.token_endpoint_auth_method != "none":  # noqa: S105 - a method
        raise ClientRefused(noted("The app's metadata document has another client_id, or asks for a secret."))
    return body
