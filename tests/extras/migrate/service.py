"""A service in memory that answers an import's requests as the API does, and can be made to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from api.fields.alerts import AlertRecord
from api.fields.destinations import DestinationRecord
from api.fields.sources import SourceRecord
from api.openapi.document import example_of
from sanderling.client.api import Client
from tests.sanderling.client.documented import as_documented

_SOURCE, _ALERT, _DESTINATION = example_of(SourceRecord), example_of(AlertRecord), example_of(DestinationRecord)
_RESULT = {"detected_type": None, "source": None, "error": None}
_PROBLEM = {"$schema": "x", "title": "", "status": 422}


class FakeService:
    """`fails` runs before each answer: it may return another one, or raise. `asked` has all requests."""

    def __init__(self) -> None:
        self.sources: dict[str, dict[str, Any]] = {}
        self.alerts: list[dict[str, Any]] = []
        self.destinations: dict[str, list[dict[str, Any]]] = {}
        self.asked: list[tuple[str, str, Any]] = []
        self.keys: list[str] = []
        self.becomes: Callable[[str], str] = lambda _url: ""
        """The result for a URL that is not added: a status of the batch, or the refusal's problem."""
        self.fails: Callable[[int], httpx.Response | None] = lambda _number: None

    def client(self) -> Client:
        return Client("http://service.test", "svc_k", httpx.MockTransport(self._handle))

    def _handle(self, request: httpx.Request) -> httpx.Response:
        body = msgspec.json.decode(request.content) if request.content else None
        self.asked.append((request.method, request.url.path, body))
        self.keys.append(request.headers.get("Idempotency-Key", ""))
        failure = self.fails(len(self.asked))
        if failure is not None:
            return failure
        status, answer = self._answer(request.method, request.url.path.split("/")[2:], body)
        if status < 400:
            answer = as_documented(request.method, request.url.path, status, answer)
        return httpx.Response(status, json=answer)

    def _answer(self, method: str, path: list[str], body: Any) -> tuple[int, Any]:
        match method, path:
            case "POST", ["sources"]:
                return 207, {"results": [_RESULT | self._add(one) for one in body["sources"]]}
            case "POST", ["sources", id_, "disable"]:
                one = next(one for one in self.sources.values() if one["id"] == id_)
                one.update(enabled=False, updated_at="2")
                return 200, one
            case "GET", ["alerts"]:
                return 200, [_ALERT | one for one in self.alerts]
            case "POST", ["alerts"]:
                assert body["source_ids"], "an alert over the whole library"
                plain = {"language": "en", "notices": [], "notice_after": 3600}
                self.alerts.append(_ALERT | {"id": f"a{len(self.alerts)}"} | plain | body)
                return 201, self.alerts[-1]
            case "PATCH", ["alerts", id_]:
                alert = next(one for one in self.alerts if one["id"] == id_)
                alert.update(body)
                return 200, alert
            case "GET", ["alerts", id_, "destinations"]:
                return 200, self.destinations.get(id_, [])
            case "POST", ["alerts", id_, "destinations"]:
                if "refused" in body["url"]:
                    return 422, {"detail": "it is not public"}
                made = _DESTINATION | {"id": f"d{body['url']}"} | body
                self.destinations.setdefault(id_, []).append(made)
                return 201, made | {"secret": "whsec_x"}
        raise AssertionError((method, path))

    def _add(self, body: dict[str, Any]) -> dict[str, Any]:
        url = body["url"]
        fate = self.becomes(url)
        if fate == "timeout":
            error = _PROBLEM | {"type": "x/unavailable", "detail": "too late"}
            return {"url": url, "status": "timeout", "error": error}
        if fate and url not in self.sources:
            error = _PROBLEM | {"type": f"x/{fate}", "detail": f"it is {fate}"}
            return {"url": url, "status": "failed", "error": error}
        there = url in self.sources
        if not there:
            kept = {name: value for name, value in body.items() if name in _SOURCE}
            plain = {"selector": None, "ignore": [], "schedule": None, "enabled": True, "created_at": "1"}
            self.sources[url] = _SOURCE | {"id": f"s{len(self.sources)}", "updated_at": "1"} | plain | kept
        return {"url": url, "status": "attached_existing" if there else "created", "source": self.sources[url]}

    def hosts(self) -> list[str]:
        """Return the hosts of all URLs that were sent, in their order."""
        bodies = [body for method, path, body in self.asked if (method, path) == ("POST", "/v1/sources")]
        return [urlsplit(one["url"]).netloc for body in bodies for one in body["sources"]]
