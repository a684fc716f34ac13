from __future__ import annotations

import re

import pytest

from extras.manual.pages import contents, lines, page, title_of
from sanderling_client.receiver.terminal import cells

PAGE = """# The `first` page

A paragraph that goes on
over *two* lines, with **bold words**, `code  here`, [a page](alerts.md) and [the web](https://a.test/x).

- an item that is long enough to be wrapped
  over lines
- another

```sh
echo  "as it is, also where it is longer than the line"   # |
```

| Query | Means |
|---|---|
| `a \\| b` | a long explanation that needs more room than there is |
| 東京 | a place<br>on two lines |
"""


def test_a_page_is_plain_words_in_the_given_width() -> None:
    assert list(lines(PAGE, 40)) == [
        "THE FIRST PAGE",
        "",
        "A paragraph that goes on over two lines,",
        "with bold words, code  here, a page",
        "(help alerts) and the web",
        "(https://a.test/x).",
        "",
        " • an item that is long enough to be",
        "   wrapped over lines",
        " • another",
        "",
        '    echo  "as it is, also where it is longer than the line"   # |',
        "",
        "",
        " Query  Means",
        " ──────────────────────────────────────",
        " a | b  a long explanation that needs",
        "        more room than there is",
        " 東京   a place",
        "        on two lines",
    ]


def test_a_link_that_leads_nowhere_from_here_is_its_words() -> None:
    assert list(lines("See [the licence](../LICENSE), [this](#part), [why](decisions/why-so.md#costs).")) == [
        "See the licence, this, why (help decisions/why-so)."
    ]


def test_colour_changes_no_letter_and_ends_on_its_line() -> None:
    coloured = list(lines(PAGE, 40, colour=True))
    assert [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip() for line in coloured] == list(lines(PAGE, 40))
    assert [line for line in coloured if "\x1b" in line and line.rfind("\x1b[0m") != line.rfind("\x1b")] == []
    assert "\x1b[1mbold words\x1b[0m" in coloured[3]


def test_the_title_is_the_first_heading() -> None:
    assert title_of(PAGE) == "The first page"


def test_words_of_every_page_fit_into_eighty_cells(subtests: pytest.Subtests) -> None:
    """Code keeps its width."""
    for name in [name for names in contents().values() for name in names if name != "reference"]:
        with subtests.test(name):
            shown = list(lines(page(name).markdown, 80))
            assert shown[0].isupper() and len(shown) > 3
            words = [line for line in shown if not line.startswith("    ")]
            assert [line for line in words if cells(line) > 80] == []
            assert [line for line in words if "](" in line or "**" in line or "*Today*" in line] == []
