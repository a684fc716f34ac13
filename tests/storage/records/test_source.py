"""A record of a source's detection reads its older forms."""

from __future__ import annotations

import msgspec
import pytest

from storage.records.source import Detection

OLD = {"type": "html", "confidence": "high", "final_url": "https://a.test/", "content_type": "", "format": "xml"}


@pytest.mark.parametrize(
    ("evidence", "mark", "is_sitemap"),
    [
        ("a sitemap, as XML, 4 lines; served as text/xml", {}, True),
        ("XML (root element <urls>), 4 lines; served as text/xml", {}, False),
        ("in other words", {"sitemap": True}, True),
        ("a sitemap, as XML, 4 lines; served as text/xml", {"sitemap": False}, False),
    ],
)
def test_a_sitemap_is_known_by_its_mark_and_in_old_records_by_its_evidence(
    evidence: str, mark: dict[str, bool], is_sitemap: bool
) -> None:
    body = msgspec.json.encode({**OLD, "evidence": evidence, **mark})
    assert msgspec.json.decode(body, type=Detection).is_sitemap is is_sitemap
