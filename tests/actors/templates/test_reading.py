"""The errors for a bad template file: where, why, and what to do."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from actors.catalogue import BadFile
from actors.templates.template import read_template
from storage.records.alert import Matching
from tests.actors.templates.samples import HEAD, PAGE, a_template, a_text
from tests.rules.source_files import ROOT

ALERT = '[[alerts]]\nkey = "k"\nname = "N"\nquery = "x"'
SITE = '[[parameters]]\nkey = "site"\ntype = "domain"\ndescription = "d"\nexample = "a.example"'
OF_SITE = '[[sources]]\nurl = "https://{site}/"\ntype = "html"'


def flaws(text: str) -> list[str]:
    with pytest.raises(BadFile) as caught:
        read_template(text, "own.toml")
    return [str(flaw) for flaw in caught.value.flaws]


def test_a_template_is_read_from_its_file() -> None:
    template = a_template(SITE + "\nmax = 4", OF_SITE, ALERT + '\nlanguage = "sv"\nchannel = "mine"')
    assert (template.id, template.version, template.name, template.category) == ("own", 3, "Own", "tests")
    assert (template.parameters[0].min, template.parameters[0].max) == (1, 4)
    assert (template.alerts[0].language, template.alerts[0].channel) == ("sv", "mine")
    assert template.alert_key(template.alerts[0]) == "own/k"


@pytest.mark.parametrize("match", get_args(Matching))
def test_an_alert_of_a_template_names_its_part_of_a_page(match: str) -> None:
    assert a_template(PAGE, ALERT).alerts[0].match == "change"
    assert a_template(PAGE, ALERT + f'\nmatch = "{match}"').alerts[0].match == match


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ('id = "own\n', "own.toml:1: not TOML: Illegal character '\\n' at column 10"),
        ("id = \n", "own.toml:1: not TOML: Invalid value at column 6"),
        ('a = "b"\nid = "x', "own.toml:2: not TOML: Unterminated string at its end"),
        (HEAD, "own.toml:1: sources: is missing: add it"),
        (a_text(head=HEAD + "versoin = 2"), "own.toml:6: versoin: there is no such field: take it out"),
        (a_text(head=HEAD.replace("3", '"3"')), "own.toml:2: version: expected `int`, got `str`"),
        (a_text(head=HEAD.replace("3", "0")), "own.toml:2: version: expected `int` >= 1"),
        (a_text(PAGE, "[[sources]]\ntype = 'html'"), "own.toml:11: sources[1].url: is missing: add it"),
        (
            a_text(PAGE, '[[sources]]\n# its URL\nurl = "https://b.example/"\ntype = "rss"'),
            "own.toml:14: sources[1].type: invalid enum value 'rss': write push, feed or html",
        ),
        (
            a_text(PAGE, ALERT + '\nmatch = "came"'),
            "own.toml:15: alerts[0].match: invalid enum value 'came': write change, added, removed or page",
        ),
    ],
)
def test_an_unreadable_template_names_its_line(text: str, flaw: str) -> None:
    assert flaws(text) == [flaw]


@pytest.mark.parametrize(
    ("tables", "line", "says"),
    [
        ((PAGE.replace("/a", "/{who}"),), 8, "sources[0].url: {who} is no parameter; there are {registry_base}"),
        ((PAGE.replace("/a", "/{a b}"),), 8, "sources[0].url: a brace that belongs to no parameter"),
        ((PAGE.replace("https", "ftp"),), 8, "sources[0].url: no URL that can be watched: scheme 'ftp'"),
        ((PAGE.replace("https", "wss"),), 8, "sources[0].url: a wss URL can't be watched as this type"),
        ((PAGE + '\ntags = ["template:x"]',), 10, "sources[0].tags: 'template:x': the namespace template is"),
        ((PAGE + '\ntags = ["x:"]',), 10, "sources[0].tags: 'x:': write <namespace>:<value>"),
        ((PAGE + '\ntags = ["c:{site}"]',), 10, "sources[0].tags: 'c:{site}': {site} is no parameter of type domain"),
        ((SITE, PAGE), 8, "parameters[0].key: no source has {site} in its URL"),
        (
            (PAGE, '[[alerts]]\nkey = "k"\nname = "N"\nquery = "price<{below}"'),
            14,
            "alerts[0].query: {below} is no param",
        ),
        ((SITE, SITE, OF_SITE), 14, "parameters[1].key: 'site' is taken by parameters[0]"),
        ((SITE.replace("a.example", "a"), OF_SITE), 11, "parameters[0].example: 'a' is a single label"),
        ((SITE + "\nmin = 3\nmax = 2", OF_SITE), 12, "parameters[0].min: min is 3 and max is 2"),
        ((SITE + "\nmax = 50", *[OF_SITE] * 3), 7, "parameters: up to 150 sources at once; at most 100"),
        (
            (SITE.replace('"site"', '"registry_base"'), OF_SITE.replace("https://{site}", "{registry_base}")),
            8,
            "parameters[0].key: registry_base is the name of a setting",
        ),
        ((PAGE, ALERT, ALERT), 17, "alerts[1].key: 'k' is taken by alerts[0]"),
        ((PAGE, ALERT.replace('"x"', '"(x OR"')), 14, "alerts[0].query: "),
        ((PAGE, ALERT + '\nlanguage = "xx"'), 15, "alerts[0].language: unknown language 'xx'"),
        ((PAGE, ALERT + '\nchannel = "html"'), 15, "alerts[0].channel: html is a channel already"),
        ((PAGE, ALERT + '\nchannel = "own"'), 15, "alerts[0].channel: own is a channel already"),
    ],
)
def test_an_invalid_template_names_its_line_and_the_fix(tables: tuple[str, ...], line: int, says: str) -> None:
    (flaw,) = flaws(a_text(*tables))
    assert flaw.startswith(f"own.toml:{line}: {says}"), flaw


@pytest.mark.parametrize("name", ["push", "feed", "html", "alerts"])
def test_a_channel_of_the_service_is_no_id(name: str) -> None:
    (flaw,) = flaws(a_text(head=HEAD.replace("own", name)))
    assert flaw.startswith(f"own.toml:1: id: {name} is a channel")


@pytest.mark.parametrize("name", ["Own", "own template", "own\\n", "-own", "", "x" * 64, "../own"])
def test_an_id_is_a_slug(name: str) -> None:
    (flaw,) = flaws(a_text(head=HEAD.replace("own", name)))
    assert flaw.startswith("own.toml:1: id: expected `str` matching regex")


def test_the_example_of_the_documentation_is_a_template() -> None:
    page = (ROOT / "docs/templates.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert read_template(example, "templates.md").id == "harbours"


def test_all_flaws_are_reported_at_once_in_the_order_of_the_lines() -> None:
    found = flaws(
        a_text(
            PAGE.replace("https", "ftp"), ALERT.replace('"x"', '"("'), ALERT.replace('"k"', '"l"') + "\nlanguage='q'"
        )
    )
    assert [flaw.split(":")[1] for flaw in found] == ["8", "14", "20"]
