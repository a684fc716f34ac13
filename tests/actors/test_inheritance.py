from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from actors.inheritance import INHERITABLE, TagTable, defaults_of, effective, origins_of, part_mark, shown_part
from actors.messages.requests import ShownPart
from storage.records.source import Inheritable, Source, TagDefaults
from tests.storage.contract.builders import NOW, a_source


def a_page(*tags: str, **fields: Any) -> Source:
    made = a_source(1, type="html", tags=tags, **fields)
    return replace(made, detection=replace(made.detection, type="html", format="html"))


def of(tag: str, **settings: Any) -> dict[str, TagDefaults]:
    return {tag: TagDefaults(tag, NOW, **settings)}


def test_a_sources_own_value_wins_and_its_tag_fills_the_rest() -> None:
    found = effective(a_page("label:a", schedule=60), of("label:a", schedule=900, bar=0.4, hours="weekdays 08-18 UTC"))
    assert (found.schedule, found.bar, found.hours) == (60, 0.4, "weekdays 08-18 UTC")
    assert origins_of(found) == {"bar": ("label:a",), "hours": ("label:a",)}


def test_a_source_of_which_no_tag_says_anything_is_itself() -> None:
    source = a_page("label:a")
    assert effective(source, of("label:b", schedule=900)) is source
    assert effective(source, of("label:a", destinations=("d",))) is source
    assert not origins_of(source) and part_mark(source) == b""


def test_the_first_of_its_tags_that_says_something_of_a_setting_decides_it() -> None:
    by_tag = of("label:a", bar=0.4) | of("label:b", bar=0.6, schedule=900)
    one, other = effective(a_page("label:a", "label:b"), by_tag), effective(a_page("label:b", "label:a"), by_tag)
    assert (one.bar, one.schedule, other.bar) == (0.4, 900, 0.6)
    assert origins_of(one) == {"bar": ("label:a",), "schedule": ("label:b",)}


def test_a_tag_inherits_of_those_above_it_and_goes_before_them() -> None:
    by_tag = of("label:news", bar=0.4, schedule=900) | of("label:news/se", bar=0.6)
    found = effective(a_page("label:news/se/skåne"), by_tag)
    assert (found.bar, found.schedule) == (0.6, 900)
    assert effective(a_page("label:newspaper"), by_tag).bar is None
    assert [one.tag for one in defaults_of(("label:news/se",), by_tag)] == ["label:news/se", "label:news"]


@pytest.mark.parametrize("name", INHERITABLE)
def test_a_setting_without_tag_defaults_has_the_sources_value_or_none(name: Inheritable) -> None:
    says = {"schedule": 900, "hours": "weekdays 08-18 UTC", "bar": 0.4, "selector": "main", "ignore": ("nav",)}
    source = a_page("label:a", own_only=(name,))
    found = effective(source, of("label:a", **says))
    assert getattr(found, name) == getattr(source, name) and name not in origins_of(found)
    assert origins_of(found).keys() == {*INHERITABLE} - {name}
    assert effective(replace(source, own_only=INHERITABLE), of("label:a", **says)).__class__ is Source
    own = replace(source, **{name: says[name]}, own_only=(name,))
    assert getattr(effective(own, of("label:a", **says | {"ignore": ("footer",)})), name) == says[name]


def test_ignored_parts_add_up_without_duplicates() -> None:
    by_tag = of("label:a", ignore=("nav", ".ad")) | of("label:b", ignore=(".ad", "footer"))
    found = effective(a_page("label:a", "label:b", ignore=("nav",)), by_tag)
    assert found.ignore == ("nav", ".ad", "footer")
    assert origins_of(found) == {"ignore": ("label:a", "label:b")}


def test_settings_that_a_source_cannot_have_are_skipped() -> None:
    by_tag = of("label:a", schedule=900, bar=0.4, selector="main", ignore=("nav",))
    feed = effective(a_source(1, type="feed", tags=("label:a",)), by_tag)
    assert (feed.schedule, feed.bar, feed.selector, feed.ignore) == (900, None, None, ())
    push = a_source(1, type="push", tags=("label:a",))
    assert effective(push, by_tag) is push
    page = a_page("label:a")
    json = effective(replace(page, detection=replace(page.detection, format="json")), by_tag)
    assert (json.bar, json.selector, json.ignore) == (0.4, None, ())
    practice = a_page("label:a", practice=1)
    assert effective(practice, by_tag) is practice


@pytest.mark.parametrize(
    ("settings", "other"),
    [({"selector": "main"}, {"selector": "p"}), ({"ignore": ("nav",)}, {"ignore": ("nav", "p")})],
)
def test_a_part_that_a_tag_chooses_has_a_mark_of_its_own(settings: Any, other: Any) -> None:
    source = a_page("label:a")
    marks = {part_mark(effective(source, of("label:a", **each))) for each in (settings, other, {"bar": 0.4}, {})}
    assert len(marks) == 3 and b"" in marks
    assert part_mark(replace(source, **settings)) == b""


def test_a_table_reports_whether_its_settings_changed() -> None:
    table, (one,) = TagTable(), of("label:a", bar=0.4).values()
    assert [
        table.replace_all([one]),
        table.replace_all([one]),
        table.replace_all([replace(one, bar=0.5)]),
        table.replace_all([]),
    ] == [
        True,
        False,
        True,
        True,
    ]


def test_the_order_of_ignored_selectors_does_not_change_the_part() -> None:
    by_tag = of("label:a", ignore=("nav", ".ad")) | of("label:b", ignore=("footer",))
    one, other = effective(a_page("label:a", "label:b"), by_tag), effective(a_page("label:b", "label:a"), by_tag)
    assert one.ignore != other.ignore and part_mark(one) == part_mark(other) != b""
    turned = effective(a_page("label:a"), of("label:a", ignore=(".ad", "nav")))
    assert part_mark(turned) == part_mark(effective(a_page("label:a"), of("label:a", ignore=("nav", ".ad"))))
    assert part_mark(turned) != part_mark(effective(a_page("label:a"), of("label:a", ignore=(".ad",))))


def test_a_part_is_shown_with_the_tags_that_it_comes_from() -> None:
    by_tag = of("label:a", selector="main", ignore=(".ad",), bar=0.4)
    assert shown_part(effective(a_page("label:a", ignore=("nav",)), by_tag)) == ShownPart(
        "main", ("nav", ".ad"), {"selector": ("label:a",), "ignore": ("label:a",)}
    )
    assert shown_part(a_page("label:a", selector="p")) == ShownPart("p", (), {})
