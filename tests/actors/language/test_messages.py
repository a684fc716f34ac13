"""Messages have the values that their templates name, survive storage, and are worded in the reader's language."""

from __future__ import annotations

import re
from zoneinfo import ZoneInfo

import msgspec
import pytest

from actors.language.sentences import translated
from actors.language.speaking import speaking
from api.dashboard.drawing import by_clock
from storage.records.message import Message, joined, message
from storage.records.source import Health
from tests.actors.language.gathering import messages_in
from tests.rules.source_files import ROOMS, modules, name_of, tree_of
from tests.support.build import NOW

FAILED = message("The last check failed: %(reason)s", reason="answered 503")


@pytest.mark.parametrize("room", ROOMS)
def test_each_message_is_a_literal_with_the_values_that_it_names(room: str) -> None:
    """The catalogues take their texts from these calls; a template made at run time would be in none."""
    for path in modules(room):
        for one in messages_in(tree_of(path)):
            place = f"{name_of(path)}:{one.line}"
            assert one.template is not None, place
            assert set(re.findall(r"%\((\w+)\)s", one.template)) == one.names, place


def test_a_message_is_english_as_text_and_worded_by_its_language() -> None:
    says = joined([message("The next check is due on %(at)s.", at=NOW), joined([FAILED, "."], ""), None])
    assert str(says) == "The next check is due on 28 May 2026 20:26 UTC. The last check failed: answered 503."
    assert translated(says) == str(says)
    with speaking("sv"):
        assert translated(says) == (
            "Nästa kontroll är planerad till 28 maj 2026 20:26 UTC. Den senaste kontrollen misslyckades: svarade 503."
        )


def test_times_are_shown_by_the_readers_clock_but_not_those_in_names() -> None:
    text = "at 28 May 2026 20:26 UTC"
    says = message("It was reported on %(at)s as “%(title)s” (event %(id)s).", at=NOW, title=text, id="e")
    assert str(by_clock(says, ZoneInfo("Europe/Stockholm"))) == (
        f"It was reported on 28 May 2026 22:26 as “{text}” (event e)."
    )


def test_a_record_has_the_text_for_older_readers_and_the_values() -> None:
    health = Health(score=0.5).explained(FAILED)
    stored = msgspec.msgpack.encode(health)
    assert msgspec.msgpack.decode(stored)["reason"] == "The last check failed: answered 503"
    assert msgspec.msgpack.decode(stored, type=Health).words == FAILED


def test_a_record_from_before_has_its_text() -> None:
    old = msgspec.msgpack.encode({"score": 0.5, "reason": "In other words: answered 503"})
    assert msgspec.msgpack.decode(old, type=Health).words == "In other words: answered 503"


def test_a_message_of_another_version_is_worded_as_far_as_it_goes() -> None:
    odd = Message("%(count)s of %(all)9999999999s and %(it)s %", {"count": 3})
    assert str(odd) == translated(odd) == "3 of %(all)9999999999s and %(it)s %"


def test_a_text_without_values_may_have_percent_signs() -> None:
    assert str(Message("100 % of %(it)s")) == "100 % of %(it)s" == translated(Message("100 % of %(it)s"))
