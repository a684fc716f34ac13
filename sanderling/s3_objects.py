"""Objects in an S3 bucket, or on a compatible server (MinIO, Garage, Ceph, R2).

Four requests, each signed by AWS Signature Version 4 (docs.aws.amazon.com, "Create a signed AWS API request"). The
bucket is in the path, which all these servers accept.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from html import unescape
from typing import NamedTuple, cast
from urllib.parse import quote, urlsplit

import httpx

from storage.objects import NAME, ObjectsAway

WITHIN = 30.0
"""Seconds allowed per request."""
MOST = 64 << 20
"""Maximum bytes of a response."""
_SIGNED = "host;x-amz-content-sha256;x-amz-date"
_ERROR = re.compile(r"<(Code|Message)>([^<]{1,300})</")
_KEY = re.compile(r"<Key>([^<]*)</Key>")
_TOKEN = re.compile(r"<NextContinuationToken>([^<]+)</NextContinuationToken>")


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


class S3Objects:
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
            body = await self._asked("GET", f"/{self._bucket.bucket}", query=query) or b""
            text = body.decode(errors="replace")
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
    method: str,
    host: str,
    path: str,
    query: str,
    hash: str,
    *,
    region: str,
    credentials: Credentials,
    at: datetime,
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
