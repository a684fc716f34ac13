"""Offers in a page's machine-readable data (schema.org): JSON-LD, microdata, meta elements.

Shops often show prices and stock by scripts only. If no text has the declared price, the offer becomes a block,
"1099.00 EUR" in the row of its product; so does its availability. It is judged and rebuilt like any block: a second
channel would need its own memory. A shown price that comes and goes makes the block flicker.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from actors.content.bodies.markup import Element
from actors.content.bodies.text import normalise
from actors.content.pages.blocks import Blocks
from actors.content.pages.traits import CELL, TOP, CellLabels
from actors.content.values.reading import Writing, availability_in, values_in
from storage.records.event import Value

MOST_OFFERS = 20
_MOST_SCRIPTS, _MOST_SCRIPT, _MOST_NODES = 20, 256 * 1024, 4_000
_MOST_NAME, _DEEPEST = 80, 40
_PRICE = re.compile(r"\d{1,12}(?:\.\d{1,4})?")
_SEPARATORS = re.compile(r"[.,'’\s]")
_LONGEST_LABEL = 48  # characters of a text that may be a label of availability
_CODE = re.compile(r"[A-Z]{3}")
_WRAPPING = re.compile(r"/\*\s*(?:<!\[CDATA\[|\]\]>)\s*\*/|//\s*(?:<!\[CDATA\[|\]\]>)|<!\[CDATA\[|\]\]>|<!--|-->")
_TRAILING = re.compile(r",(\s*[}\]])")
_STATE_TYPES = ("application/json", "text/json")
_MOST_STATE = 3
_STOCK_MEMBERS = ("inStock", "in_stock", "available", "isAvailable")
_METAS = ("product:price:amount", "og:price:amount")
_CURRENCIES = ("product:price:currency", "og:price:currency")
_STATES = ("product:availability", "og:availability")
_WORDS: Mapping[str, str] = {
    "instock": "In stock", "instoreonly": "In stock", "onlineonly": "In stock", "limitedavailability": "Limited stock",
    "preorder": "Pre-order", "presale": "Pre-order", "backorder": "Back-order", "madetoorder": "Back-order",
    "outofstock": "Out of stock", "soldout": "Sold out", "oos": "Out of stock", "discontinued": "Discontinued",
}  # fmt: skip
"""States of schema.org and of product feeds, as labels that `availability_in` reads."""
PRICE_COLUMN, STATE_COLUMN = "Price", "Availability"


class Offer(NamedTuple):
    """An offer: product, price and availability; "" if missing."""

    name: str
    price: str
    currency: str
    state: str


def offers_of(root: Element, text: str) -> tuple[Offer, ...]:
    """Return the offers that a page declares, each once. text: the page's, to skip the search if there can be none."""
    found: dict[Offer, None] = {}
    if "ld+json" in text and '"' in text:
        found |= dict.fromkeys(_in_scripts(root))
    if not found and "itemprop" in text:
        found |= dict.fromkeys(_in_attributes(root))
    if found or "price" not in text:
        return tuple(found)[:MOST_OFFERS]
    if "price:amount" in text:
        found |= dict.fromkeys(_in_metas(root))
    if not found and "data-price" in text:
        found |= dict.fromkeys(_in_data(root))
    if not found and '"price"' in text and ("json" in text or "json" in text.lower()):
        # The state of a page with many products describes more than this page.
        state = dict.fromkeys(_in_scripts(root, *_STATE_TYPES))
        found |= state if len(state) <= _MOST_STATE else {}
    return tuple(found)[:MOST_OFFERS]


def with_offers(blocks: Blocks, offers: Sequence[Offer]) -> Blocks:
    return inserted(blocks, _unshown(blocks, offers) if offers else [], CELL)


def inserted(blocks: Blocks, rows: Sequence[tuple[str, CellLabels | None]], trait: int) -> Blocks:
    if not rows:
        return blocks
    at = place_of_offers(blocks)
    has_places = blocks.places or any(place for _, place in rows)
    places = blocks.places or (None,) * len(blocks.texts)
    return Blocks(
        (*blocks.texts[:at], *(text for text, _ in rows), *blocks.texts[at:]),
        (*blocks.traits[:at], *(trait for _ in rows), *blocks.traits[at:]),
        (*blocks.linked[:at], *(0 for _ in rows), *blocks.linked[at:]),
        blocks.partial,
        (*places[:at], *(place for _, place in rows), *places[at:]) if has_places else (),
    )


def place_of_offers(blocks: Blocks) -> int:
    """Return the block index for offers: after the page's heading, since blocks outside the text weigh little."""
    return next((i + 1 for i, trait in enumerate(blocks.traits) if trait & TOP), 0)


def _unshown(blocks: Blocks, offers: Sequence[Offer]) -> list[tuple[str, CellLabels]]:
    # Most blocks cannot match: they lack every price's digits, so their values need no reading.
    wholes = {offer.price.partition(".")[0] for offer in offers if offer.price}
    near = (text for text in blocks.texts if any(whole in _SEPARATORS.sub("", text) for whole in wholes))
    values = (found.value for text in near for found in values_in(text, Writing()))
    shown = {value.meaning()[:2] for value in values if isinstance(value.number, int)}
    labels = (text for text in blocks.texts if len(text) <= _LONGEST_LABEL and any(offer.state for offer in offers))
    has_state = any(True for text in labels for _ in availability_in(text.lower()))
    rows: list[tuple[str, CellLabels]] = []
    for offer in offers:
        whole, _, decimals = offer.price.partition(".")
        if whole and Value("", "money", int(whole + decimals), len(decimals)).meaning()[:2] not in shown:
            rows.append((_written(offer), CellLabels(offer.name, PRICE_COLUMN)))
        if offer.state and not has_state:
            rows.append((offer.state, CellLabels(offer.name, STATE_COLUMN)))
    return rows


def _written(offer: Offer) -> str:
    return f"{offer.price} {offer.currency}".strip() if offer.price else ""


def _in_scripts(root: Element, *types: str) -> Iterator[Offer]:
    """Yield the offers in scripts of these types; JSON-LD by default."""
    budget = [_MOST_NODES]
    wanted = types or ("application/ld+json",)
    scripts = [script for script in root.iter("script") if script.get("type") in wanted]
    for script in scripts[:_MOST_SCRIPTS]:
        code = script.text or ""
        if len(code) > _MOST_SCRIPT or ("price" if types else "ffer") not in code:
            continue
        document = _loaded(code)
        yield from _in_state(document, "", budget, 0) if types else _in_node(document, "", budget, 0)


def _loaded(code: str) -> Any:
    code = _WRAPPING.sub("", code)
    for text in (code, _TRAILING.sub(r"\1", html.unescape(code))):
        try:
            return json.loads(text, strict=False, parse_float=str, parse_int=str)
        except (ValueError, RecursionError):
            continue
    return None


def _in_state(node: Any, name: str, budget: list[int], depth: int) -> Iterator[Offer]:
    """Yield the priced objects in the state that a page gives its scripts."""
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEEPEST:
        return
    if isinstance(node, dict):
        name = _text(node.get("name") or node.get("title")) or name
        if price := _price(node.get("price")):
            in_stock = next((node[key] for key in _STOCK_MEMBERS if isinstance(node.get(key), bool)), None)
            state = _state(node.get("availability")) or {True: "In stock", False: "Out of stock", None: ""}[in_stock]
            yield Offer(name, price, _currency(node.get("priceCurrency") or node.get("currency")), state)
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        if isinstance(value, dict | list):
            yield from _in_state(value, name, budget, depth + 1)


def _in_data(root: Element) -> Iterator[Offer]:
    for element in islice(root.iterfind(".//*[@data-price]"), MOST_OFFERS):
        name = _text(element.get("data-name") or element.get("data-product") or "")
        if price := _price(element.get("data-price")):
            yield Offer(name, price, _currency(element.get("data-currency")), _state(element.get("data-availability")))


def _in_node(node: Any, name: str, budget: list[int], depth: int) -> Iterator[Offer]:
    budget[0] -= 1
    if budget[0] < 0 or depth > _DEEPEST:
        return
    if isinstance(node, list):
        for item in node:
            yield from _in_node(item, name, budget, depth + 1)
    if not isinstance(node, dict):
        return
    types = node.get("@type")
    kinds = {str(kind).rpartition("/")[2] for kind in (types if isinstance(types, list) else [types])}
    own = node.get("name") if kinds & {"Product", "ProductGroup", "Offer", "Event", "Service"} else None
    name = _text(own) or name
    if kinds & {"Offer", "AggregateOffer"}:
        inner = node.get("priceSpecification")
        inner = next((each for each in (inner if isinstance(inner, list) else [inner]) if isinstance(each, dict)), {})
        said = (holder.get(key) for key in ("price", "lowPrice") for holder in (node, inner))
        price = next(filter(None, map(_price, said)), "")
        currency = _currency(node.get("priceCurrency")) or _currency(inner.get("priceCurrency"))
        state = _state(node.get("availability"))
        if price or state:
            yield Offer(name, price, currency, state)
    for value in node.values():
        if isinstance(value, dict | list):
            yield from _in_node(value, name, budget, depth + 1)


def _in_attributes(root: Element) -> Iterator[Offer]:
    """Yield offers of microdata: elements with `itemprop`, in the scope of an offer."""
    # Scopes may be nested, and each is walked, so their number is limited.
    typed = root.xpath("descendant-or-self::*[@itemtype]")
    scopes = (scope for scope in typed if scope.get("itemtype").rstrip("/").endswith("Offer"))
    for scope in islice(scopes, 2 * MOST_OFFERS):
        said: dict[str, str] = {}
        for element in scope.iter():
            if not isinstance(element.tag, str) or (prop := element.get("itemprop")) is None:
                continue
            value = element.get("content") or element.get("href") or element.get("value") or element.text or ""
            said.setdefault(prop, value)
        price = _price(said.get("price") or said.get("lowPrice"))
        offer = Offer(_product(scope), price, _currency(said.get("priceCurrency")), _state(said.get("availability")))
        if offer.price or offer.state:
            yield offer


def _product(scope: Element) -> str:
    outer = scope.getparent()
    while outer is not None and "itemscope" not in outer.attrib:
        outer = outer.getparent()
    if outer is None:
        return ""
    named = next((each for each in outer.iter() if isinstance(each.tag, str) and each.get("itemprop") == "name"), None)
    return "" if named is None else _text(named.get("content") or "".join(named.itertext()))


def _in_metas(root: Element) -> Iterator[Offer]:
    said: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").lower()
        said.setdefault(name, meta.get("content") or "")
    reads = (_METAS, _price), (_CURRENCIES, _currency), (_STATES, _state)
    price, currency, state = (next(filter(None, map(read, map(said.get, names))), "") for names, read in reads)
    if price:
        yield Offer(_text(said.get("og:title")), price, currency, state)


def _text(value: object) -> str:
    return normalise(" ".join(str(value).split()))[:_MOST_NAME] if isinstance(value, str) else ""


def _price(value: object) -> str:
    """Return a price in schema.org's format (digits and a point); "" for any other."""
    text = str(value).strip() if isinstance(value, str) else ""
    return text if _PRICE.fullmatch(text) else ""


def _currency(value: object) -> str:
    text = str(value).strip().upper() if isinstance(value, str) else ""
    return text if _CODE.fullmatch(text) else ""


def _state(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return _WORDS.get(re.sub(r"[\s_-]", "", value.strip().rstrip("/").rpartition("/")[2].lower()), "")
