"""XML of feeds, written by the standard library, which escapes what is text. Pure."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring


def text_in(parent: Element, name: str, text: str, **attributes: str) -> None:
    """Add an element that holds a text."""
    SubElement(parent, name, attributes).text = text


def document(root: Element) -> bytes:
    """Return a whole document in UTF-8."""
    written: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'.encode()
