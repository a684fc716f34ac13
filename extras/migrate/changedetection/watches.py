"""Watches and their groups as sources and alerts. Pure.

A group's filters and texts extend those of its watches. Notifications go to the watch's addresses, else its groups',
else the settings'. A watch with trigger texts, restock conditions or notifications also becomes an alert.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from extras.migrate.asking import UNSUPPORTED, pairs_of, request_of
from extras.migrate.changedetection.fields import FIELDS, ONE_WAY, PLAIN_BACKENDS
from extras.migrate.changedetection.files import Datastore, datastore
from extras.migrate.changedetection.hours import hours_of
from extras.migrate.changedetection.restock import PROCESSOR, restock_query
from extras.migrate.drafting import Drafting, joined_selectors
from extras.migrate.fields import MOST_ITEMS, mapping, tell_of, text, texts, truth
from extras.migrate.notifying import destinations
from extras.migrate.plan import DestinationBody, NotReadable, Plan, named, shortened
from extras.migrate.showing import PLAIN, Shown, shown
from extras.migrate.wording import BEGINNINGS, WHOLE_WORDS, Unsayable, any_of, lookup, none_of, whole
from extras.migrate.xpath import css_of

PARTS: Final = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_WHOLE_PAGE: Final = "the whole page is watched"
_DATA: Final = ("jq:", "jqraw:")


def read_changedetection(data: bytes) -> Plan:
    """Raises NotReadable."""
    store = datastore(data)
    if len(store.watches) > MOST_ITEMS:
        raise NotReadable(f"It has {len(store.watches)} watches; at most {MOST_ITEMS} are read.")
    drafting = Drafting()
    for owner, watch in store.watches.items():
        name = text(watch, "title")
        place = f"watch {owner[:8]}" + (f" ({shortened(name, 40)})" if name else "")
        _Reading(drafting, store, place, watch).read()
    if texts(store.application, "global_ignore_text"):
        drafting.note("the settings", "global_ignore_text", "impossible", "lines are not left out by their text")
    if store.headers:
        drafting.note("the settings", "headers", "impossible", "they may be secrets, and none travels")
    return drafting.plan("changedetection")


class _Reading:
    """One watch with its groups."""

    def __init__(self, drafting: Drafting, store: Datastore, place: str, watch: Mapping[str, Any]) -> None:
        self._drafting, self._store, self._place, self._watch = drafting, store, place, watch
        tags = watch.get("tags")
        named = tags if isinstance(tags, list) else []
        self._groups = [store.tags[tag] for tag in named if isinstance(tag, str) and tag in store.tags]

    def read(self) -> None:
        """Plan the source, and the alert if needed."""
        watch, place, note = self._watch, self._place, self._drafting.note
        address = text(watch, "url")
        if "{{" in address or "{%" in address:
            note(place, "address", "impossible", "it is made anew for each look, by a template")
            return
        method = (text(watch, "method") or "GET").upper()
        if method not in {"GET", "POST"}:
            note(place, "method", "impossible", UNSUPPORTED)
            return
        if address.startswith("source:"):
            address = address.removeprefix("source:")
            note(place, "source:", "approximated", "the page's text is watched, not its source")
        url = self._drafting.source(
            place,
            address,
            title=text(watch, "title"),
            tags=self._tags(),
            selectors=self._selectors("include_filters", _WHOLE_PAGE),
            ignore=self._selectors("subtractive_selectors", "it stays in"),
            seconds=self._seconds(),
            hours=self._hours(),
            headers=self._request(text(watch, "body") if method == "POST" else None),
            shown=self._shown(posts=method == "POST"),
            enabled=not (truth(watch.get("paused")) or truth(self._store.application.get("all_paused"))),
        )
        if url is not None:
            self._tell()
            self._alert(url)

    def _all(self, name: str) -> list[str]:
        """Return a field's lines from the watch and its groups."""
        return list(dict.fromkeys(line for one in (self._watch, *self._groups) for line in texts(one, name)))

    def _tags(self) -> list[str]:
        named = [text(group, "title") for group in self._groups]
        return [*named, *text(self._watch, "tag").split(",")]

    def _selectors(self, name: str, otherwise: str) -> list[str]:
        rules = self._all(name)
        if name == "subtractive_selectors":
            rules += texts(self._store.application, "global_subtractive_selectors")
        found = [self._css(name, rule, otherwise) for rule in rules]
        if name == "include_filters" and None in found:
            return []  # the others alone would cover too little
        if name == "include_filters" and found and joined_selectors([css for css in found if css]) is None:
            self._drafting.note(self._place, name, "impossible", f"a JSONPath beside others: {otherwise}")
            return []
        return [css for css in found if css]

    def _css(self, name: str, rule: str, otherwise: str) -> str | None:
        if rule.startswith("json:"):
            return rule.removeprefix("json:").strip()
        if rule.startswith(_DATA):
            kind = rule.partition(":")[0]
            self._drafting.note(self._place, name, "impossible", f"{kind}: of JSON nothing is picked out: {otherwise}")
            return None
        path = next((rule.removeprefix(sign) for sign in ("xpath:", "xpath1:") if rule.startswith(sign)), None)
        if path is None and not rule.startswith("/"):
            return rule.removeprefix("css:").strip()
        path = (rule if path is None else path).strip()
        css = css_of(path)
        self._drafting.note(self._place, name, "exact", "XPath, as CSS" if css else "XPath")
        return css or f"xpath:{path}"

    def _seconds(self) -> float | None:
        parts = mapping(self._watch.get("time_between_check"))
        own = sum(size * _number(parts.get(name)) for name, size in PARTS.items())
        if self._watch.get("time_between_check_use_default", not own):  # absent in older versions
            says = "as often as it is worth, where it was an interval for all"
            self._drafting.note(self._place, "interval", "approximated", says)
            return None
        return own or None

    def _hours(self) -> str | None:
        limit, name = mapping(self._watch.get("time_schedule_limit")), "time_schedule_limit"
        if not truth(limit.get("enabled")):
            return None
        hours = hours_of(limit)
        if hours is None:
            self._drafting.note(self._place, name, "impossible", "its days differ: it is looked at always")
        else:
            self._drafting.note(self._place, name, "exact")
        return hours

    def _shown(self, *, posts: bool) -> Shown:
        """Return whether a browser fetches the page, by the watch's setting or the global one."""
        backend = text(self._watch, "fetch_backend") or "system"
        if backend == "system":
            backend = text(self._store.application, "fetch_backend")
        rendered = backend not in PLAIN_BACKENDS
        return shown(self._drafting.note, self._place, "fetch_backend", posts=posts) if rendered else PLAIN

    def _request(self, body: str | None) -> str | None:
        pairs = [pair for one in (*self._groups, self._watch) for pair in pairs_of(one.get("headers"))]
        return request_of(self._drafting, self._place, pairs, body=body)

    def _tell(self) -> None:
        place, watch, note = self._place, self._watch, self._drafting.note
        tell_of(self._drafting, place, watch, FIELDS)
        if text(watch, "processor") == PROCESSOR:
            says = "an alert's query about prices and availability; a share is of the last price that was told"
            note(place, "processor", "approximated", says)
        elif text(watch, "processor") not in ("", "text_json_diff"):
            note(place, "processor", "approximated", "its text is watched")
        for name, says in ONE_WAY:
            if watch.get(name) is False:
                note(place, name, "impossible", says)

    def _alert(self, url: str) -> None:
        words, destinations = self._query(), self._destinations()
        query = self._with_restock(words)
        if not (query or destinations):
            return
        # There, a trigger is a text on the current page, and with it every change is reported.
        body = named("changedetection.io", query, "page" if words else "change")
        self._drafting.alert(self._place, url, body, destinations)

    def _with_restock(self, words: str) -> str:
        """Add the watch's conditions on price and stock; a group may override them."""
        if text(self._watch, "processor") != PROCESSOR:
            return words
        ruling = [group for group in self._groups if truth(group.get("overrides_watch"))]
        settings = next(
            (one for level in (*ruling, self._watch) if (one := mapping(level.get("restock_settings")))), {}
        )
        asked = restock_query(settings)
        return f"{words} ({asked})" if words and asked else words or asked

    def _query(self) -> str:
        wanted = self._lookups("trigger_text", wide=True)
        unwanted = self._lookups("text_should_not_be_present", wide=False)
        if wanted and len(wanted) < len(self._all("trigger_text")):
            wanted = []  # rather notify too often than never
        try:
            return whole(any_of(wanted) if wanted else "", none_of(unwanted) if unwanted else "")
        except Unsayable as error:
            self._drafting.note(self._place, "trigger_text", "impossible", str(error))
            return ""

    def _lookups(self, name: str, *, wide: bool) -> list[str]:
        found = []
        for line in self._all(name):
            try:
                found.append(lookup(line, wide=wide))
            except Unsayable as error:
                self._drafting.note(self._place, name, "impossible", f"{error}: what it keeps back is told as well")
                continue
            says = f"an alert's query: {BEGINNINGS if wide else WHOLE_WORDS}; the stream has all changes"
            self._drafting.note(self._place, name, "approximated", says)
        return found

    def _destinations(self) -> list[DestinationBody]:
        if truth(self._watch.get("notification_muted")) or truth(self._store.application.get("all_muted")):
            self._drafting.note(self._place, "notification_muted", "exact", "it tells nobody")
            return []
        levels = (self._watch, *self._groups, self._store.application)
        addresses = next((found for level in levels if (found := texts(level, "notification_urls"))), [])
        made = (destinations(self._drafting, self._place, address) for address in dict.fromkeys(addresses))
        return [one for found in made for one in found]


def _number(value: Any) -> float:
    """Return a form's number; 0 if invalid. It may be quoted."""
    if isinstance(value, str):
        return float(value) if value.isascii() and value.isdecimal() and len(value) < 9 else 0.0
    return float(min(value, 10**9)) if isinstance(value, int | float) else 0.0
