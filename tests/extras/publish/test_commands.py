from __future__ import annotations

from typing import Any

import pytest
from msgspec import to_builtins

from extras.publish import commands as publications
from extras.publish.commands import publication_page
from extras.publish.operations import PublicationRecord
from tests.sanderling.client.documented import client, record_of, run

PUBLICATION = record_of(PublicationRecord)
RECORD = to_builtins(PUBLICATION)


def test_what_is_shown_is_named_as_people_do_and_the_addresses_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    source, alert = "019db0a4-7c18-7000-8000-00000000aaaa", "019db0a4-7c18-7000-8000-00000000bbbb"
    shown = ["--source", source, "--tag", "prices", "--alert", alert]
    run(publications.create, client(asked), "Prices", *shown)
    label, body = asked[-1]
    assert label == "POST /v1/publications"
    assert body == {
        "title": "Prices",
        "source_ids": [source],
        "tags": ["prices"],
        "alert_ids": [alert],
        "channel": None,
        "private_source_ids": [],
    }
    assert PUBLICATION.feeds is not None
    told = capsys.readouterr().out
    for address in (PUBLICATION.url, PUBLICATION.feeds.atom, PUBLICATION.feeds.rss, PUBLICATION.feeds.json):
        assert str(address) in told


def test_one_is_named_by_its_title_listed_moved_and_deleted(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    run(publications.listed, client(asked))
    run(publications.show, client(asked), "Prices", "--json")
    run(publications.readdress, client(asked), "Price", "--yes")
    run(publications.delete, client(asked), RECORD["id"], "--yes")
    labels = [label for label, _ in asked]
    assert f"POST /v1/publications/{RECORD['id']}/address" in labels
    assert labels[-1] == f"DELETE /v1/publications/{RECORD['id']}"
    assert RECORD["url"] in capsys.readouterr().out


def test_a_private_source_that_becomes_visible_is_named() -> None:
    told = "\n".join(publication_page(RECORD | {"private_source_ids": ["s-1", "s-2"]}))
    assert "private   s-1, s-2: anyone with an address sees their events" in told
    assert "private" not in "\n".join(publication_page(RECORD))


def test_a_title_reaches_the_terminal_escaped_and_a_lost_address_says_what_to_do() -> None:
    lost = RECORD | {"title": "\x1b[2J", "url": None, "feeds": None, "channel": "feed", "source_ids": ["s"]}
    told = "\n".join(publication_page(lost))
    assert "\x1b" not in told and "readdress" in told and "channel   feed" in told
