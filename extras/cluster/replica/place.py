"""The replica's place, from the settings: a folder, or an S3 bucket on AWS or a compatible server (MinIO, Garage, R2).

A bucket gets four kinds of requests, each signed by AWS Signature Version 4 (docs.aws.amazon.com, "Create a signed AWS
API request"). The bucket is in the path, which all these servers accept.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import stat
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import quote, urlsplit

import httpx

from actors.egress.transport import public_trust, trusting
from actors.settings import Settings
from extras.cluster.replica.log import NAME, FolderObjects, Objects, ObjectsAway
from extras.cluster.replica.shipping import REPLICA
from extras.cluster.settings import ClusterSettings
from sanderling.data_folder import named_vault
from sanderling.exits import CommandFailed, Exit
from storage.sqlite.master_key import own_keys

S3 = "s3://"
WITHIN = 30.0  # seconds allowed per request
MOST = 64 << 20
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_LINE = re.compile(r"\s*(aws_access_key_id|aws_secret_access_key)\s*=\s*(\S+)\s*")
_SIGNED = "host;x-amz-content-sha256;x-amz-date"
_ERROR = re.compile(r"<(Code|Message)>([^<]{1,300})</")
_KEY = re.compile(r"<Key>([^<]*)</Key>")
_TOKEN = re.compile(r"<NextContinuationToken>([^<]+)</NextContinuationToken>")


def replica_of(settings: Settings, clock: Callable[[], float]) -> Objects:
    """Raises CommandFailed."""
    ours = settings.of(ClusterSettings)
    if not ours.replica.startswith(S3):
        return FolderObjects(Path(ours.replica))
    bucket, _, prefix = ours.replica.removeprefix(S3).strip("/").partition("/")
    if not _BUCKET.fullmatch(bucket) or (prefix and not NAME.fullmatch(prefix)):
        says = f"replica = {ours.replica}: write s3://bucket/prefix, the prefix of small letters, digits and hyphens."
        raise CommandFailed(says, Exit.BAD_SETTING)
    endpoint = ours.replica_endpoint.rstrip("/") or f"https://s3.{ours.replica_region}.amazonaws.com"
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.username:
        raise CommandFailed(
            f"replica_endpoint = {ours.replica_endpoint}: write https://host or https://host:port.", Exit.BAD_SETTING
        )
    try:
        trust = trusting(settings.tls_trust)() if settings.tls_trust else public_trust()
    except (OSError, ValueError) as error:
        raise CommandFailed(f"{settings.tls_trust}: {error} (tls_trust).", Exit.BAD_SETTING) from None
    client = httpx.AsyncClient(verify=trust, trust_env=False, follow_redirects=False)
    return S3Objects(Bucket(endpoint, ours.replica_region, bucket, prefix), _credentials(ours), clock, client)


def replica_keys(folder: Path, variables: Mapping[str, str]) -> list[bytes]:
    """Return MAC keys: of the named master key and the folder's own. Raises CommandFailed, NoKey, OSError."""
    vaults = (named_vault(variables), *own_keys(folder).values())
    return [vault.mac_key(REPLICA) for vault in vaults if vault is not None]


def _credentials(ours: ClusterSettings) -> Credentials:
    name = ours.replica_credentials
    if not name:
        raise CommandFailed(
            f"replica = {ours.replica} needs replica_credentials: a file with aws_access_key_id = ... and "
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


class Bucket(NamedTuple):
    """A location: server, region, bucket, and the prefix of object names ("" or a/b)."""

    endpoint: str
    region: str
    bucket: str
    prefix: str


class Credentials(NamedTuple):
    """The AWS key pair, never shown."""

    id: str
    secret: str

    def __repr__(self) -> str:
        return "Credentials(...)"


class S3Objects(Objects):
    """S3 as Objects. client: owned, closed with it. clock: wall clock in seconds, for signatures."""

    every = 1.0

    def __init__(
        self, bucket: Bucket, credentials: Credentials, clock: Callable[[], float], client: httpx.AsyncClient
    ) -> None:
        self._bucket, self._credentials, self._clock = bucket, credentials, clock
        self._host = urlsplit(bucket.endpoint).netloc
        self._client = client

    def __repr__(self) -> str:
        return f"<S3Objects {self._bucket.endpoint}/{self._bucket.bucket}/{self._bucket.prefix}>"

    async def put(self, name: str, body: bytes) -> None:
        await self._asked("PUT", self._path(name), body=body)

    async def get(self, name: str) -> bytes | None:
        return await self._asked("GET", self._path(name), absent=True)

    async def delete(self, name: str) -> None:
        await self._asked("DELETE", self._path(name), absent=True)

    async def names(self) -> Sequence[str]:
        begins = f"{self._bucket.prefix}/" if self._bucket.prefix else ""
        found: list[str] = []
        query = {"list-type": "2", "prefix": begins}
        while True:
            text = (await self._asked("GET", f"/{self._bucket.bucket}", query=query) or b"").decode(errors="replace")
            names = (unescape(key).removeprefix(begins) for key in _KEY.findall(text))
            found += [name for name in names if NAME.fullmatch(name)]
            token = _TOKEN.search(text)
            if token is None:
                return sorted(found)
            query = {"continuation-token": unescape(token[1]), "list-type": "2", "prefix": begins}

    async def aclose(self) -> None:
        await self._client.aclose()

    async def _read(self, answer: httpx.Response) -> bytearray:
        found = bytearray()
        async with aclosing(cast("AsyncGenerator[bytes]", answer.aiter_bytes())) as chunks:
            async for chunk in chunks:
                found += chunk
                if len(found) > MOST:
                    raise ObjectsAway(f"{self._host}: answers more than {MOST >> 20} MB")
        return found

    def _path(self, name: str) -> str:
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of an object")
        return "/" + "/".join(filter(None, (self._bucket.bucket, self._bucket.prefix, name)))

    async def _asked(
        self, method: str, path: str, *, query: Mapping[str, str] | None = None, body: bytes = b"", absent: bool = False
    ) -> bytes | None:
        """Return the response body; None for a missing object if `absent` is set. Raises ObjectsAway."""
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in sorted((query or {}).items()))
        headers = signed(
            method,
            self._host,
            quote(path),
            asked,
            hashlib.sha256(body).hexdigest(),
            region=self._bucket.region,
            credentials=self._credentials,
            at=datetime.fromtimestamp(self._clock(), UTC),
        )
        url = f"{self._bucket.endpoint}{quote(path)}{'?' if asked else ''}{asked}"
        try:
            async with self._client.stream(
                method, url, headers=headers, content=body or None, timeout=WITHIN
            ) as answer:
                found = await self._read(answer)
        except httpx.HTTPError as error:
            raise ObjectsAway(f"{self._host}: {str(error) or type(error).__name__}") from None
        if answer.is_success:
            return bytes(found)
        said = dict(_ERROR.findall(found[:10_000].decode(errors="replace")))
        if answer.status_code == 404 and absent and said.get("Code") != "NoSuchBucket":
            return None
        words = " ".join(filter(None, (str(answer.status_code), said.get("Code"), said.get("Message"))))
        raise ObjectsAway(f"{self._host} answers {unescape(words)}")


def signed(
    method: str, host: str, path: str, query: str, hash: str, *, region: str, credentials: Credentials, at: datetime
) -> dict[str, str]:
    """Return the headers of a signed request. path, query: encoded as sent. hash: of the body."""
    moment, day = at.strftime("%Y%m%dT%H%M%SZ"), at.strftime("%Y%m%d")
    canonical = "\n".join(
        (method, path, query, f"host:{host}", f"x-amz-content-sha256:{hash}", f"x-amz-date:{moment}", "", _SIGNED, hash)
    )
    scope = f"{day}/{region}/s3/aws4_request"
    text = "\n".join(("AWS4-HMAC-SHA256", moment, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = f"AWS4{credentials.secret}".encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.digest(key, part.encode(), hashlib.sha256)
    signature = hmac.digest(key, text.encode(), hashlib.sha256).hex()
    return {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={credentials.id}/{scope}, SignedHeaders={_SIGNED}, "
        f"Signature={signature}",
        "x-amz-content-sha256": hash,
        "x-amz-date": moment,
    }
