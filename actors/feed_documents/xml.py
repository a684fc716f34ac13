"""XML of feeds, by the standard library, which escapes text but lets forbidden characters through. Pure."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, tostring

_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufdcf\\ufdf0-\\ufffd\\U00010000-\\U0010ffff]")
"""XML 1.0, 2.2, and the first plane's other noncharacters, which it discourages."""


def sound(text: str) -> str:
    """Return a text without the characters that XML forbids."""
    return _FORBIDDEN.sub("", text)


def element_in(parent: Element, name: str, text: str = "", **attributes: str) -> Element:
    """Add an element with a text; return it."""
    made = SubElement(parent, name, {key: sound(value) for key, value in attributes.items()})
    made.text = sound(text) or None
    return made


def document(root: Element) -> bytes:
    """Return a whole document in UTF-8."""
    written: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'.encode()
