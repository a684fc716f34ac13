"""Links to files: the only links whose target is part of a page's text.

Measured on the labelled pages: if only a link's address changed under the same text, it was navigation, a moved site or
a relative address made absolute in ten of eleven cases, and never worth a report. Documents and downloads differ:
"Monthly report" with a new file is a new report. So a block names its linked file, without hosts, folders, queries and
the hashes of build tools, which come and go.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

_KINDS = frozenset([
    "pdf", "doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "csv", "tsv", "ppt", "pptx", "odp", "epub", "ics", "zip",
    "tgz", "gz", "xz", "bz2", "zst", "7z", "rar", "tar", "dmg", "exe", "msi", "pkg", "deb", "rpm", "apk", "ipa", "jar",
    "whl", "iso", "img", "bin",
])  # fmt: skip
_HASH = re.compile(r"[._-]?(?<![0-9a-z])(?=[0-9a-f]*\d)(?:[0-9a-f]{10,}|\d{9,})(?![0-9a-z])", re.I)
_MAY_BE_HASH = re.compile(r"[0-9a-fA-F]{9}|\d{9}")
_LONGEST = 120
_ENDING = max(map(len, _KINDS)) + 1


def file_of(address: str) -> str:
    """Return the name of a link's file, "" for a page.

    >>> file_of("https://x.example/2026/Report%20May.pdf?utm_source=a#page=2")
    'Report May.pdf'
    >>> file_of("/download")
    ''
    """
    if "?" in address or "#" in address:
        address = address.partition("#")[0].partition("?")[0]
    elif "." not in address[-_ENDING:]:
        return ""  # the common case
    if address.rpartition(".")[2].lower() not in _KINDS:
        return ""
    name = unquote(address.rpartition("/")[2])
    if _MAY_BE_HASH.search(name):
        name = _HASH.sub("", name)
    return " ".join(name.split())[-_LONGEST:] if name.isprintable() else ""


def with_files(text: str, names: list[str]) -> str:
    """Append the names of a block's linked files that its text does not mention."""
    shown = text.casefold()
    unnamed = [name for name in dict.fromkeys(names) if name.casefold() not in shown]
    return f"{text} ({', '.join(unnamed)})" if unnamed else text
