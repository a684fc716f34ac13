"""The table of parts: packages, native parts, their licences and texts.

A package's licence comes from its metadata: the SPDX expression, else a classifier that means one licence; otherwise
from EXPRESSIONS. Its texts are those of its metadata, plus MORE_TEXTS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

_PACKAGES = """
aiofiles anyio attrs blinker certifi cffi charset-normalizer click click-default-group cryptography cssselect feedparser
feedparser-sgmllib flask h11 h2 hpack httpcore httpx httpx-sse hypercorn hyperframe idna itsdangerous jinja2 justext
linkify-it-py listparser lxml lxml-html-clean markdown-it-py markupsafe mdit-py-plugins mdurl msgspec outcome pip
platformdirs pluggy priority prometheus-client protego psycopg pycparser pygments pyjwt pynacl pypdf pystemmer
python-dateutil pyyaml quart quart-trio rich smtpproto sniffio sortedcontainers sqlite-fts4 sqlite-utils structlog
tabulate textual trio trio-websocket typing-extensions tzdata werkzeug wsproto
"""
PACKAGES = tuple(_PACKAGES.split())
"""The packages that requirements/run.txt pins; a test compares them."""
OF_BUILDS = ("psycopg-c",)
"""Packages that only the frozen forms contain, from requirements/build.in."""

CLASSIFIERS: Mapping[str, str] = {
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: MIT License": "MIT",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""Classifiers that mean exactly one licence; "BSD License" does not."""

EXPRESSIONS: Mapping[str, str] = {
    "charset-normalizer": "MIT",
    "click-default-group": "BSD-3-Clause",  # its classifier says "Public Domain", its text this
    "feedparser": "BSD-2-Clause",
    "httpx": "BSD-3-Clause",
    "httpx-sse": "MIT",
    "itsdangerous": "BSD-3-Clause",
    "jinja2": "BSD-3-Clause",
    "justext": "BSD-2-Clause",
    "lxml": "BSD-3-Clause AND PSF-2.0",  # difflib and ElementTree's paths are Python's
    "lxml-html-clean": "BSD-3-Clause",
    "outcome": "MIT OR Apache-2.0",
    "pystemmer": "MIT AND BSD-3-Clause",
    "sniffio": "MIT OR Apache-2.0",
    "sqlite-fts4": "Apache-2.0",
    "tzdata": "Apache-2.0",
}
"""For packages whose metadata do not state it."""

MORE_TEXTS: Mapping[str, str] = {"certifi": "MPL-2.0"}
"""Files in `texts/` for packages that only name their licence."""


@dataclass(frozen=True, slots=True)
class Native:
    """A part that is no package. texts: files in `texts/`, or `dist-info:NAME` in its package's metadata."""

    name: str
    expression: str
    texts: tuple[str, ...]
    inside: str = ""
    """The enclosing package; "" if it comes with Python or the system."""
    libraries: tuple[str, ...] = ()
    """Prefixes of its file names in the frozen program."""
    forms: tuple[str, ...] = ()
    """The forms that contain it, as in FORMS; empty for all."""
    version_with: tuple[str, str] | None = None
    """If it cannot be asked: a version of its package, and its own version there."""


FROZEN = "frozen"
UNIVERSAL = "universal"
IMAGE = "image"
FORMS: Mapping[str, str] = {
    FROZEN: "the single file, the packages and the image",
    UNIVERSAL: "sanderling-universal",
    IMAGE: "the image",
}

NATIVE: tuple[Native, ...] = (
    Native("python", "Python-2.0.1", ("python",), libraries=("libpython",)),
    Native("bzip2", "bzip2-1.0.6", ("bzip2",), libraries=("libbz2",)),
    Native("expat", "MIT", ("expat",), libraries=("libexpat",)),
    Native("libffi", "MIT", ("libffi",), libraries=("libffi",)),
    # Compiled Rust needs it; it comes from the system that froze the program.
    Native(
        "libgcc",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
        ("gcc-exception", "GPL-3.0"),
        libraries=("libgcc_s",),
        forms=(FROZEN,),
    ),
    Native("libmpdec", "BSD-2-Clause", ("python",), libraries=("libmpdec",)),
    Native("libuuid", "BSD-3-Clause", ("libuuid",), libraries=("libuuid",)),
    Native("openssl", "Apache-2.0", ("Apache-2.0",), libraries=("libssl", "libcrypto")),
    Native("sqlite", "blessing", ("sqlite",), libraries=("libsqlite3",)),
    # Public domain up to 5.4, 0BSD from 5.6.
    Native("xz", "0BSD OR LicenseRef-xz-public-domain", ("xz",), libraries=("liblzma",)),
    Native("zlib", "Zlib", ("zlib",), libraries=("libz.",)),
    Native("libffi", "MIT", ("libffi",), inside="cffi"),
    Native("openssl", "Apache-2.0", ("Apache-2.0",), inside="cryptography"),
    Native("rust-crates", "Apache-2.0 AND BSD-3-Clause AND MIT", ("rust-crates", "Apache-2.0"), inside="cryptography"),
    Native("mypyc", "MIT AND PSF-2.0", ("mypyc",), inside="charset-normalizer"),
    Native("libexslt", "MIT", ("dist-info:LICENSES.txt",), inside="lxml"),
    Native("libiconv", "LGPL-2.1-or-later", ("LGPL-2.1",), inside="lxml"),
    Native("libxml2", "MIT", ("dist-info:LICENSES.txt",), inside="lxml"),
    Native("libxslt", "MIT", ("dist-info:LICENSES.txt",), inside="lxml"),
    Native("zlib", "Zlib", ("zlib",), inside="lxml"),
    Native("ryu", "Apache-2.0 OR BSL-1.0", ("Apache-2.0",), inside="msgspec"),
    Native("wuffs", "Apache-2.0", ("Apache-2.0",), inside="msgspec"),
    Native("libsodium", "ISC", ("dist-info:LICENSE.libsodium.txt",), "pynacl", version_with=("1.6.2", "1.0.20-stable")),
    Native("snowball", "BSD-3-Clause", ("dist-info:LICENSE",), inside="pystemmer", version_with=("3.1.0", "3.1.0")),
    Native("libyaml", "MIT", ("libyaml",), inside="pyyaml"),
    Native("unicode-cldr", "Unicode-3.0", ("cldr",), inside="sanderling"),
    Native(
        "pyinstaller",
        "GPL-2.0-or-later WITH Bootloader-exception AND Apache-2.0",
        ("pyinstaller", "Apache-2.0"),
        forms=(FROZEN,),
    ),
    Native("staticx", "GPL-2.0-or-later WITH Bootloader-exception", ("staticx",), forms=(UNIVERSAL,)),
    Native("glibc", "LGPL-2.1-or-later", ("glibc", "LGPL-2.1"), forms=(UNIVERSAL, IMAGE)),
)

ONLY_ITS_OWN = ("markupsafe",)
"""Compiled packages without foreign parts."""


def without_a_row(libraries: list[str]) -> list[str]:
    """Return the library files that no row of NATIVE covers.

    >>> without_a_row(["libz.so.1", "libstdc++.so.6"])
    ['libstdc++.so.6']
    """
    known = tuple(start for part in NATIVE for start in part.libraries)
    return [name for name in libraries if not name.startswith(known)]
