"""Ask native parts for their versions: through Python if it knows, else in the library itself."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sqlite3
import ssl
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module, metadata
from importlib.resources import files

UNKNOWN = ""


def version_of(name: str, inside: str) -> str:
    """Return a part's version in the running program; "" if unknown."""
    ask = _ASKED.get((name, inside))
    with suppress(ImportError, AttributeError, OSError, ValueError, metadata.PackageNotFoundError):
        return ask() if ask is not None else UNKNOWN
    return UNKNOWN


def library_of(module: str) -> ctypes.CDLL:
    """Load a C module's library. Raises ImportError, AttributeError (built in), OSError."""
    return ctypes.CDLL(str(import_module(module).__file__))


def _text(module: str, function: str) -> str:
    """Call a C function that returns a version, and drop a date after it."""
    ask = getattr(library_of(module), function)
    ask.restype = ctypes.c_char_p
    return str(ask().decode()).split(",")[0]


def _number(module: str, name: str, base: int) -> str:
    """Decode a version stored as one number: 824 by 100 is 0.8.24, 0x112 by 256 is 1.18."""
    number = ctypes.c_int.in_dll(library_of(module), name).value
    found = []
    while number:
        number, last = divmod(number, base)
        found.append(str(last))
    return ".".join(reversed(found))


def _lxml(name: str) -> str:
    return ".".join(str(number) for number in getattr(import_module("lxml.etree"), name))


def _attribute(module: str, name: str) -> str:
    return str(getattr(import_module(module), name))


def _unicode_cldr() -> str:
    """Return the version in the heading of the generated words."""
    found = re.search(
        r"CLDR (\d+(?:\.\d+)*)", files("actors.content.wording").joinpath("lists", "cldr.ini").read_text("utf-8")
    )
    return found[1] if found else UNKNOWN


def _openssl_of_cryptography() -> str:
    """Return the version of the OpenSSL inside the package, not Python's."""
    backend = import_module("cryptography.hazmat.backends.openssl").backend
    return str(backend.openssl_version_text()).split()[1]


_ASKED: Mapping[tuple[str, str], Callable[[], str]] = {
    ("python", ""): platform.python_version,
    ("bzip2", ""): lambda: _text("_bz2", "BZ2_bzlibVersion"),
    ("expat", ""): lambda: _attribute("pyexpat", "EXPAT_VERSION").removeprefix("expat_"),
    ("libmpdec", ""): lambda: _attribute("_decimal", "__libmpdec_version__"),
    ("openssl", ""): lambda: ssl.OPENSSL_VERSION.split()[1],
    ("sqlite", ""): lambda: sqlite3.sqlite_version,
    ("xz", ""): lambda: _text("_lzma", "lzma_version_string"),
    ("zlib", ""): lambda: zlib.ZLIB_RUNTIME_VERSION,
    ("libexslt", "lxml"): lambda: "0." + _number("lxml.etree", "exsltLibexsltVersion", 100),
    ("libiconv", "lxml"): lambda: _number("lxml.etree", "_libiconv_version", 256),
    ("libxml2", "lxml"): lambda: _lxml("LIBXML_VERSION"),
    ("libxslt", "lxml"): lambda: _lxml("LIBXSLT_VERSION"),
    ("zlib", "lxml"): lambda: _text("lxml.etree", "zlibVersion"),
    ("openssl", "cryptography"): _openssl_of_cryptography,
    ("rust-crates", "cryptography"): lambda: metadata.version("cryptography"),
    ("libyaml", "pyyaml"): lambda: str(import_module("yaml._yaml").get_version_string()),
    ("unicode-cldr", "sanderling"): _unicode_cldr,
    ("glibc", ""): lambda: (os.confstr("CS_GNU_LIBC_VERSION") or "").removeprefix("glibc "),
    ("pyinstaller", ""): lambda: metadata.version("pyinstaller"),
    ("staticx", ""): lambda: metadata.version("staticx"),
}
"""By part and enclosing package."""
