"""A page without the forms, buttons and links that its reader's role does not include.

Templates show everything; this cuts the finished page, so no template can forget a role. It is a courtesy: the face
refuses each screen by its scope anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Final

May = Callable[[str, str], bool]
_CUT: Final = {"form": "action", "button": "formaction", "a": "href"}


class _Reader(HTMLParser):
    def __init__(self, page: str, may: May) -> None:
        super().__init__(convert_charrefs=False)
        self.pieces: list[tuple[int, int]] = []
        self._may = may
        self._open: tuple[str, int] | None = None
        self._lines = [0]
        for line in page.split("\n"):
            self._lines.append(self._lines[-1] + len(line) + 1)
        self.feed(page)
        self.close()

    def _at(self) -> int:
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._open is not None or tag not in _CUT:
            return
        values = dict(attrs)
        target = (values.get(_CUT[tag]) or "").partition("#")[0].partition("?")[0]
        posts = tag == "button" or (tag == "form" and (values.get("method") or "").lower() == "post")
        if not target.startswith("/") or self._may("POST" if posts else "GET", target):
            return
        if tag == "a" and "button" not in (values.get("class") or "").split():
            # Leave the words of a link.
            self.pieces.append((self._at(), self._at() + len(self.get_starttag_text() or "")))
            self._open = ("/a", 0)
        else:
            self._open = (tag, self._at())

    def handle_endtag(self, tag: str) -> None:
        if self._open is None or self._open[0].lstrip("/") != tag:
            return
        kind, begin = self._open
        end = self._at() + len(tag) + 3
        self.pieces.append((self._at(), end) if kind == "/a" else (begin, end))
        self._open = None


def for_role(page: str, may: May) -> str:
    """Return a page without the parts whose screen the reader may not use. may: by method and path.

    >>> for_role('<a href="/a">A</a> <a class="button" href="/b">B</a>', lambda method, path: path == "/c")
    'A '
    """
    kept, at = [], 0
    for begin, end in _Reader(page, may).pieces:
        kept.append(page[at:begin])
        at = end
    return "".join((*kept, page[at:]))
