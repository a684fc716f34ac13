"""supervision/ depends on Trio only, so it can be used as a library."""

from __future__ import annotations

import re
import subprocess
import sys

import supervision
from supervision.breaker import diagram
from tests.rules.source_files import ROOT, modules

README = ROOT / "supervision" / "README.md"


def test_importing_the_room_brings_in_trio_and_nothing_of_ours() -> None:
    others = {"actors", "storage", "api", "sanderling", "msgspec", "httpx", "quart"}
    code = f"import supervision, sys; print({others!r} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT) == b"set()\n"


def test_no_word_of_the_product_is_in_it() -> None:
    words = re.compile(r"\b(sources?|feeds?|urls?|event log|webhooks?|sanderling|http)\b", re.IGNORECASE)
    texts = [*modules("supervision"), README]
    found = [(path.name, word) for path in texts for word in words.findall(path.read_text("utf-8"))]
    assert found == []


def test_the_public_face_is_complete_and_sorted() -> None:
    assert supervision.__all__ == sorted(supervision.__all__, key=lambda name: (name[0].islower(), name))
    assert all(hasattr(supervision, name) for name in supervision.__all__)


def test_the_breaker_of_the_documentation_is_the_table_of_the_code() -> None:
    assert diagram() in README.read_text("utf-8")
