"""A watch of price and stock (`restock_diff`) as a query about both. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

from extras.migrate.fields import text, truth

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
    stock = _STOCK.get(text(settings, "in_stock_processing") or "in_stock_only", "")
    parts = [stock, _price(settings) if truth(settings.get("follow_price_changes", True)) else ""]
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
