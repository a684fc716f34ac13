"""The service itself: public signing keys and health, which need no key, and all metrics in the Prometheus text format.

The metrics are plain numbers in memory (`actors/observer.py`), formatted at each scrape. The process's own (memory,
processor time, open files) keep the names that the client library gives them everywhere.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any

import trio

from actors.app_context import AppContext
from actors.observer import Counter, Gauge, Histogram
from api.problems import FieldError, Refusal
from api.route import PUBLIC, Answer, Call, Routes
from storage.records.identity import Millis, rfc3339

SECURITY_TXT = "/.well-known/security.txt"
LOOK_KEYS = "/.well-known/http-message-signatures-directory"
_LOOK_KEYS_MEDIA = "application/http-message-signatures-directory+json"
SECURITY_TXT_LIFE = 180 * 86_400_000  # milliseconds until a copy of security.txt expires
WRITER_SILENCE = 30.0  # seconds of writer silence after which the process counts as unhealthy
ROUTES, METRICS = Routes(""), Routes("")
_PUBLIC: dict[str, Any] = {"scope": PUBLIC, "headers": ("Cache-Control",)}
_OBJECT = {200: dict[str, Any]}


@ROUTES("GET", "/.well-known/jwks.json", _OBJECT, media="application/jwk-set+json", **_PUBLIC)
async def jwks(call: Call) -> Answer:
    """Read the public keys of event signatures."""
    headers = {"Cache-Control": "public, max-age=300"}
    return Answer(await call.context.jwks(), media="application/jwk-set+json", headers=headers)


def health(context: AppContext) -> Answer:
    """Report whether the process is alive: it answers, and its writer has moved recently. Raises Refusal."""
    silence = trio.current_time() - context.storage.writer_moved_at()
    if silence > WRITER_SILENCE:
        detail = f"The writer has not moved for {silence:.0f} s."
        raise Refusal("unavailable", detail, [FieldError("writer", detail)], {"Retry-After": "10"})
    return Answer({"status": "ok"})


def readiness(context: AppContext) -> Answer:
    """Report working and failing parts, and how far checks lag. `warnings` do not make it unready. Raises Refusal."""
    parts = dict(context.readiness())
    if context.draining():
        parts["service"] = "The service is stopping."
    failing = [FieldError(name, says) for name, says in parts.items() if says]
    if failing:
        names = ", ".join(error.location for error in failing)
        raise Refusal("unavailable", f"Not ready: {names}.", failing, {"Retry-After": "5"})
    lag, spent, lacks = context.lag(), context.spent(), context.world.jail.lacks()
    weaker = f"The kernel does not wholly hold the workers: {lacks}." if lacks else ""
    found = {
        "status": "ready",
        "parts": sorted(parts),
        "overdue": context.overdue(),
        "matching": {"events_behind": lag.events, "seconds_behind": round(lag.seconds, 1)},
        "looks": {
            "per_second": round(spent.rate, 2),
            "budget": context.settings.looks_per_second,
            "passed_for_seconds": round(spent.passed, 1),
        },
        "warnings": [says for says in (lag.text(), spent.text(), context.clock_doubt(), weaker) if says],
    }
    return Answer(found)


PROBES = {"/healthz": health, "/readyz": readiness}
"""Answered from memory, before routing and free of rate limits; otherwise a stranger behind the same address could fail
a node.
"""


@ROUTES("GET", LOOK_KEYS, _OBJECT, refuses=("not-found",), media=_LOOK_KEYS_MEDIA, **_PUBLIC)
async def look_keys(call: Call) -> Answer:
    """Read the public keys of signed checks.

    For Web Bot Auth, in a signed answer. Raises Refusal (404).
    """
    context = call.context
    if context.look_keys is None:
        raise Refusal("not-found", "This service does not sign its checks: the setting `sign_looks` is off.")
    authority = context.settings.public_url().partition("://")[2].lower()
    found = await context.look_keys(authority, context.world.now() // 1000)
    headers = {"Cache-Control": "public, max-age=3600", **found.headers}
    return Answer(found.body, media=_LOOK_KEYS_MEDIA, headers=headers)


@ROUTES("GET", SECURITY_TXT, {200: str}, refuses=("not-found",), media="text/plain; charset=utf-8", **_PUBLIC)
async def security_txt(call: Call) -> Answer:
    """Read the security contact of this service.

    As RFC 9116 defines it. Raises Refusal (404) if `contact` is empty.
    """
    contact = call.context.settings.contact
    if not contact:
        raise Refusal("not-found", "There is no contact for this service: its setting `contact` is empty.")
    reached = contact if ":" in contact else f"mailto:{contact}"
    expires = rfc3339(Millis(call.context.world.now() + SECURITY_TXT_LIFE))
    base = call.context.settings.public_url()
    text = f"Contact: {reached}\nExpires: {expires}\nCanonical: {base}{SECURITY_TXT}\n"
    return Answer(text.encode(), media="text/plain; charset=utf-8", headers={"Cache-Control": "public, max-age=86400"})


async def _probed(path: str, call: Call) -> Answer:
    return PROBES[path](call.context)


for _path, _says in (("/healthz", "Check that the process is alive."), ("/readyz", "Check that the service is ready.")):
    ROUTES("GET", _path, _OBJECT, scope=PUBLIC, says=_says)(partial(_probed, _path))


PREFIX = "sanderling_"
METRICS_MEDIA = "text/plain; version=0.0.4; charset=utf-8"


class Figures:
    """Collects everything from the app context, as families of `prometheus_client.core`."""

    def __init__(self, context: AppContext, families: Any) -> None:
        self._context, self._families = context, families

    def collect(self) -> Iterator[Any]:
        running = {(self._context.overseer.version, platform.python_version()): 1.0}
        yield self._family("build_info", "The running program; always 1.", ("version", "python"), running)
        for figure in self._context.figures():
            yield self._family(figure.name, figure.says, figure.labels, figure.values, counts=figure.counts)
        for metric in self._context.world.metrics:
            match metric:
                case Counter():
                    yield self._family(metric.name, metric.says, metric.labels, metric.values, counts=True)
                case Gauge():
                    yield self._family(metric.name, metric.says, (), {(): metric.value})
                case Histogram():
                    ends = (*(f"{bound:g}" for bound in metric.bounds), "+Inf")
                    buckets = list(zip(ends, map(float, accumulate(metric.counts)), strict=True))
                    kind = self._families.HistogramMetricFamily
                    yield kind(PREFIX + metric.name, metric.says, buckets=buckets, sum_value=metric.total)

    def _family(
        self, name: str, says: str, labels: Sequence[str], values: Mapping[Any, float], *, counts: bool = False
    ) -> Any:
        kind = self._families.CounterMetricFamily if counts else self._families.GaugeMetricFamily
        family = kind(PREFIX + name, says, labels=labels)
        for values_of_labels, value in values.items():
            family.add_metric(values_of_labels, value)
        return family


def exposition(context: AppContext) -> bytes:
    from prometheus_client import CollectorRegistry, ProcessCollector, core, generate_latest  # noqa: PLC0415  half a MB

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Figures(context, core))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


@METRICS("GET", "/metrics", {200: str}, scope="admin", media=METRICS_MEDIA)
async def metrics(call: Call) -> Answer:
    """Read all figures, for Prometheus."""
    return Answer(exposition(call.context), media=METRICS_MEDIA)
