"""Objects in a bucket: signed as in Amazon's examples, listed by pages, with a clear error for every failure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest

from extras.cluster.replica.log import ObjectsAway
from extras.cluster.replica.place import Bucket, Credentials, S3Objects, signed

EXAMPLE = Credentials("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    ("query", "signature"),
    [
        # docs.aws.amazon.com, "Signature Calculations for the Authorization Header", its examples.
        ("lifecycle=", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"),
        ("max-keys=2&prefix=J", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"),
    ],
)
def test_a_request_is_signed_as_amazons_examples_are(query: str, signature: str) -> None:
    headers = signed(
        "GET",
        "examplebucket.s3.amazonaws.com",
        "/",
        query,
        NOTHING,
        region="us-east-1",
        credentials=EXAMPLE,
        at=datetime(2013, 5, 24, tzinfo=UTC),
    )
    assert headers["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        f"SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature={signature}"
    )


class Server:
    """A bucket called tides, two keys on a page; every request needs a fresh and correct signature."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {"other/place": b"of another"}
        self.fails: Callable[[httpx.Request], httpx.Response | None] = lambda _request: None

    def __call__(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        expected = signed(
            request.method,
            url.netloc.decode(),
            url.raw_path.decode().partition("?")[0],
            url.query.decode(),
            request.headers["x-amz-content-sha256"],
            region="eu-north-1",
            credentials=EXAMPLE,
            at=datetime(2026, 11, 25, 12, tzinfo=UTC),
        )
        assert request.headers["authorization"] == expected["Authorization"]
        if (failed := self.fails(request)) is not None:
            return failed
        path = url.path.removeprefix("/tides").lstrip("/")
        if request.method == "PUT":
            self.objects[path] = request.content
            return httpx.Response(200)
        if request.method == "DELETE":
            self.objects.pop(path, None)
            return httpx.Response(204)
        if path:
            found = self.objects.get(path)
            return (
                httpx.Response(404, text="<Error><Code>NoSuchKey</Code></Error>")
                if found is None
                else httpx.Response(200, content=found)
            )
        return self._listed(dict(url.params))

    def _listed(self, asked: dict[str, str]) -> httpx.Response:
        names = sorted(name for name in self.objects if name.startswith(asked["prefix"]))
        start = int(asked.get("continuation-token", "0/+=")[:1])
        keys = "".join(f"<Contents><Key>{name}</Key></Contents>" for name in names[start : start + 2])
        more = f"<NextContinuationToken>{start + 2}/+=</NextContinuationToken>" if start + 2 < len(names) else ""
        return httpx.Response(200, text=f"<ListBucketResult>{more}{keys}</ListBucketResult>")


def objects_of(server: Server) -> S3Objects:
    bucket = Bucket("https://s3.test:9000", "eu-north-1", "tides", "shore-1")
    at = datetime(2026, 11, 25, 12, tzinfo=UTC).timestamp()
    return S3Objects(bucket, EXAMPLE, lambda: at, httpx.AsyncClient(transport=httpx.MockTransport(server)))


async def test_stored_objects_are_listed_over_pages_without_foreign_names() -> None:
    server = Server()
    objects = objects_of(server)
    names = ["chain-1/change/000000001", "chain-1/copy/000000", "chain-1/whole", "current", "owner"]
    for name in reversed(names):
        await objects.put(name, name.encode())
    assert await objects.names() == names
    assert await objects.get("owner") == b"owner" and await objects.get("nobody") is None
    await objects.delete("owner")
    await objects.delete("owner")
    assert await objects.names() == names[:-1]
    assert server.objects["other/place"] == b"of another" and "shore-1/current" in server.objects
    await objects.aclose()


@pytest.mark.parametrize(
    ("status", "text", "says"),
    [
        (
            403,
            "<Error><Code>AccessDenied</Code><Message>Access &amp; Denied</Message></Error>",
            "s3.test:9000 answers 403 AccessDenied Access & Denied",
        ),
        (404, "<Error><Code>NoSuchBucket</Code></Error>", "answers 404 NoSuchBucket"),
        (503, "", "answers 503"),
        (307, "", "answers 307"),
    ],
)
async def test_every_refusal_is_shown_in_the_servers_words(status: int, text: str, says: str) -> None:
    server = Server()
    server.fails = lambda _request: httpx.Response(status, text=text, headers={"Location": "https://evil.test"})
    objects = objects_of(server)
    for what in (objects.get("owner"), objects.put("owner", b"me"), objects.names(), objects.delete("owner")):
        with pytest.raises(ObjectsAway, match=says):
            await what


async def test_a_server_that_hangs_up_or_answers_without_end_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extras.cluster.replica.place.MOST", 1000)
    server = Server()
    server.objects["shore-1/owner"] = bytes(1001)
    with pytest.raises(ObjectsAway, match="answers more than"):
        await objects_of(server).get("owner")

    def hangs_up(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("", request=request)

    server.fails = hangs_up
    with pytest.raises(ObjectsAway, match="ReadTimeout"):
        await objects_of(server).get("owner")


async def test_a_name_leads_nowhere_else() -> None:
    for name in ("../owner", "a//b", "", "a?b", "a%2f"):
        with pytest.raises(ValueError, match="no name of an object"):
            await objects_of(Server()).get(name)


def test_credentials_show_nothing() -> None:
    assert "EXAMPLE" not in repr(EXAMPLE) and "EXAMPLE" not in repr(objects_of(Server()))
