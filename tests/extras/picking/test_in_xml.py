"""XPaths made from lines of XML."""

from __future__ import annotations

import pytest

from actors.content.pages.page import blocks_in, open_page
from actors.content.pages.plain import xml_holders
from extras.picking.in_documents import XmlReaches
from tests.support.pages import read_page

ABOUT = "about this plan " * 12
PLANS = (
    "<?xml version='1.0'?><shop xmlns='https://a.test/ns'><plans>"
    f"<plan id='t1'><name>Team</name><about>{ABOUT}</about><price>29</price></plan>"
    f"<plan id='s1'><name>Solo</name><about>{ABOUT}</about><price>9</price></plan></plans>"
    "<links><link href='/a'>A</link><link href='/b'>B</link></links><tail>end</tail></shop>"
)


def reaches(text: str) -> XmlReaches:
    root, holders = xml_holders(text)
    return XmlReaches(root, blocks_in(open_page(text.encode(), "", None, ())), holders)


@pytest.mark.parametrize(
    ("block", "this", "like", "part"),
    [
        ("price: 29", '/shop/plans/plan[@id="t1"]/price', "/shop/plans/plan/price", '/shop/plans/plan[@id="t1"]'),
        ("tail: end", "/shop/tail", "", ""),
    ],
)
def test_a_line_is_named_by_its_elements_distinguishing_attribute(block: str, this: str, like: str, part: str) -> None:
    found = reaches(PLANS)
    at = found.blocks.texts.index(block)
    assert (found.this(at), found.like(at), found.part(at)) == (this, like, part)


def test_a_block_is_distinguished_by_attribute_then_element_then_number() -> None:
    named = reaches(PLANS.replace(" id='t1'", "").replace(" id='s1'", ""))
    assert named.this(named.blocks.texts.index("price: 9")) == '/shop/plans/plan[normalize-space(name)="Solo"]/price'
    alike = reaches(f"<r><it><c>{ABOUT}</c><d>1</d></it><it><c>{ABOUT}</c><d>1</d></it></r>")
    assert alike.this(3) == "/r/it[2]/d"


def test_each_selector_selects_as_a_check_does() -> None:
    found = reaches(PLANS)
    for at, text in enumerate(found.blocks.texts):
        selector = found.this(at)
        assert at in found.chosen(selector)
        watched = read_page(PLANS.encode(), "", "https://a.test/", selector, ()).blocks
        assert len(watched) == len(found.chosen(selector))
        assert text.endswith(watched[-1]) or len(watched) > 1


def test_quotes_and_names_that_can_not_stand_in_an_xpath_give_none_or_a_number() -> None:
    found = reaches(f"<r><z>{ABOUT}</z><it k='say &quot;x&quot;'>1</it><it k=''>2</it><ö>3</ö></r>")
    assert [found.this(at) for at in range(len(found.blocks.texts))] == ["/r/z", "/r/it[1]", "/r/it[2]", ""]
