from __future__ import annotations

from typing import Any

import pytest
from msgspec import to_builtins

from api.fields.publications import PublicationRecord
from api.fields.sources import SourceRecord
from api.route import Route
from extras.publish import commands as publications
from extras.publish.commands import publication_page
from sanderling.exits import CommandFailed
from tests.sanderling.client.documented import client, record_of, run

PUBLICATION = record_of(PublicationRecord)
RECORD = to_builtins(PUBLICATION)
SOURCE = to_builtins(record_of(SourceRecord))
PRIVATE = [
    SOURCE
    | {"id": "019db0a4-7c18-7000-8000-0000000000a1", "title": "Members", "private": True, "tags": ["label:club"]},
    SOURCE | {"id": "019db0a4-7c18-7000-8000-0000000000a2", "title": "Diary", "private": True, "tags": []},
]


def test_publications_are_listed_with_names_and_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[tuple[str, Any]] = []
    source, alert = "019db0a4-7c18-7000-8000-00000000aaaa", "019db0a4-7c18-7000-8000-00000000bbbb"
    shown = ["--source", source, "--tag", "prices", "--alert", alert]
    run(publications.create, client(asked), "Prices", *shown)
    (label, body), _, after = asked[-3:]
    assert (label, after[0]) == ("POST /v1/publications", "GET /v1/sources")
    assert body == {
        "title": "Prices",
        "source_ids": [source],
        "tags": ["prices"],
        "alert_ids": [alert],
        "channel": None,
        "private_source_ids": [],
        "ends_on": None,
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


def test_the_last_day_is_set_changed_and_shown() -> None:
    asked: list[tuple[str, Any]] = []
    run(publications.create, client(asked), "Prices", "--ends-on", "2026-12-31")
    assert next(body for label, body in asked if label == "POST /v1/publications")["ends_on"] == "2026-12-31"
    run(publications.edit, client(asked), RECORD["id"], "--ends-on", "2027-01-31")
    assert asked[-1] == (f"PATCH /v1/publications/{RECORD['id']}", {"ends_on": "2027-01-31"})
    run(publications.edit, client(asked), RECORD["id"], "--ends-on", "", "--title", "All")
    assert asked[-1][1] == {"ends_on": None, "title": "All"}
    with pytest.raises(CommandFailed, match="at least one option"):
        run(publications.edit, client(asked), RECORD["id"])
    assert "until     2026-12-31" in "\n".join(publication_page(RECORD | {"ends_on": "2026-12-31"}))


def test_a_private_source_that_becomes_visible_is_named() -> None:
    told = "\n".join(publication_page(RECORD | {"private_source_ids": ["s-1", "s-2"]}))
    assert "private   s-1, s-2: anyone with an address sees their events" in told
    assert "private" not in "\n".join(publication_page(RECORD))


def test_a_title_is_escaped_on_the_terminal_and_a_lost_address_has_advice() -> None:
    lost = RECORD | {"title": "\x1b[2J", "url": None, "feeds": None, "channel": "feed", "source_ids": ["s"]}
    told = "\n".join(publication_page(lost))
    assert "\x1b" not in told and "readdress" in told and "channel   feed" in told


@pytest.mark.parametrize(
    ("options", "left_out"),
    [
        ((), ["Members", "Diary"]),
        (("--tag", "club"), ["Members"]),
        (("--private", PRIVATE[0]["id"]), ["Diary"]),
        (("--source", PRIVATE[1]["id"]), []),
    ],
)
def test_the_private_sources_that_it_leaves_out_are_named(
    options: tuple[str, ...], left_out: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    def answers(route: Route) -> Any:
        return PRIVATE if (route.method, route.path) == ("GET", "/v1/sources") else None

    run(publications.create, client([], answers), "Prices", *options)
    told = next((line for line in capsys.readouterr().err.splitlines() if line.startswith("Left out")), "")
    assert [name for name in ("Members", "Diary") if name in told] == left_out
    assert ("name it with --private" in told) is bool(left_out)


def test_private_sources_of_one_title_are_named_with_their_addresses(capsys: pytest.CaptureFixture[str]) -> None:
    same = [one | {"title": "Members", "url": f"https://club.test/{i}"} for i, one in enumerate(PRIVATE)]
    run(publications.create, client([], lambda route: same if route.path == "/v1/sources" else None), "Prices")
    assert "Left out, as they are private: Members (club.test/0); Members (club.test/1)." in capsys.readouterr().err


def test_its_private_sources_are_replaced_or_left_out() -> None:
    id, asked = PRIVATE[0]["id"], list[tuple[str, Any]]()
    run(publications.edit, client(asked), RECORD["id"], "--private", id)
    assert asked[-1] == (f"PATCH /v1/publications/{RECORD['id']}", {"private_source_ids": [id]})
    run(publications.edit, client(asked), RECORD["id"], "--private", "")
    assert asked[-1] == (f"PATCH /v1/publications/{RECORD['id']}", {"private_source_ids": []})


def test_a_publication_says_when_it_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sanderling.real_world.wall", lambda: 1_798_761_600.0)  # 2027-01-01
    assert "  ended     2026-12-31" in "\n".join(publication_page(RECORD | {"ends_on": "2026-12-31"}))
    assert "  until     2027-01-01" in "\n".join(publication_page(RECORD | {"ends_on": "2027-01-01"}))


def test_a_new_publication_names_the_private_sources_that_it_shows_and_tags_without_sources(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def answers(route: Route) -> Any:
        return PRIVATE if route.path == "/v1/sources" else None

    run(publications.create, client([], answers), "Club", "--source", PRIVATE[0]["id"], "--tag", "clubb")
    told = capsys.readouterr().err
    assert "Anyone with an address sees these private sources: Members." in told
    assert "No source has the tag clubb yet." in told and "Left out" not in told
