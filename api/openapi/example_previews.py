"""Examples of a detection and a preview."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, convert

from api.schemas.previews import DetectAnswer, PageBlocks, Preview

_FOUND: dict[str, Any] = {
    "url": "https://shore.example/blog/",
    "type": "feed",
    "confidence": "high",
    "evidence": "the page advertises a feed at https://shore.example/feed: "
    'root element <rss version="2.0">, 25 items; served as text/html',
    "final_url": "https://shore.example/blog/",
    "content_type": "text/html",
    "feed_url": "https://shore.example/feed",
    "supported": True,
    "discovered_feed_url": "https://shore.example/feed",
    "source_id": None,
    "preview": {
        "fetched_at": "2026-03-10T10:00:00.000Z",
        "feed": {
            "title": "Tides",
            "format": "rss 2.0",
            "url": "https://shore.example/",
            "entries": 25,
            "undated": 0,
            "identities": {"guid": 25},
            "newest": [
                {
                    "title": "High water at noon",
                    "url": "https://shore.example/high-water",
                    "author": "Ann",
                    "content": "The sanderlings wait on the pier.",
                    "published_at": "2026-03-10T09:12:00.000Z",
                    "tags": ["change:new", "category:sea"],
                    "identity": "guid",
                    "told": True,
                }
            ],
            "backfill": 25,
            "damaged": False,
            "hubs": ["https://hub.example/"],
            "paging": {"next": "https://shore.example/feed?page=2"},
        },
        "page": None,
        "push": None,
        "pace": {
            "interval_s": 912.5,
            "next_look_at": "2026-03-10T10:30:00.000Z",
            "max_age_s": 0,
            "ttl_s": 1800,
            "skip_hours": [],
            "skip_days": [],
        },
        "robots": None,
        "rendering": None,
        "part": None,
    },
}
_PART = {"selector": "#prices", "ignore": [".visitors-online"], "inherited": {"ignore": ["label:shop"]}}
_PAGE: dict[str, Any] = {
    "fetched_at": "2026-04-21T10:24:07.120Z",
    "feed": None,
    "page": {
        "title": "Prices",
        "author": "",
        "published_at": None,
        "content": "Opening hours and prices. Day ticket: 14 euros.",
        "blocks": [
            {"text": "Day ticket: 14 euros.", "watched": True, "why": ""},
            {"text": "31 visitors online", "watched": False, "why": ""},
        ],
        "watched": 6,
        "left_out": 1,
        "matched": 1,
        "ignored": [{"selector": ".visitors-online", "elements": 1}],
        "partial": False,
        "listed": 0,
        "items": [],
    },
    "push": None,
    "pace": None,
    "robots": {"allowed": True, "crawl_delay_s": None, "says": "no rule of robots.txt is about this page"},
    "rendering": {
        "says": "This page is empty without JavaScript (<div id=root> is empty until its scripts run), so a browser "
        "shows it: each look costs about 100 times a plain one. It fills itself from "
        "https://shore.example/api/prices (14 KB of JSON): to watch that is a plain look.",
        "empty": "<div id=root> is empty until its scripts run",
        "done": True,
        "costs": 100,
        "filled_by": [{"url": "https://shore.example/api/prices", "size": 14331}],
    },
    "part": _PART,
}
_TICKET: dict[str, Any] = {
    "number": 7,
    "mark": "d54adf93",
    "text": "14.50 €",
    "length": 7,
    "kind": "cell",
    "heading": "Prices",
    "row": "Day ticket",
    "column": "Price",
    "why": "",
    "watched": True,
    "selector": "//tr[*[1][normalize-space()='Day ticket']]/*[2]",
    "item": False,
    "values": [
        {
            "text": "14.50 €",
            "type": "money",
            "number": 1450,
            "scale": 2,
            "unit": "EUR",
            "subject": "price",
            "condition": 'label:"Day ticket · Price" price',
        }
    ],
}
_HELD = {"versions": 7, "same": 7, "nothing": 0, "since": "2026-05-03T09:12:44.102Z"}
_KEPT: dict[str, Any] = {
    "selector": "#prices tr > td:nth-of-type(2)",
    "ignore": [],
    "texts": ["14.50 €", "7.00 €"],
    "count": 2,
    "digest": "22c643e920c2fcdb",
    "items": 0,
}
_BLOCKS: dict[str, Any] = {
    "fetched_at": "2026-04-21T10:24:07.120Z",
    "title": "Prices",
    "format": "html",
    "total": 24,
    "found": 24,
    "first": 0,
    "blocks": [_TICKET],
    "no_parts": "",
    "now": _KEPT | {"selector": None, "texts": ["Prices", "Day ticket", "14.50 €"], "count": 18},
    "choice": {
        "block": _TICKET,
        "reaches": [
            {"name": "this", "selector": _TICKET["selector"], "blocks": 1, "held": _HELD},
            {"name": "like", "selector": _KEPT["selector"], "blocks": 2, "held": _HELD},
            {"name": "part", "selector": "#prices", "blocks": 6, "held": _HELD},
        ],
        "reach": "like",
        "kept": _KEPT,
    },
    "gone": False,
    "listed": 0,
    "part": _PART,
    "partial": False,
}
ALL: tuple[Struct, ...] = (
    convert(_FOUND, DetectAnswer),
    convert(_PAGE, Preview),
    convert(_BLOCKS, PageBlocks),
)
