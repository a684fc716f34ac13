"""Two hundred strings that would be more than text if anybody let them (X12), and how to see whether one was."""

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
    """Return which elements a page has, each with the names of its attributes: what data must not be able to change."""
    return frozenset((str(element.tag), tuple(sorted(element.attrib))) for element in page.iter())


def stays_text(page: HtmlElement, harmless: Shape) -> None:
    """Assert that a page with hostile data has no element, attribute or address that one with harmless data has not."""
    assert shape(page) <= harmless, sorted(shape(page) - harmless)
    for link in page.xpath("//@href | //@src | //@action | //@data-live"):
        assert link.startswith(("/", "#", "?", "http://", "https://")) and not link.startswith("//"), link
