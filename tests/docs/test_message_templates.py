"""The page about message templates names each value and filter and no other; its examples work."""

from __future__ import annotations

import re

import pytest

from actors.notification.dialects import TextLimits
from actors.notification.message_template import FILTERS, OF_EVENTS, OF_MESSAGES, SAMPLES, WriteRequest, render
from extras.manual.pages import FOLDER
from tests.docs.blocks import Block, of

PAGE = (FOLDER / "message-templates.md").read_text()


def test_it_names_each_value_in_the_words_of_the_form() -> None:
    table = PAGE.partition("<!-- names:")[2].partition("\n\n")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", table, re.MULTILINE)) == OF_EVENTS | OF_MESSAGES


def test_it_names_each_filter() -> None:
    (line,) = re.findall(r"^- \*\*Filters\.\*\* (.*)\.$", PAGE, re.MULTILINE)
    assert tuple(re.findall(r"`(\w+)`", line)) == FILTERS


@pytest.mark.parametrize("example", of("docs/message-templates.md", "jinja"), ids=str)
def test_its_examples_work(example: Block) -> None:
    texts = [render(WriteRequest(example.text, "", one, TextLimits(text=4000))).text for one in SAMPLES]
    assert all(text.strip() for text in texts), texts
