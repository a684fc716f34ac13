"""The replica's location, from the settings."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from actors.egress.sockets import public_trust, trusting
from actors.settings import Settings
from sanderling.exits import CommandFailed, Exit
from sanderling.s3_objects import Bucket, Credentials, S3Objects
from storage.objects import NAME, FolderObjects, Objects

S3 = "s3://"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_LINE = re.compile(r"\s*(aws_access_key_id|aws_secret_access_key)\s*=\s*(\S+)\s*")


def replica_of(settings: Settings, clock: Callable[[], float]) -> Objects:
    """Raises CommandFailed."""
    if not settings.replica.startswith(S3):
        return FolderObjects(Path(settings.replica))
    bucket, _, prefix = settings.replica.removeprefix(S3).strip("/").partition("/")
    if not _BUCKET.fullmatch(bucket) or (prefix and not NAME.fullmatch(prefix)):
        raise CommandFailed(
            f"replica = {settings.replica}: write s3://bucket/prefix, the prefix of small letters, digits and hyphens.",
            Exit.BAD_SETTING,
        )
    endpoint = settings.replica_endpoint.rstrip("/") or f"https://s3.{settings.replica_region}.amazonaws.com"
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.username:
        raise CommandFailed(
            f"replica_endpoint = {settings.replica_endpoint}: write https://host or https://host:port.",
            Exit.BAD_SETTING,
        )
    try:
        trust = trusting(settings.tls_trust)() if settings.tls_trust else public_trust()
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{settings.tls_trust}: {error} (tls_trust).", Exit.BAD_SETTING) from None
    client = httpx.AsyncClient(verify=trust, trust_env=False, follow_redirects=False)
    return S3Objects(Bucket(endpoint, settings.replica_region, bucket, prefix), _credentials(settings), clock, client)


def _credentials(settings: Settings) -> Credentials:
    name = settings.replica_credentials
    if not name:
        raise CommandFailed(
            f"replica = {settings.replica} needs replica_credentials: a file with aws_access_key_id = ... and "
            "aws_secret_access_key = ...",
            Exit.BAD_SETTING,
        )
    try:
        if stat.S_IMODE(os.stat(name).st_mode) & 0o007:
            raise CommandFailed(f"{name}: is open to everybody: chmod o-rwx {name}", Exit.BAD_SETTING)
        text = Path(name).read_text("utf-8", errors="replace")
    except OSError as error:
        raise CommandFailed(f"{name}: {error.strerror or error} (replica_credentials).", Exit.BAD_SETTING) from None
    found = {match[1]: match[2] for line in text.splitlines() if (match := _LINE.fullmatch(line))}
    try:
        return Credentials(found["aws_access_key_id"], found["aws_secret_access_key"])
    except KeyError as error:
        raise CommandFailed(f"{name}: has no line {error.args[0]} = ...", Exit.BAD_SETTING) from None
