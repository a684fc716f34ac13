"""changedetection.io: its backup (a zip), `url-watches.json` of versions before 0.53, or one folder per watch. Pure.

The forms: `url-watches.json` has everything; from 0.53 on there are `changedetection.json` (settings), and one folder
per `watch.json` or `tag.json`. The members of a zip are read one by one; nothing is unpacked to disk.

A group's filters and texts extend those of its watches. Notifications go to the watch's addresses, else its groups',
else the settings'. A watch with trigger texts, restock conditions or notifications also becomes an alert.
"""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from extras.migrate import drafting
from extras.migrate.detection import decoded
from extras.migrate.notifying import destinations
from extras.migrate.requests import UNSUPPORTED, pairs_of, request_of

SAME: Final = frozenset(("sort_text_alphabetically", "trim_text_whitespace"))
ALIKE: Final = frozenset(("webdriver_delay", "check_unique_lines", "remove_duplicate_lines"))
NOT_IMPORTED: Final = (
    "browser_steps", "webdriver_js_execute_code", "proxy", "ignore_text", "extract_text", "conditions",
    "ignore_status_codes", "notification_title", "notification_body", "notification_screenshot",
    "strip_ignored_lines", "llm_intent",
)  # fmt: skip
ONE_WAY: Final = ("filter_text_added", "filter_text_removed", "filter_text_replaced")
"""Kinds of change that a watch may exclude."""
PLAIN_BACKENDS: Final = ("", "system", "html_requests")

MOST_MEMBERS: Final = 500_000
LARGEST: Final = 64 * 1024 * 1024  # maximum bytes of all read members, unpacked
WANTED = re.compile(r"(?:^|/)(?:([^/]+)/)?(url-watches\.json|changedetection\.json|watch\.json|tag\.json)$")
_OLD, _NEW = "url-watches.json", "changedetection.json"
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError)
"""RuntimeError: encrypted, or an unusual compression. ValueError: inconsistent headers."""


def out_of_zip(data: bytes) -> dict[str, bytes]:
    """Return the relevant files by name. Raises NotReadable, also if they exceed the limits."""
    found, size = {}, 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise drafting.NotReadable(f"The zip has {len(members)} files; at most {MOST_MEMBERS} are read.")
            for member in members:
                if not WANTED.search(member.filename):
                    continue
                with archive.open(member) as stream:
                    found[member.filename] = stream.read(LARGEST - size + 1)
                size += len(found[member.filename])
                if size > LARGEST:
                    raise drafting.NotReadable(f"Unpacked, its JSON is larger than {LARGEST >> 20} MiB.")
    except _BROKEN as error:
        raise drafting.NotReadable(f"The zip can't be read: {error}.") from None
    return found


class Datastore:
    """All watches and tags by id, and the application's settings."""

    def __init__(self) -> None:
        self.watches: dict[str, Mapping[str, Any]] = {}
        self.tags: dict[str, Mapping[str, Any]] = {}
        self.application: Mapping[str, Any] = {}
        self.headers: Mapping[str, Any] = {}

    def take(self, name: str, value: Any) -> None:
        where = WANTED.search(name)
        owner, file = (where[1] or "", where[2]) if where else ("", _OLD)
        if file == "watch.json":
            self.watches[owner] = drafting.mapping(value)
        elif file == "tag.json":
            self.tags[owner] = drafting.mapping(value)
        else:
            self._take_all(drafting.mapping(value))

    def _take_all(self, value: Mapping[str, Any]) -> None:
        settings = drafting.mapping(value.get("settings"))
        self.application = drafting.mapping(settings.get("application"))
        self.headers = drafting.mapping(settings.get("headers"))
        for owner, tag in drafting.mapping(self.application.get("tags")).items():
            self.tags.setdefault(owner, drafting.mapping(tag))
        for owner, watch in drafting.mapping(value.get("watching")).items():
            self.watches.setdefault(owner, drafting.mapping(watch))


def datastore(data: bytes) -> Datastore:
    files = out_of_zip(data) if data.startswith(b"PK") else {_OLD: data}
    if not files:
        raise drafting.NotReadable("It contains neither url-watches.json nor watch.json.")
    store = Datastore()
    moved = any(name.endswith(_NEW) for name in files)
    for name, content in files.items():
        if moved and name.endswith(_OLD):
            continue  # leftover of an upgrade: it contains watches deleted since
        try:
            value = decoded(content)
        except drafting.NotReadable as error:
            raise drafting.NotReadable(f"{name}: {error}") from None
        one = isinstance(value, dict) and "url" in value and "watching" not in value
        store.take("one/watch.json" if one and name == _OLD else name, value)
    return store


PROCESSOR: Final = "restock_diff"
_STOCK: Final = {"in_stock_only": "availability:in_stock", "all_changes": "kind:availability", "off": ""}
_LARGEST: Final = Decimal(10**12)


def restock_query(settings: Mapping[str, Any]) -> str:
    """Return the query for a watch's settings; missing ones have their form's defaults.

    >>> restock_query({})
    'availability:in_stock OR kind:price'
    >>> restock_query({"in_stock_processing": "off", "price_change_min": 300.0, "price_change_threshold_percent": "5"})
    'price<300 (price.drop>5% OR price.rise>5%)'
    """
    stock = _STOCK.get(drafting.text(settings, "in_stock_processing") or "in_stock_only", "")
    parts = [stock, _price(settings) if drafting.truth(settings.get("follow_price_changes", True)) else ""]
    return " OR ".join(part for part in parts if part)


def _price(settings: Mapping[str, Any]) -> str:
    low, high, share = (_number(settings.get(f"price_change_{name}")) for name in ("min", "max", "threshold_percent"))
    bounds = [f"price{sign}{number}" for sign, number in (("<", low), (">", high)) if number]
    asked = f"({' OR '.join(bounds)})" if len(bounds) > 1 else "".join(bounds)
    moved = f"(price.drop>{share}% OR price.rise>{share}%)" if share else ""
    return " ".join(part for part in (asked, moved) if part) or "kind:price"


def _number(value: Any) -> str:
    """Return a form's number as a query writes it; "" if unset or invalid."""
    try:
        number = Decimal(str(value).strip()) if value is not None and not isinstance(value, bool) else Decimal(0)
    except InvalidOperation:
        return ""
    if not number.is_finite() or not 0 < number < _LARGEST:
        return ""
    return f"{number.quantize(Decimal('0.01')).normalize():f}"


PARTS: Final = {"weeks": 604800, "days": 86400, "hours": 3600, "minutes": 60, "seconds": 1}
_WHOLE_PAGE: Final = "the whole page is watched"
_DATA: Final = ("jq:", "jqraw:")


def read_changedetection(data: bytes) -> drafting.Plan:
    """Raises NotReadable."""
    store = datastore(data)
    if len(store.watches) > drafting.MOST_ITEMS:
        raise drafting.NotReadable(f"It has {len(store.watches)} watches; at most {drafting.MOST_ITEMS} are read.")
    draft = drafting.Drafting()
    for owner, watch in store.watches.items():
        name = drafting.text(watch, "title")
        place = f"watch {owner[:8]}" + (f" ({drafting.shortened(name, 40)})" if name else "")
        _Reading(draft, store, place, watch).read()
    if drafting.texts(store.application, "global_ignore_text"):
        draft.note("the settings", "global_ignore_text", "impossible", drafting.NO_COUNTERPART)
    if store.headers:
        draft.note("the settings", "headers", "impossible", "they may contain secrets, which are not imported")
    return draft.plan("changedetection")


class _Reading:
    """One watch with its groups."""

    def __init__(self, draft: drafting.Drafting, store: Datastore, place: str, watch: Mapping[str, Any]) -> None:
        self._drafting, self._store, self._place, self._watch = draft, store, place, watch
        tags = watch.get("tags")
        named = tags if isinstance(tags, list) else []
        self._groups = [store.tags[tag] for tag in named if isinstance(tag, str) and tag in store.tags]

    def read(self) -> None:
        watch, place, note = self._watch, self._place, self._drafting.note
        address = drafting.text(watch, "url")
        if "{{" in address or "{%" in address:
            note(place, "address", "impossible", "a template makes it for each check")
            return
        method = (drafting.text(watch, "method") or "GET").upper()
        if method not in {"GET", "POST"}:
            note(place, "method", "impossible", UNSUPPORTED)
            return
        if address.startswith("source:"):
            address = address.removeprefix("source:")
            note(place, "source:", "approximated", "the page's text is watched, not its source")
        url = self._drafting.source(
            place,
            address,
            title=drafting.text(watch, "title"),
            tags=self._tags(),
            selectors=self._selectors("include_filters", _WHOLE_PAGE),
            ignore=self._selectors("subtractive_selectors", "it stays in"),
            seconds=self._seconds(),
            headers=self._request(drafting.text(watch, "body") if method == "POST" else None),
            shown=self._shown(posts=method == "POST"),
            enabled=not any(map(drafting.truth, (watch.get("paused"), self._store.application.get("all_paused")))),
        )
        if url is not None:
            self._tell()
            self._alert(url)

    def _all(self, name: str) -> list[str]:
        """Return a field's lines from the watch and its groups."""
        return list(dict.fromkeys(line for one in (self._watch, *self._groups) for line in drafting.texts(one, name)))

    def _tags(self) -> list[str]:
        named = [drafting.text(group, "title") for group in self._groups]
        return [*named, *drafting.text(self._watch, "tag").split(",")]

    def _selectors(self, name: str, otherwise: str) -> list[str]:
        rules = self._all(name)
        if name == "subtractive_selectors":
            rules += drafting.texts(self._store.application, "global_subtractive_selectors")
        found = [self._css(name, rule, otherwise) for rule in rules]
        if name == "include_filters" and None in found:
            return []  # the others alone would cover too little
        if name == "include_filters" and found and drafting.joined_selectors([css for css in found if css]) is None:
            self._drafting.note(self._place, name, "impossible", f"a JSONPath next to other selectors: {otherwise}")
            return []
        return [css for css in found if css]

    def _css(self, name: str, rule: str, otherwise: str) -> str | None:
        if rule.startswith("json:"):
            return rule.removeprefix("json:").strip()
        if rule.startswith(_DATA):
            kind = rule.partition(":")[0]
            self._drafting.note(self._place, name, "impossible", f"{kind}: nothing is selected from JSON: {otherwise}")
            return None
        path = next((rule.removeprefix(sign) for sign in ("xpath:", "xpath1:") if rule.startswith(sign)), None)
        if path is None and not rule.startswith("/"):
            return rule.removeprefix("css:").strip()
        self._drafting.note(self._place, name, "exact", "XPath")
        return f"xpath:{(rule if path is None else path).strip()}"

    def _seconds(self) -> float | None:
        parts = drafting.mapping(self._watch.get("time_between_check"))
        own = sum(size * _watch_number(parts.get(name)) for name, size in PARTS.items())
        if self._watch.get("time_between_check_use_default", not own):  # absent in older versions
            says = "an adaptive interval, in place of one interval for all"
            self._drafting.note(self._place, "interval", "approximated", says)
            return None
        return own or None

    def _shown(self, *, posts: bool) -> drafting.RenderChoice:
        backend = drafting.text(self._watch, "fetch_backend") or "system"
        if backend == "system":
            backend = drafting.text(self._store.application, "fetch_backend")
        return (
            drafting.shown(self._drafting.note, self._place, "fetch_backend", posts=posts)
            if backend not in PLAIN_BACKENDS
            else drafting.PLAIN
        )

    def _request(self, body: str | None) -> str | None:
        pairs = [pair for one in (*self._groups, self._watch) for pair in pairs_of(one.get("headers"))]
        return request_of(self._drafting, self._place, pairs, body=body)

    def _tell(self) -> None:
        place, watch, note = self._place, self._watch, self._drafting.note
        others = [name for name in (*SAME, *ALIKE, *NOT_IMPORTED) if drafting.is_set(watch.get(name))]
        others += [name for name in ONE_WAY if watch.get(name) is False]
        drafting.note_other(self._drafting, place, others, SAME, ALIKE)
        if drafting.text(watch, "processor") == PROCESSOR:
            says = "an alert's query for prices and availability; a percentage refers to the last reported price"
            note(place, "processor", "approximated", says)
        elif drafting.text(watch, "processor") not in ("", "text_json_diff"):
            note(place, "processor", "approximated", "its text is watched")
        if drafting.truth(drafting.mapping(watch.get("time_schedule_limit")).get("enabled")):
            note(place, "time_schedule_limit", "impossible", "it is checked at all times: set the source's hours")

    def _alert(self, url: str) -> None:
        words, destinations = self._query(), self._destinations()
        query = self._with_restock(words)
        if not (query or destinations):
            return
        # There, a trigger is a text on the current page, and with it every change is reported.
        body = drafting.named("changedetection.io", query, "page" if words else "change")
        self._drafting.alert(self._place, url, body, destinations)

    def _with_restock(self, words: str) -> str:
        """Add the watch's conditions on price and stock; a group may override them."""
        if drafting.text(self._watch, "processor") != PROCESSOR:
            return words
        ruling = [group for group in self._groups if drafting.truth(group.get("overrides_watch"))]
        levels = (drafting.mapping(level.get("restock_settings")) for level in (*ruling, self._watch))
        settings = next(filter(None, levels), {})
        asked = restock_query(settings)
        return f"{words} ({asked})" if words and asked else words or asked

    def _query(self) -> str:
        wanted = self._lookups("trigger_text", wide=True)
        unwanted = self._lookups("text_should_not_be_present", wide=False)
        if wanted and len(wanted) < len(self._all("trigger_text")):
            wanted = []  # rather notify too often than never
        try:
            return drafting.whole(
                drafting.any_of(wanted) if wanted else "", drafting.none_of(unwanted) if unwanted else ""
            )
        except drafting.Unsayable as error:
            self._drafting.note(self._place, "trigger_text", "impossible", str(error))
            return ""

    def _lookups(self, name: str, *, wide: bool) -> list[str]:
        found = []
        for line in self._all(name):
            try:
                found.append(drafting.lookup(line, wide=wide))
            except drafting.Unsayable as error:
                self._drafting.note(self._place, name, "impossible", f"{error}: the entries it hid are reported too")
                continue
            how = drafting.BEGINNINGS if wide else drafting.WHOLE_WORDS
            says = f"an alert's query: {how}; the stream has all changes"
            self._drafting.note(self._place, name, "approximated", says)
        return found

    def _destinations(self) -> list[drafting.DestinationBody]:
        muted = self._watch.get("notification_muted"), self._store.application.get("all_muted")
        if any(map(drafting.truth, muted)):
            self._drafting.note(self._place, "notification_muted", "exact", "it notifies no destination")
            return []
        levels = (self._watch, *self._groups, self._store.application)
        addresses = next((found for level in levels if (found := drafting.texts(level, "notification_urls"))), [])
        made = (destinations(self._drafting, self._place, address) for address in dict.fromkeys(addresses))
        return [one for found in made for one in found]


def _watch_number(value: Any) -> float:
    if isinstance(value, str):
        return float(value) if value.isascii() and value.isdecimal() and len(value) < 9 else 0.0
    return float(min(value, 10**9)) if isinstance(value, int | float) else 0.0
