"""A part of a page in each way in which one is chosen, with the signs that a reader of files may stumble over."""

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
"""By what they are called."""
