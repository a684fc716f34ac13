"""Hostile texts (X12), and a check that a page shows them only as text."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

PAYLOADS = (
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "<svg/onload=alert(1)>",
    "</textarea><iframe src=javascript:alert(1)>",
    "</pre></code><a href=javascript:alert(1)>x</a>",
    "<style>*{display:none}</style>",
    "<base href=//evil.test/>",
    "<form action=//evil.test><button>go",
    "javascript:alert(1)",
    "{{ 7*7 }}{% raw %}${7*7}",
    '<!--<img src="--><img src=x onerror=alert(1)//">',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "\u202e\u2066<b>txet",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "\x1b[2J\x07<u>bell</u>",
    "<object data=data:text/html;base64,PHNjcmlwdD4=>",
    "<meta http-equiv=refresh content=0;url=//evil.test>",
    "<details open ontoggle=alert(1)>",
)
_PATHS = re.compile(r"(/(?!/)|#|https?://)")
_FOREIGN = ("iframe", "object", "embed", "math", "style", "base", "b", "u", "mglyph")


def check_inert(page: HtmlElement) -> None:
    """Fail if an element or attribute of a page comes from a payload."""
    assert [script.get("type") for script in page.iter("script")] == ["module"]
    assert all(script.get("src", "").startswith("/") for script in page.iter("script"))
    assert [each.tag for each in page.iter(*_FOREIGN) if (each.tag, each.get("aria-hidden")) != ("b", "true")] == []
    assert all(image.get("src", "").startswith("/") for image in page.iter("img"))
    for element in page.iter():
        for name in element.attrib if isinstance(element.tag, str) else ():
            ours = name == "autofocus" and element.get("id") == "faults"
            assert ours or name not in ("style", "autofocus", "srcdoc"), (element.tag, name)
            assert not name.startswith("on"), (element.tag, name)
    for name in ("href", "action", "formaction", "src"):
        for address in page.xpath(f"//@{name}"):
            assert _PATHS.match(address) and "evil.test" not in address.partition("?")[0], address
    assert not [meta for meta in page.iter("meta") if meta.get("http-equiv")]
