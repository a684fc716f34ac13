"""Prices and stock that a page declares only for machines, by schema.org."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.content.messages import PageLook, PageRequest
from actors.content.pages.offers import MOST_OFFERS, Offer
from actors.content.pages.page import open_page
from actors.content.tasks import look_page
from actors.notification.headline import headline, listed_event
from storage.records.event import Value
from tests.support.pages import read_page

WORDS = "It boils a litre of water in three minutes, keeps it warm for an hour, and switches itself off after that."
URL = "https://shop.example/kettle"


def shop(declared: str, shown: str = "", head: str = "") -> bytes:
    paragraphs = "".join(f"<p>{WORDS} {number}</p>" for number in ("one", "two", "three", "four", "five"))
    body = f"<main><h1>Kettle</h1>{shown}{paragraphs}{declared}</main>"
    return f"<html lang=en><head><title>Kettle</title>{head}</head><body>{body}</body></html>".encode()


def ld(price: Any = "49.90", state: str = "https://schema.org/InStock", **more: Any) -> str:
    offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": state} | more
    product = {"@context": "https://schema.org", "@type": "Product", "name": "Kettle 7", "offers": offer}
    return f'<script type="application/ld+json">{json.dumps(product)}</script>'


MICRODATA = (
    '<div itemscope itemtype="https://schema.org/Product"><meta itemprop="name" content="Kettle 7">'
    '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><data itemprop="price" value="49.90"></data>'
    '<meta itemprop="priceCurrency" content="eur"><link itemprop="availability" href="https://schema.org/OutOfStock">'
    "</div></div>"
)
METAS = (
    '<meta property="og:title" content="Kettle 7"><meta property="product:price:amount" content="49.90">'
    '<meta property="product:price:currency" content="EUR"><meta property="product:availability" content="in stock">'
)
KETTLE = Offer("Kettle 7", "49.90", "EUR", "In stock")


def offers(body: bytes) -> tuple[Offer, ...]:
    return open_page(body, "text/html", None, ()).offers


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (shop(ld()), (KETTLE,)),
        (shop(ld(49.90)), (KETTLE._replace(price="49.9"),)),
        (shop(MICRODATA), (KETTLE._replace(state="Out of stock"),)),
        (shop("", head=METAS), (KETTLE,)),
        (shop(ld("from 49,90")), (Offer("Kettle 7", "", "EUR", "In stock"),)),
        (
            shop(ld(None, "", priceSpecification={"price": 5, "priceCurrency": "USD"})),
            (Offer("Kettle 7", "5", "EUR", ""),),
        ),
        (shop(ld() + ld()), (KETTLE,)),
        (shop('<script type="application/ld+json">{"@type": "Offer", "price": }</script>'), ()),
        (shop('<script type="application/ld+json">' + "[" * 5_000 + '"Offer"</script>'), ()),
        (shop('<script type="application/ld+json">["Offer", 1, null, {"@type": 5}]</script>'), ()),
    ],
)
def test_offers_are_read_in_every_place_a_page_declares_them(body: bytes, found: tuple[Offer, ...]) -> None:
    assert offers(body) == found


def test_a_catalogue_is_read_as_far_as_a_page_of_offers_goes() -> None:
    many = json.dumps([{"@type": "Offer", "name": f"N{n}", "price": str(n)} for n in range(9_000)])
    assert len(offers(shop(f'<script type="application/ld+json">{many[:200_000]}</script>'))) == 0, "cut: no JSON"
    some = json.dumps([{"@type": "Offer", "name": f"N{n}", "price": str(n)} for n in range(900)])
    assert len(offers(shop(f'<script type="application/ld+json">{some}</script>'))) == MOST_OFFERS


def test_scopes_within_scopes_are_walked_as_far_as_a_page_of_offers_goes() -> None:
    scope = '<div itemscope itemtype="https://schema.org/Offer"><meta itemprop=price content="{}">'
    assert len(offers(shop("".join(scope.format(number) for number in range(600))))) == MOST_OFFERS


def look(body: bytes, before: PageLook | None = None, number: int = 1) -> PageLook:
    memory = None if before is None else before.memory
    return look_page(PageRequest(body, "text/html", URL, memory=memory, number=number, at=number * 3_600_000))


def looks(*bodies: bytes) -> list[PageLook]:
    found: list[PageLook] = []
    for number, body in enumerate(bodies, 1):
        found.append(look(body, found[-1] if found else None, number))
    return found


def test_a_machine_readable_price_is_a_change_with_its_value() -> None:
    _, second = looks(shop(ld()), shop(ld("39.90")))
    assert second.kind == "changed" and second.diff is not None
    (changed,) = second.diff.changed
    assert (changed.before, changed.after) == ("€49.90", "€39.90")
    assert second.delta is not None and second.delta.ops[0].after == "39.90 EUR"  # as the memory has it
    (price,) = second.changes
    assert (price.kind, price.label) == ("price", "Kettle 7 · Price")
    assert isinstance(price.after, Value) and (price.after.number, price.after.unit) == (3990, "EUR")


@pytest.mark.parametrize(
    ("currency", "shown"), [("GBP", "£349 → £289"), ("USD", "$349 → $289"), ("SEK", "349 SEK → 289 SEK")]
)
def test_a_machine_readable_price_reads_as_people_write_it_on_every_face(currency: str, shown: str) -> None:
    declared = [ld(price, priceCurrency=currency) for price in ("349.00", "289.00")]
    _, second = looks(*map(shop, declared))
    assert second.summary == f"Kettle › Kettle 7 · Price: {shown}"
    fields = msgspec.to_builtins({"diff": second.diff, "changes": second.changes})
    event = listed_event(fields | {"title": second.title, "summary": second.summary, "source_url": URL})
    assert headline(event) == f"{shown} · Kettle 7"
    (price,) = second.changes
    assert price.before and price.after and f"{price.before.text} → {price.after.text}" == shown
    assert (price.after.number, price.after.scale, price.after.unit) == (28900, 2, currency)


def test_a_machine_readable_state_is_a_change_of_availability() -> None:
    _, second = looks(shop(ld()), shop(ld(state="OutOfStock")))
    (state,) = second.changes
    assert (state.kind, state.after and state.after.value) == ("availability", "out_of_stock")


def test_microdata_in_invisible_attributes_is_compared_too() -> None:
    bodies = [shop(MICRODATA)] * 4 + [shop(MICRODATA.replace("49.90", "39.90"))]
    assert [one.kind for one in looks(*bodies)] == ["baseline", *["unchanged"] * 3, "changed"]


def test_values_that_the_page_shows_are_not_reported_twice() -> None:
    shown = "<p>Now for €49.90</p><p>In stock</p>"
    page = read_page(shop(ld(), shown), "text/html", URL, None, ())
    assert "49.90 EUR" not in page.blocks and page.blocks.count("In stock") == 1
    _, second = looks(shop(ld(), shown), shop(ld("39.90"), shown.replace("49.90", "39.90")))
    assert [one.kind for one in second.changes] == ["price"]


def test_a_part_that_the_user_chose_has_no_offers() -> None:
    assert "49.90 EUR" not in read_page(shop(ld()), "text/html", URL, "h1", ()).blocks


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["@type", "name", "price", "offers", "priceCurrency", "availability", "priceSpecification"]
                ),
                inner | st.sampled_from(["Offer", "Product", "1.5"]),
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_offers_in_any_declared_json_are_texts(document: Any) -> None:
    code = json.dumps([document, "Offer"]).replace("<", "")
    for offer in offers(shop(f'<script type="application/ld+json">{code}</script>')):
        assert all(isinstance(part, str) for part in offer) and (offer.price or offer.state)
