"""A service in memory that answers as the API does to what an import asks, and can be made to fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import httpx
import msgspec

from sanderling.client.api import Client


class FakeService:
    """`fails` is asked before each answer: it may return another one, or raise. `asked` has all requests."""

    def __init__(self) -> None:
        self.sources: dict[str, dict[str, Any]] = {}
        self.alerts: list[dict[str, Any]] = []
        self.destinations: dict[str, list[dict[str, Any]]] = {}
        self.asked: list[tuple[str, str, Any]] = []
        self.keys: list[str] = []
        self.becomes: Callable[[str], str] = lambda _url: ""
        """What becomes of a URL instead of being added: a status of the batch, or the problem it is refused for."""
        self.fails: Callable[[int], httpx.Response | None] = lambda _number: None

    def client(self) -> Client:
        return Client("http://service.test", "svc_k", httpx.MockTransport(self._handle))

    def _handle(self, request: httpx.Request) -> httpx.Response:
        body = msgspec.json.decode(request.content) if request.content else None
        self.asked.append((request.method, request.url.path, body))
        self.keys.append(request.headers.get("Idempotency-Key", ""))
        return self.fails(len(self.asked)) or self._answer(request.method, request.url.path.split("/")[2:], body)

    def _answer(self, method: str, path: list[str], body: Any) -> httpx.Response:
        match method, path:
            case "POST", ["sources"]:
                return httpx.Response(207, json={"results": [self._add(one) for one in body["sources"]]})
            case "POST", ["sources", id_, "disable"]:
                next(one for one in self.sources.values() if one["id"] == id_).update(enabled=False, updated_at="2")
                return httpx.Response(200, json={})
            case "GET", ["alerts"]:
                return httpx.Response(200, json=self.alerts)
            case "POST", ["alerts"]:
                assert body["source_ids"], "an alert over the whole library"
                self.alerts.append(
                    {"id": f"a{len(self.alerts)}", "language": "en", "notices": [], "notice_after": 3600} | body
                )
                return httpx.Response(201, json=self.alerts[-1])
            case "PATCH", ["alerts", id_]:
                next(one for one in self.alerts if one["id"] == id_).update(body)
                return httpx.Response(200, json={})
            case "GET", ["alerts", id_, "destinations"]:
                return httpx.Response(200, json=self.destinations.get(id_, []))
            case "POST", ["alerts", id_, "destinations"]:
                if "refused" in body["url"]:
                    return httpx.Response(422, json={"detail": "it is not public"})
                self.destinations.setdefault(id_, []).append({"id": f"d{body['url']}", "url": body["url"]})
                return httpx.Response(201, json={"id": "d", "secret": "whsec_x"})
        raise AssertionError((method, path))

    def _add(self, body: dict[str, Any]) -> dict[str, Any]:
        url = body["url"]
        fate = self.becomes(url)
        if fate == "timeout":
            return {"url": url, "status": "timeout", "error": {"type": "x/unavailable", "detail": "too late"}}
        if fate and url not in self.sources:
            return {"url": url, "status": "failed", "error": {"type": f"x/{fate}", "detail": f"it is {fate}"}}
        there = url in self.sources
        if not there:
            plain = {"selector": None, "ignore": [], "schedule": None, "enabled": True, "created_at": "1"}
            self.sources[url] = {"id": f"s{len(self.sources)}", "updated_at": "1"} | plain | body
        return {"url": url, "status": "attached_existing" if there else "created", "source": self.sources[url]}

    def hosts(self) -> list[str]:
        """Return the hosts of all URLs that were sent, in their order."""
        bodies = [body for method, path, body in self.asked if (method, path) == ("POST", "/v1/sources")]
        return [urlsplit(one["url"]).netloc for body in bodies for one in body["sources"]]
