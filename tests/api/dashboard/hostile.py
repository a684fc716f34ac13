"""Two hundred hostile strings (X12), and checks that a page shows them only as text."""

from __future__ import annotations

from itertools import product

from lxml.html import HtmlElement

_VECTORS = (
    "<script>zq()</script>",
    "<img src=x onerror=zq()>",
    "<svg onload=zq()>",
    "<svg><script href=data:,zq()></script></svg>",
    "<iframe srcdoc='<script>zq()</script>'>",
    "<a href=javascript:zq()>x</a>",
    "javascript:zq()//",
    "data:text/html,<script>zq()</script>",
    " onmouseover=zq() x=",
    "<style>*{background:url(//zq.test)}</style>",
    "<link rel=stylesheet href=//zq.test>",
    "<meta http-equiv=refresh content=0;url=//zq.test>",
    "<base href=//zq.test/>",
    "<form action=//zq.test><button>x",
    "<input autofocus onfocus=zq()>",
    "<details open ontoggle=zq()>",
    "<body onload=zq()>",
    "<math><mi xlink:href=javascript:zq()>",
    "<object data=javascript:zq()>",
    "<template><script>zq()</script></template>",
    "<!--<img src='--><img src=x onerror=zq()>",
    "{{ 7*'7' }}{% raw %}${7*7}",
    "\x00<\x00script>zq()</script>",
    "\u202e<scr\u200bipt>zq()",
    "<textarea><img src=x onerror=zq()>",
)
_OPENINGS = ("", "'", '"', "'>", '">', "</textarea>", "</title>", "-->")
PAYLOADS = tuple(opening + vector for opening, vector in product(_OPENINGS, _VECTORS))
assert len(PAYLOADS) == 200
Shape = frozenset[tuple[str, tuple[str, ...]]]


def shape(page: HtmlElement) -> Shape:
    """Return the set of elements with their attribute names; data must not change it."""
    return frozenset((str(element.tag), tuple(sorted(element.attrib))) for element in page.iter())


def stays_text(page: HtmlElement, harmless: Shape) -> None:
    """Assert that hostile data adds no element, attribute or unsafe link to the page of harmless data."""
    assert shape(page) <= harmless, sorted(shape(page) - harmless)
    for link in page.xpath("//@href | //@src | //@action | //@data-live"):
        assert link.startswith(("/", "#", "?", "http://", "https://")) and not link.startswith("//"), link
