"""changedetection.io's price and stock watches, as an alert's query."""

from __future__ import annotations

import json
from typing import Any

import pytest

from actors.query import parse
from extras.migrate.changedetection import read_changedetection, restock_query


@pytest.mark.parametrize(
    ("settings", "query"),
    [
        ({}, "availability:in_stock OR kind:price"),
        ({"in_stock_processing": "all_changes", "follow_price_changes": False}, "kind:availability"),
        ({"in_stock_processing": "off", "price_change_max": "99.90"}, "price>99.9"),
        (
            {"price_change_min": 1000, "price_change_max": 2000.456, "price_change_threshold_percent": 2},
            "availability:in_stock OR (price<1000 OR price>2000.46) (price.drop>2% OR price.rise>2%)",
        ),
        ({"in_stock_processing": "off", "price_change_min": "-1"}, "kind:price"),
        ({"in_stock_processing": "off", "price_change_min": "NaN", "price_change_max": [1]}, "kind:price"),
        ({"in_stock_processing": "nonsense", "follow_price_changes": "false"}, ""),
        ({"in_stock_processing": "off", "price_change_min": True, "price_change_max": "1e999"}, "kind:price"),
    ],
)
def test_a_dry_run_is_a_query(settings: dict[str, Any], query: str) -> None:
    assert restock_query(settings) == query
    parse(query, "en")


def a_store(**more: Any) -> bytes:
    watch = {
        "url": "https://shop.example/kettle",
        "processor": "restock_diff",
        "restock_settings": {"in_stock_processing": "off", "price_change_min": 30},
    }
    tags = {"g": {"title": "shops", "overrides_watch": True, "restock_settings": {"price_change_min": 20}}}
    application = {"tags": tags, "notification_urls": ["json://hooks.example/in"]}
    return json.dumps({"watching": {"w": watch | more}, "settings": {"application": application}}).encode()


@pytest.mark.parametrize(
    ("more", "query", "match"),
    [
        ({}, "price<30", "change"),
        ({"tags": ["g"]}, "availability:in_stock OR price<20", "change"),
        ({"trigger_text": ["kettle"]}, '"kettle*" (price<30)', "page"),
        ({"processor": "text_json_diff"}, "", "change"),
    ],
)
def test_a_watch_becomes_a_source_and_an_alert_with_it(more: dict[str, Any], query: str, match: str) -> None:
    plan = read_changedetection(a_store(**more))
    (alert,) = plan.alerts
    assert (alert.body.filter_query, alert.body.match) == (query, match)
