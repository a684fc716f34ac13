from __future__ import annotations

import gc
import weakref

import pytest

from supervision import Escalate, describe


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def deep(levels: int) -> None:
    if levels:
        deep(levels - 1)
    raise ValueError("x" * 1000)


def test_s17_only_type_message_and_three_frames_are_recorded() -> None:
    with pytest.raises(ValueError, match="xxx") as caught:
        deep(10)
    crash = describe(caught.value)
    assert (crash.kind, len(crash.message)) == ("ValueError", 300)
    assert [frame.partition(" in ")[2] for frame in crash.frames] == ["deep"] * 3
    assert crash.frames[-1].startswith("test_crash_records.py:")


def test_s17_nothing_of_the_exception_stays_alive() -> None:
    class Burden:
        pass

    def fail() -> None:
        burden = Burden()
        watch.append(weakref.ref(burden))
        raise ValueError(burden)

    watch: list[weakref.ref[Burden]] = []
    try:
        fail()
    except ValueError as error:
        crash = describe(error)
    gc.collect()
    assert watch[0]() is None
    assert str(crash).startswith("ValueError: <")


def test_an_exception_that_cannot_be_printed_is_described_all_the_same() -> None:
    assert str(describe(Unprintable())) == "Unprintable: (its message cannot be shown)"


def test_a_group_shows_its_exceptions() -> None:
    group = ExceptionGroup("several", [ValueError("a"), ExceptionGroup("inner", [KeyError("b")])])
    message = describe(group).message
    assert message.startswith("several (2 sub-exceptions): ValueError: a; ExceptionGroup: inner")


def test_an_escalation_names_the_actor_and_the_reason() -> None:
    assert str(Escalate("root/inner", "bad", "was bad")) == "root/inner/bad: was bad"
