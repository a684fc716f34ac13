"""Miniflux: its API's response to `GET /v1/feeds`. Pure. (Its OPML needs no special reader.)"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from extras.migrate.asking import basic_of, cookies_of, request_of
from extras.migrate.drafting import (
    BEGINNINGS,
    WHOLE_WORDS,
    Drafting,
    Field,
    Unsayable,
    any_of,
    mapping,
    none_of,
    pattern,
    records,
    tell_of,
    text,
    truth,
    whole,
)
from extras.migrate.notifying import destinations
from extras.migrate.plan import DestinationBody, Plan, named
from extras.migrate.recognising import decoded

PLACE: Final = "feed"
_ENTRY: Final = "an event has the entry's text from the feed; the article is not fetched"
FIELDS: Final = (
    Field("crawler", "impossible", _ENTRY),
    Field("scraper_rules", "impossible", _ENTRY),
    Field("rewrite_rules", "impossible", "texts are reported unchanged"),
    Field("urlrewrite_rules", "impossible", "addresses of entries are reported unchanged"),
    Field("user_agent", "impossible", "checks identify themselves as Sanderling, with the setting contact"),
    Field("fetch_via_proxy", "impossible", "checks connect directly"),
    Field("proxy_url", "impossible", "checks connect directly"),
    Field("allow_self_signed_certificates", "impossible", "a certificate must be valid"),
    Field("ignore_http_cache", "approximated", "checks are conditional; an unchanged body is not reported"),
    Field("disable_http2", "exact", "checks use HTTP/1.1"),
    Field("no_media_player", "exact", "there is none"),
    Field("hide_globally", "impossible", "every event is on the stream; filter by tag there"),
    Field("ntfy_enabled", "impossible", "ntfy: our webhooks don't support it; put a receiver in front"),
    Field("pushover_enabled", "impossible", "Pushover: our webhooks don't support it; put a receiver in front"),
)
_ANYWHERE: Final = "in titles and texts only, without addresses, authors and tags"
_RULE = re.compile(r"(?P<field>Entry\w+)\s*=\s*(?P<pattern>.+)", re.DOTALL)


def read_miniflux(data: bytes) -> Plan:
    """Raises NotReadable."""
    found = decoded(data)
    drafting = Drafting()
    for number, feed in enumerate(records(found.get("feeds") if isinstance(found, dict) else found, "feeds"), 1):
        _feed(drafting, f"{PLACE} {feed.get('id', number)}", feed)
    return drafting.plan("miniflux")


def _feed(drafting: Drafting, place: str, feed: Mapping[str, Any]) -> None:
    category = text(mapping(feed.get("category")), "title")
    url = drafting.source(
        place,
        text(feed, "feed_url"),
        title=text(feed, "title"),
        tags=(category,) if category and category != "All" else (),
        headers=request_of(
            drafting,
            place,
            (*cookies_of(feed.get("cookie")), *basic_of(text(feed, "username"), text(feed, "password"))),
        ),
        enabled=not truth(feed.get("disabled")),
    )
    if url is None:
        return
    tell_of(drafting, place, feed, FIELDS)
    query = _query(drafting, place, feed)
    sent = _destinations(drafting, place, feed)
    if query or sent:
        drafting.alert(place, url, named("Miniflux", query), sent)


def _destinations(drafting: Drafting, place: str, feed: Mapping[str, Any]) -> list[DestinationBody]:
    addresses = [*re.split(r"[,\s]+", text(feed, "apprise_service_urls")), text(feed, "webhook_url")]
    found = (destinations(drafting, place, address) for address in addresses if address)
    return [one for each in found for one in each]


def _query(drafting: Drafting, place: str, feed: Mapping[str, Any]) -> str:
    """Return the query for a feed's rules; "" without rules, or if no query can express them."""
    keep = _rules(drafting, place, feed, ("keeplist_rules", "keep_filter_entry_rules"), wide=True)
    block = _rules(drafting, place, feed, ("blocklist_rules", "block_filter_entry_rules"), wide=False)
    said = [query for query in block if query]
    try:
        # Part of the keep rules would keep too little: then report everything.
        return whole(any_of(keep) if keep and all(keep) else "", none_of(said) if said else "")
    except Unsayable as error:
        drafting.note(place, "rules", "impossible", str(error))
        return ""


def _rules(drafting: Drafting, place: str, feed: Mapping[str, Any], names: tuple[str, ...], *, wide: bool) -> list[str]:
    """Return a query per rule, "" if no query can express it."""
    lines = [(name, line) for name in names for line in text(feed, name).splitlines()]
    return [_rule(drafting, place, name, line, wide) for name, line in lines if line.strip()]


def _rule(drafting: Drafting, place: str, name: str, line: str, wide: bool) -> str:
    named = _RULE.fullmatch(line.strip())
    if named is not None and named["field"] not in ("EntryTitle", "EntryContent"):
        says = f"{named['field']}: a query searches titles and texts only: the entries it hid are reported too"
        drafting.note(place, name, "impossible", says)
        return ""
    try:
        query = pattern(line if named is None else named["pattern"], wide=wide)
    except Unsayable as error:
        drafting.note(place, name, "impossible", f"{error}: the entries it hid are reported too")
        return ""
    drafting.note(place, name, "approximated", f"an alert: {BEGINNINGS if wide else WHOLE_WORDS}; {_ANYWHERE}")
    return query
