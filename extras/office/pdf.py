"""The reader of PDF (ISO 32000).

pypdf finds the text of each page, line by line. A PDF places letters and has no paragraphs. So lines that break off in
mid-sentence are joined. Lines at the head or foot of most pages (titles, page numbers) are dropped, since they move
with the pages.
"""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple
from unicodedata import normalize

# pypdf imports these in functions, and a worker opens no file once it has a task.
import pypdf._codecs._codecs
import pypdf._codecs.core_font_metrics
import pypdf._configuration
import pypdf._text_extraction
import pypdf.filters
import pypdf.generic._image_inline
import pypdf.xmp  # noqa: F401
from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, FileNotDecryptedError

from actors.content.bodies.markup import NOT_XML, Document
from actors.content.errors import ContentError
from extras.office.tree import ROOM, Writer, number

MOST_PAGES: Final = 200
_EDGE: Final = 2  # lines at the head and at the foot of a page that may repeat on others
_FEWEST_PAGES: Final = 3
_MOST: Final = 0.6
_FIGURES: Final = re.compile(r"\d+")
_HYPHEN: Final = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]$")
_ENDED: Final = re.compile(r"[.!?:;。！？।][\"'”’)\]]*$")
_ITEM: Final = re.compile(r"(?:[-*+•·‣▪–]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_JOINED: Final = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb50-\ufdff\ufe70-\ufeff]+")
"""Ligatures, and Arabic letters in their joined shapes."""
_EVEN: Final = 0.6
_FULL: Final = 0.8
_OF_FIGURES: Final = 0.12

logging.getLogger("pypdf").setLevel(logging.CRITICAL)


def read_pdf(body: bytes) -> Document:
    """Read a PDF. Raises ContentError if it is locked, damaged or has no text."""
    try:
        return _read(PdfReader(io.BytesIO(body), strict=False))
    except (FileNotDecryptedError, DependencyError):
        raise ContentError("This PDF is encrypted with a password or an unsupported cipher.") from None
    except ContentError:
        raise
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception:  # a damaged file can trigger any bug of the library
        raise ContentError("This PDF is damaged and can't be read.") from None


def _read(reader: PdfReader) -> Document:
    if reader.is_encrypted and not reader.decrypt(""):
        raise FileNotDecryptedError
    count = len(reader.pages)
    pages = [_lines(reader.pages[at]) for at in range(min(count, MOST_PAGES))]
    writer, labels = Writer(), []
    for page, text in _joined(_kept(pages)):
        if writer.full:
            break
        if _ITEM.match(text):
            writer.item(text)
        else:
            writer.paragraph(text)
        labels.append(f"page {page}" if count > 1 else "")
    says = f"a PDF document, {number(count, 'page')}"
    return Document("pdf", says, writer.root, writer.partial or count > MOST_PAGES, tuple(labels))


class _PdfLine(NamedTuple):
    """A line, its page, and how much of the page's widest line it fills, from 0 to 1."""

    text: str
    page: int
    fills: float


def _lines(page: PageObject) -> list[str]:
    """Return the lines of a page without blank ones; joined letters become ordinary ones."""
    text = _JOINED.sub(lambda found: normalize("NFKC", found[0]), NOT_XML.sub("", page.extract_text()[:ROOM]))
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _kept(pages: Sequence[Sequence[str]]) -> Iterator[_PdfLine]:
    """Yield the lines of all pages except those at the head or foot of most."""
    repeated = _repeated(pages)
    for number_of_page, lines in enumerate(pages, 1):
        widest = max(map(len, lines), default=0)
        for at, line in enumerate(lines):
            if not (_is_edge(at, lines) and _like(line) in repeated):
                yield _PdfLine(line, number_of_page, len(line) / widest)


def _is_edge(at: int, lines: Sequence[str]) -> bool:
    return at < _EDGE or at >= len(lines) - _EDGE


def _like(line: str) -> str:
    """Replace figures by 0, so that page numbers are equal on all pages."""
    return _FIGURES.sub("0", line)


def _repeated(pages: Sequence[Sequence[str]]) -> frozenset[str]:
    """Return the lines at the edges of most pages."""
    if len(pages) < _FEWEST_PAGES:
        return frozenset()
    found: Counter[str] = Counter()
    for lines in pages:
        found.update({_like(line) for at, line in enumerate(lines) if _is_edge(at, lines)})
    fewest = max(_FEWEST_PAGES, _MOST * len(pages))
    return frozenset(line for line, times in found.items() if times >= fewest)


def _joined(lines: Iterable[_PdfLine]) -> Iterator[tuple[int, str]]:
    """Yield paragraphs with the page each begins on; one may continue across a page break."""
    held, page, last = "", 0, _PdfLine("", 0, 0.0)
    for line in lines:
        if held and _continues(last, line):
            held = held[:-1] + line.text if _HYPHEN.search(held) else f"{held} {line.text}"
        else:
            if held:
                yield page, held
            held, page = line.text, line.page
        last = line
    if held:
        yield page, held


def _continues(line: _PdfLine, below: _PdfLine) -> bool:
    """Whether a line continues in the one below: it fills its width, ends no sentence and is no row of figures."""
    if _ENDED.search(line.text) or _ITEM.match(below.text) or line.fills < _EVEN:
        return False
    if below.text[:1].islower():
        return True
    return line.fills >= _FULL and not (_is_row(line.text) or _is_row(below.text))


def _is_row(text: str) -> bool:
    """Whether a line looks like a table row: much of it is figures."""
    return len(_FIGURES.findall(text)) > 1 and sum(map(len, _FIGURES.findall(text))) > _OF_FIGURES * len(text)
