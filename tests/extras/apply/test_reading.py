from __future__ import annotations

from pathlib import Path

import pytest

from extras.apply.groups import BadFiles
from extras.apply.kinds.sources import DEFAULTS, spelt
from extras.apply.reading import read_folder
from tests.extras.apply.folder import files

GOOD = """
workspace = "shop"

[sources.tickets]
url = "HTTPS://Shore.test:443/tickets"
tags = ["shop", "topic:prices"]
schedule = "90m"
headers = { env = "HEADERS" }

[alerts.prices]
query = "price"
sources = ["tickets"]
destinations = ["hook"]

[destinations.hook]
url = { file = "secrets/hook" }
"""


def flaws(folder: Path) -> list[str]:
    with pytest.raises(BadFiles) as caught:
        read_folder(folder, {})
    return [str(flaw) for flaw in caught.value.flaws]


def test_a_folder_is_read_into_one_normal_form(tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=GOOD)
    (folder / "secrets").mkdir()
    (folder / "secrets/hook").write_text("https://hooks.slack.com/T0\n")
    wish = read_folder(folder, {"HEADERS": "Cookie: id=1"})
    (source,), (alert,) = wish.wanted["sources"], wish.wanted["alerts"]
    assert wish.workspace == "shop"
    assert source.values["url"] == "https://shore.test/tickets" and source.values["schedule"] == "90m"
    assert source.values["tags"] == ("label:shop", "topic:prices") and source.values["enabled"] is True
    assert source.secrets["headers"].value == "Cookie: id=1"
    assert (alert.values["name"], alert.values["sources"]) == ("prices", ("tickets",))
    (hook,) = wish.wanted["destinations"]
    assert (hook.name, hook.values["alert"], hook.secrets["url"].value) == (
        "prices/hook",
        "prices",
        "https://hooks.slack.com/T0",
    )


def test_a_missing_variable_or_file_is_named_with_its_place(
    tmp_path: Path,
) -> None:
    wish = read_folder(files(tmp_path / "f", all=GOOD), {"HEADERS": "  "})
    (source,), (hook,) = wish.wanted["sources"], wish.wanted["destinations"]
    assert (source.secrets["headers"].value, source.secrets["headers"].says) == (None, "$HEADERS")
    assert (hook.secrets["url"].value, hook.secrets["url"].says) == (None, "the file secrets/hook")


def test_no_printed_form_contains_a_secret(tmp_path: Path) -> None:
    wish = read_folder(files(tmp_path / "f", all=GOOD), {"HEADERS": "Cookie: id=very-secret"})
    assert "very-secret" not in repr(wish)


def test_all_errors_of_all_files_are_reported_at_once_with_line_key_and_fix(tmp_path: Path) -> None:
    folder = files(
        tmp_path / "f",
        a="""
workspace = "shop"
[sources.tickets]
url = "https://shore.test/tickets"
tagz = ["shop"]
schedule = "hourly"
headers = "Cookie: id=1"
[sources.terms]
title = 3
[source.news]
url = "https://shore.test/news"
[alerts.prices]
query = "price"
sources = ["ticket"]
destinations = ["hok"]
[destinations.hook]
url = "https://hook.test/in"
""",
        b="""
workspace = "other"
[sources.tickets]
url = "https://shore.test/x"
[sources."#"]
url = "https://shore.test/y"
[alerts]
prices = 7
""",
        c='[sources.x]\nurl = "https://shore.test/z\n',
    )
    assert flaws(folder) == [
        "a.toml:5: sources.tickets.tagz: there is no such key; did you mean tags?",
        "a.toml:6: sources.tickets.schedule: must be a whole number and one of s, m, h and d, such as 10m, 2h or 1d",
        "a.toml:7: sources.tickets.headers: a secret does not belong into a file: "
        'write { env = "NAME" } or { file = "path" }',
        "a.toml:8: sources.terms.url: is missing: add it",
        "a.toml:9: sources.terms.title: expected a text, got a whole number",
        "a.toml:10: source: there is no such key; did you mean sources?",
        "a.toml:14: alerts.prices.sources: there is no [sources.ticket] in these files; did you mean tickets?"
        ", or write the URL of an existing source",
        "a.toml:15: alerts.prices.destinations: there is no [destinations.hok] in these files; did you mean hook?",
        "a.toml:16: destinations.hook: no alert names it: write its name into an alert's `destinations`",
        "b.toml:2: workspace: is other here and shop elsewhere: one folder has one",
        "b.toml:3: sources.tickets: is in a.toml:3 as well: one of the two needs another name",
        "b.toml:5: sources.#: a name is 1 to 99 letters, digits, spaces and the signs . _ -, and begins with a letter "
        "or a digit",
        "b.toml:8: alerts.prices: write it as a table: [alerts.prices]",
        "c.toml:2: not TOML: Illegal character '\\n' at column 28",
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("bar = 7", "bar: expected a number <= 0.9"),
        ('render = "sometimes"', "render: must be one of: never, auto, always"),
        ('tags = "one"', "tags: expected a list, got a text"),
        ("tags = [1]", "tags[0]: expected a text, got a whole number"),
        ('headers = { evn = "A" }', "headers: there is no such key: evn; there are: env, file"),
    ],
)
def test_a_wrong_value_is_refused_with_the_valid_ones(tmp_path: Path, line: str, says: str) -> None:
    folder = files(tmp_path / "f", all=f'[sources.x]\nurl = "https://shore.test/"\n{line}\n')
    assert flaws(folder) == [f"all.toml:3: sources.x.{says}"]


def test_a_wrong_value_in_a_table_inside_a_table_is_reported_with_its_whole_path(tmp_path: Path) -> None:
    more = GOOD + 'quiet_hours = { from = "25:00", to = "07:00" }\noptions = { a = 3 }\n'
    assert flaws(files(tmp_path / "f", all=more)) == [
        "all.toml:17: destinations.hook.quiet_hours.from: must be a time of day as HH:MM, from 00:00 to 23:59",
        "all.toml:18: destinations.hook.options: expected a text or a table, got a whole number",
    ]


def test_a_key_by_its_usual_name_is_pointed_to_ours(tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all='[sources.x]\nurl = "https://shore.test/"\ninterval = "10m"\n')
    assert flaws(folder) == ["all.toml:3: sources.x.interval: there is no such key; did you mean schedule?"]


def test_an_empty_folder_is_refused_unless_the_workspace_is_named(tmp_path: Path) -> None:
    assert flaws(tmp_path) == [f"{tmp_path}: it has no *.toml files; to empty a workspace, name it with --workspace"]
    assert not any(read_folder(tmp_path, {}, "shop").wanted.values())


def test_files_without_a_workspace_are_refused_unless_an_option_names_it(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    folder.mkdir()
    (folder / "a.toml").write_text('[sources.x]\nurl = "https://shore.test/"\n')
    assert flaws(folder) == [
        'a.toml: no file says whose files these are: write `workspace = "NAME"` at the top of one of them'
    ]
    assert read_folder(folder, {}, "shop").workspace == "shop"


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("{}", 'name one place: { env = "NAME" } or { file = "path" }'),
        ('{ env = "A", file = "b" }', 'name one place: { env = "NAME" } or { file = "path" }'),
        ('{ file = "." }', "the file . can't be read: Is a directory"),
        ('{ file = "binary" }', "the file binary is not text in UTF-8"),
        ('{ file = "large" }', "the file large is larger than 32 KiB"),
    ],
)
def test_a_dangling_reference_is_reported(tmp_path: Path, reference: str, says: str) -> None:
    folder = files(tmp_path / "f", all=f'[sources.x]\nurl = "https://shore.test/"\nheaders = {reference}\n')
    (folder / "binary").write_bytes(b"\xff\xfe")
    (folder / "large").write_bytes(b"x" * 40_000)
    assert flaws(folder) == [f"all.toml:3: sources.x.headers: {says}"]


def test_binary_and_large_files_are_reported_and_hidden_ones_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files(tmp_path / "f")
    (folder / "a.toml").write_bytes(b"x = 1\n\xff")
    (folder / ".git").mkdir()
    (folder / ".git/b.toml").write_text("nonsense")
    assert flaws(folder) == ["a.toml: line 2 is not UTF-8: save the file as UTF-8"]
    monkeypatch.setattr("extras.apply.reading.LARGEST", 3)
    assert "a.toml: larger than 0 MiB: cut it into several files" in flaws(folder)


def test_one_destination_of_two_alerts_is_wanted_for_each(tmp_path: Path) -> None:
    more = GOOD + '[alerts.plans]\nquery = "plan"\ndestinations = ["hook", "hook"]\n'
    wish = read_folder(files(tmp_path / "f", all=more), {})
    assert [one.name for one in wish.wanted["destinations"]] == ["prices/hook", "plans/hook"]


def test_hosts_are_compared_in_the_spelling_in_which_the_service_keeps_them() -> None:
    values = spelt({**DEFAULTS, "headers_for": ("*.Shop.example",), "follow_hosts": ("www.News.example", "*")})
    assert (values["headers_for"], values["follow_hosts"]) == (("*.shop.example",), ("news.example", "*"))
    assert spelt({**DEFAULTS, "headers_for": ("*.com",)})["headers_for"] == ("*.com",)
