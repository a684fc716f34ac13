"""Links to files: the same link text may lead to a new document."""

from __future__ import annotations

import pytest

from actors.content.changes.churn import judge
from actors.content.pages.blocks import file_of
from tests.actors.content.written_pages import PROSE, html, reading

LINK = '<p><a href="{}">Annual report of the society</a></p>'


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://a.example/2026/report-2026.pdf", "report-2026.pdf"),
        ("report%202026.PDF?utm_source=mail&v=1.2#page=3", "report 2026.PDF"),
        ("/dl/app-1.3.tar.gz", "app-1.3.tar.gz"),
        ("/dl/report-3f2a91bc7d04.pdf", "report.pdf"),
        ("/dl/report_1699999999.pdf", "report.pdf"),
        ("/reports", ""),
        ("/reports.html", ""),
        ("https://a.example", ""),
        ("/download?file=a.pdf", ""),
        ("%00%ff.pdf", ""),
        ("", ""),
    ],
)
def test_a_file_is_known_by_its_name_alone(address: str, name: str) -> None:
    assert file_of(address) == name


def told(old: str, new: str) -> str:
    one, other = (reading(html(*PROSE, LINK.format(address))) for address in (old, new))
    return judge(judge(None, one).memory, other).kind


def test_another_file_behind_the_same_text_is_reported_with_its_name() -> None:
    one, other = (reading(html(*PROSE, LINK.format(f"/{year}.pdf"))) for year in (2026, 2027))
    verdict = judge(judge(None, one).memory, other)
    assert verdict.kind == "changed"
    assert verdict.diff is not None
    (change,) = verdict.diff.changed
    assert change.before == "Annual report of the society (2026.pdf)"
    assert change.after == "Annual report of the society (2027.pdf)"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/a.pdf", "https://cdn.example/files/a.pdf?utm_source=x&session=1234"),
        ("/a-3f2a91bc7d04.pdf", "/a-99aabb1122cc.pdf"),
        ("/old/page", "/new/page?utm_campaign=a"),
    ],
)
def test_a_links_new_target_is_otherwise_no_change(old: str, new: str) -> None:
    assert told(old, new) == "unchanged"


def test_a_name_in_the_text_is_not_repeated() -> None:
    assert "Get app-1.3.zip" in reading(html('<p>Get <a href="/dl/app-1.3.zip">app-1.3.zip</a></p>')).blocks
