"""Minimal office files for tests: only parts that the product reads or skips."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_O = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
)
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
_STYLES = (
    f"<w:styles {_W}>"
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Punkt"><w:name w:val="List Bullet"/><w:pPr><w:numPr/></w:pPr></w:style></w:styles>'
)
_CELLS = (
    f'<styleSheet {_S}><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/>'
    '<numFmt numFmtId="165" formatCode="[$€-2] 0.00"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/>'
    '<xf numFmtId="20"/><xf numFmtId="10"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)
DATE, TIME, SHARE, MONEY = 1, 2, 3, 4
"""Cell formats of `xlsx`."""


def archive(parts: Mapping[str, str | bytes], *, compressed: bool = True) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as file:
        for name, part in parts.items():
            file.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED)
    return held.getvalue()


def _types(main: str, name: str) -> str:
    kinds = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'<Types xmlns="{kinds}"><Override PartName="/{name}" ContentType="{main}"/></Types>'


def p(text: str, style: str = "") -> str:
    """Return a `docx` paragraph in two runs."""
    first, _, rest = text.partition(" ")
    runs = "".join(f'<w:r><w:t xml:space="preserve">{escape(run)}</w:t></w:r>' for run in (first, rest and f" {rest}"))
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{named}{runs}</w:p>"


def word_table(rows: Sequence[Sequence[str]]) -> str:
    cells = ("".join(f"<w:tc>{p(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx_parts(*blocks: str) -> dict[str, str]:
    """Return the parts of a `docx`; a block without mark-up becomes a paragraph."""
    body = "".join(block if block.startswith("<") else p(block) for block in blocks)
    main = f"<w:document {_W}><w:body>{body}<w:sectPr/></w:body></w:document>"
    types = _types(WORD, "word/document2.xml")
    return {"[Content_Types].xml": types, "word/document2.xml": main, "word/styles.xml": _STYLES}


def docx(*blocks: str) -> bytes:
    return archive(docx_parts(*blocks))


def _cell(value: str | float | tuple[float, int], place: str, strings: list[str]) -> str:
    if isinstance(value, str):
        if value not in strings:
            strings.append(value)
        return f'<c r="{place}" t="s"><v>{strings.index(value)}</v></c>' if value else ""
    figure, style = value if isinstance(value, tuple) else (value, 0)
    return f'<c r="{place}" s="{style}"><v>{figure!r}</v></c>'


def xlsx_parts(sheets: Mapping[str, Sequence[Sequence[str | float | tuple[float, int]]]]) -> dict[str, str]:
    """Return the parts of a workbook; a sheet whose name starts with a dot is hidden."""
    strings: list[str] = []
    listed, links, parts = [], [], {"[Content_Types].xml": _types(SHEET, "xl/workbook.xml")}
    for n, (name, rows) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name.startswith(".") else ""
        listed.append(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="rId{n}"{state}/>')
        links.append(f'<Relationship Id="rId{n}" Target="worksheets/sheet{n}.xml"/>')
        data = "".join(
            f'<row r="{r}">{"".join(_cell(v, f"{chr(65 + c)}{r}", strings) for c, v in enumerate(row))}</row>'
            for r, row in enumerate(rows, 1)
            if row
        )
        parts[f"xl/worksheets/sheet{n}.xml"] = f"<worksheet {_S}><sheetData>{data}</sheetData></worksheet>"
    return {
        **parts,
        "xl/workbook.xml": f"<workbook {_S} {_R}><sheets>{''.join(listed)}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{''.join(links)}</Relationships>",
        "xl/styles.xml": _CELLS,
        "xl/sharedStrings.xml": f"<sst {_S}>{''.join(f'<si><t>{escape(text)}</t></si>' for text in strings)}</sst>",
    }


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | float | tuple[float, int]]]]) -> bytes:
    return archive(xlsx_parts(sheets))


def open_parts(kind: str, inside: str, styles: str = "") -> dict[str, str]:
    """Return the parts of an OpenDocument file. kind: "text" or "spreadsheet"."""
    body = f"<office:body><office:{kind}>{inside}</office:{kind}></office:body>"
    return {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content {_O}>{styles}{body}</office:document-content>",
    }


def pdf(pages: Sequence[Sequence[str]], *, more: Mapping[int, bytes] | None = None, packed: bool = False) -> bytes:
    """Return a PDF with these lines on its pages, in Latin letters. more: replacement objects, by number."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R >>",
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    }
    for at, lines in enumerate(pages):
        shown = "".join(f"({_quoted(line)}) Tj T* " for line in lines)
        stream = f"BT /F1 11 Tf 14 TL 60 780 Td {shown}ET".encode("cp1252")
        stream, filter = (zlib.compress(stream), " /Filter /FlateDecode") if packed else (stream, "")
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * at} 0 R"
        objects[4 + 2 * at] = f"{page} /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        objects[5 + 2 * at] = f"<< /Length {len(stream)}{filter} >> stream\n".encode() + stream + b"\nendstream"
    objects |= more or {}
    written, starts = bytearray(b"%PDF-1.7\n"), list[int]()
    for name, body in sorted(objects.items()):
        starts.append(len(written))
        written += f"{name} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{start:010} 00000 n \n" for start in starts)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
    return bytes(written) + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


def _quoted(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "()\\" else letter for letter in text)
