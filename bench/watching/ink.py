"""A frame's handwriting: elements with its class names, escaped text, stable links."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from html import escape
from typing import Literal

Naming = Literal["none", "plain", "bem", "utility", "hashed", "theme", "ids"]
_UTILITIES = ("flex", "grid", "mt-4", "px-6", "text-sm", "md:w-1/2", "gap-2", "rounded", "shadow-md", "items-center")


class Ink:
    """Writes elements. `role` is an element's purpose; the naming turns it into a class, an id, or nothing."""

    def __init__(self, naming: Naming, frame: str) -> None:
        self.naming = naming
        self.frame = frame

    def named(self, role: str) -> str:
        """Return the attribute for a role, with a leading space, or nothing."""
        match self.naming if role else "none":
            case "plain":
                return f' class="{role}"'
            case "bem":
                return f' class="c-{role} c-{role}--default"'
            case "utility":
                n = zlib.crc32(role.encode())
                return f' class="{_UTILITIES[n % 10]} {_UTILITIES[n // 10 % 10]} {_UTILITIES[n // 100 % 10]}"'
            case "hashed":
                return f' class="css-{zlib.crc32((self.frame + role).encode()) % 0xFFFFF:x}"'
            case "theme":
                return f' class="wp-block-{role} is-layout-flow"'
            case "ids":
                return f' class="{role.title().replace("-", "")}Box clearfix"'
            case _:
                return ""

    def el(self, tag: str, inner: str, role: str = "", more: str = "") -> str:
        """Return an element; `inner` is markup."""
        return f"<{tag}{self.named(role)}{' ' if more else ''}{more}>{inner}</{tag}>\n"

    def text(self, tag: str, words: str, role: str = "", more: str = "") -> str:
        """Return an element with text; nothing for empty text."""
        return self.el(tag, escape(words, quote=False), role, more) if words else ""

    def link(self, words: str, role: str = "") -> str:
        return f'<a href="{address(words)}"{self.named(role)}>{escape(words, quote=False)}</a>'

    def links(self, names: Iterable[str], role: str = "", tag: str = "ul") -> str:
        return self.el(tag, "".join(self.el("li", self.link(name)) for name in names), role)


def address(words: str) -> str:
    """Return a stable address for a link of this name."""
    return f"/{zlib.crc32(words.encode()) % 90000 + 10000}"
