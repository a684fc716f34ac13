"""One selector of each kind, with characters that could trip a reader of files."""

from __future__ import annotations

from typing import Final

PARTS: Final = {
    "css": 'main > a[title="x\\y"] .prices',
    "xpath": "//h2[contains(., 'Fees')]/following::td[@class=\"a b\"][1]/text()",
    "xpath by name": "xpath:count(//li[. = '#'])",
    "jsonpath": "$.plans[?@.name == 'Team']['price per \"seat\"']",
    "path": "path:Prices “a” › Team [x] · Fee = 10",
    "path by keyboard": "path:Prices > * | Fee",
    "lines": "lines:12-",
    "regular expression": 're:^Version\\s+"(\\d{1,3}\\.{name})"\\t$ # end',
}
"""The selectors by kind."""
