"""Uptime Kuma: its backup (JSON; versions up to 1.23 write one), with monitors and notifications. Pure.

Its question is another one: does it answer? A source has health for that, and notices say when it fails and recovers.
So a monitor that tells somebody becomes an alert with these notices; what a page says is told beside them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from sanderling.moving.drafting import Drafting
from sanderling.moving.fields import Field, mapping, records, tell_of, text, truth
from sanderling.moving.notifying import WHAT, destination
from sanderling.moving.plan import DestinationBody, NotReadable, Plan, named, shortened
from sanderling.moving.recognising import decoded
from sanderling.moving.wording import BEGINNINGS, WHOLE_WORDS, Unsayable, phrase

WATCHED: Final = ("http", "keyword", "real-browser", "websocket-upgrade")
NOTICES: Final = ("source_failing", "source_recovered", "source_quiet")
LONGEST_NOTICE: Final = 7 * 86400
_STRANGER: Final = "looks are made as a stranger, without it"
_STATUS: Final = "what answers with 2xx is well, all else has failed"
FIELDS: Final = (
    Field("headers", "impossible", _STRANGER),
    Field("basic_auth_user", "impossible", _STRANGER),
    Field("authMethod", "impossible", _STRANGER, ("basic",)),
    Field("tlsCert", "impossible", _STRANGER),
    Field("proxyId", "impossible", "looks are made directly"),
    Field("ignoreTls", "impossible", "a certificate must be valid"),
    Field("expiryNotification", "impossible", "a certificate is told of once it is no longer valid"),
    Field("upsideDown", "impossible", "that something does not answer is never what is wanted"),
    Field("maxredirects", "approximated", "redirects are followed as far as the service does", (10,)),
    Field("accepted_statuscodes", "impossible", _STATUS, (["200-299"],)),
    Field("resendInterval", "impossible", "a trouble is told once, and that it is over"),
    Field("description", "impossible", "a source has a title and tags only"),
    Field("cacheBust", "impossible", "looks are conditional, so that they cost little"),
)
_NAMESPACE = re.compile(r"[a-z0-9_-]+", re.ASCII)


def read_uptime_kuma(data: bytes) -> Plan:
    """Return the plan of a backup. Raises NotReadable."""
    found = decoded(data)
    if not isinstance(found, dict):
        raise NotReadable("It is no backup of Uptime Kuma: an object with monitorList is.")
    monitors = records(found.get("monitorList"), "monitors")
    drafting = Drafting()
    notifications = _notifications(drafting, found)
    groups = {str(one.get("id")): text(one, "name") for one in monitors if text(one, "type") == "group"}
    for number, monitor in enumerate(monitors, 1):
        _Monitor(drafting, monitor, number, groups, notifications).read()
    return drafting.plan("uptime-kuma")


def _notifications(drafting: Drafting, found: Mapping[str, Any]) -> dict[str, DestinationBody]:
    """Return the destinations that notifications become, by their ids; what can't be one is noted once."""
    bodies: dict[str, DestinationBody] = {}
    for one in records(found.get("notificationList") or [], "notifications"):
        place = f"notification {one.get('id')} ({shortened(text(one, 'name'), 40)})"
        config = one.get("config", one)
        try:
            config = mapping(decoded(config.encode()) if isinstance(config, str) else config)
        except NotReadable:
            config = {}
        kind = text(config, "type")
        if kind != "webhook":
            says = f"{shortened(kind, 30) or 'unknown'}: only webhooks are delivered to: put a receiver before it"
            drafting.note(place, WHAT, "impossible", says)
        elif body := destination(drafting, place, text(config, "webhookURL")):
            bodies[str(one.get("id"))] = body
            if config.get("webhookAdditionalHeaders"):
                drafting.note(place, "webhookAdditionalHeaders", "impossible", "a delivery has no headers of yours")
    return bodies


class _Monitor:
    """One monitor, and who is told of it."""

    def __init__(
        self,
        drafting: Drafting,
        monitor: Mapping[str, Any],
        number: int,
        groups: Mapping[str, str],
        notifications: Mapping[str, DestinationBody],
    ) -> None:
        self._drafting, self._monitor, self._groups = drafting, monitor, groups
        self._name = text(monitor, "name")
        self._kind = text(monitor, "type") or "http"
        self._place = f"monitor {monitor.get('id', number)} ({shortened(self._name, 40)})"
        told = mapping(monitor.get("notificationIDList"))
        self._destinations = [notifications[one] for one, yes in told.items() if yes and one in notifications]

    def read(self) -> None:
        """Plan its source, and its alert if somebody is told."""
        monitor, note = self._monitor, self._drafting.note
        if self._kind == "group":
            note(self._place, "group", "exact", "the tag of what is in it")
            return
        if self._kind not in WATCHED:
            data = "of JSON nothing is picked out"
            says = data if self._kind == "json-query" else "only what has a web address is looked at, by asking for it"
            note(self._place, f"type {shortened(self._kind, 30)}", "impossible", says)
            return
        if (text(monitor, "method") or "GET").upper() not in ("GET", "HEAD") or monitor.get("body"):
            note(self._place, "method", "impossible", "looks only ask for pages (GET)")
            return
        interval = monitor.get("interval")
        url = self._drafting.source(
            self._place,
            text(monitor, "url"),
            title=self._name,
            tags=self._tags(),
            seconds=interval if isinstance(interval, int | float) and interval > 0 else None,
            enabled=truth(monitor.get("active", True)),
        )
        if url is None:
            return
        if self._kind == "real-browser":
            note(self._place, "type real-browser", "approximated", "no browser is run: what scripts add is not seen")
        note(self._place, "up or down", "approximated", "its health; what it says is watched, and told when it changes")
        tell_of(self._drafting, self._place, monitor, FIELDS)
        self._alert(url)

    def _tags(self) -> list[str]:
        group = self._groups.get(str(self._monitor.get("parent")), "")
        given = self._monitor.get("tags")
        return [group, *(_tag(mapping(tag)) for tag in (given if isinstance(given, list) else []))]

    def _alert(self, url: str) -> None:
        query = self._query() if self._kind == "keyword" else ""
        if not (query or self._destinations):
            return
        body = named("Uptime Kuma", query, "page" if query else "change")
        body = replace(body, notices=NOTICES, notice_after=self._patience())
        self._drafting.alert(self._place, url, body, self._destinations)

    def _query(self) -> str:
        """Return the query of what was down: a page without the keyword, or with it when that is inverted."""
        with_it = truth(self._monitor.get("invertKeyword"))
        try:
            found = phrase(text(self._monitor, "keyword"), wide=with_it)
        except Unsayable as error:
            self._drafting.note(self._place, "keyword", "impossible", str(error))
            return ""
        says = f"with it; {BEGINNINGS}" if with_it else f"without it; {WHOLE_WORDS}"
        self._drafting.note(self._place, "keyword", "approximated", f"an alert: tells of changes {says}")
        return found if with_it else f"-{found}"

    def _patience(self) -> int:
        """Return after how many seconds a failure is told: as long as it was retried for."""
        monitor = self._monitor
        retries, every = monitor.get("maxretries"), monitor.get("retryInterval") or monitor.get("interval")
        if not (isinstance(retries, int) and isinstance(every, int)):
            return 0
        return max(0, min(LONGEST_NOTICE, retries * every))


def _tag(tag: Mapping[str, Any]) -> str:
    name, value = text(tag, "name"), text(tag, "value")
    return f"{name}:{value}" if value and _NAMESPACE.fullmatch(name) else f"{name} {value}".strip()
