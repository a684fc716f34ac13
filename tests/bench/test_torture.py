from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench import torture
from bench.torture import FAULTS, SHORT, Audit, Scene, counted
from tests.e2e.test_kill_deliveries import Receiver, by_alert

SOUND = Audit(
    published=2,
    lost=0,
    doubled=0,
    out_of_order=0,
    seen_and_gone=0,
    seen_twice=0,
    undelivered=0,
    told_again=0,
    of_two_bodies=0,
    delivered_again=3,
)


class Published:
    def __init__(self, *items: str) -> None:
        self.items = ["baseline", *items]


def a_scene(origin: Any) -> Scene:
    scene = Scene(Path("x"), "key", random.Random(1), Receiver(lambda: 0.0), Receiver(lambda: 0.0, by_alert))
    scene.origins["s"] = origin
    scene.receiver.bodies.update({"1": [b"one"], "2": [b"two", b"two"]})
    scene.pager.bodies["1"] = [json.dumps({"payload": {"summary": "2 events of Notes"}}).encode()]
    return scene


def test_an_ordered_complete_delivered_run_passes_the_audit() -> None:
    log = {"1": ("s", "a"), "2": ("s", "b")}
    audit = counted(a_scene(Published("a", "b")), log, {"s": ["a", "b"]})
    assert audit.holds
    assert (audit.published, audit.delivered_again) == (2, 1)


def test_each_kind_of_loss_is_counted() -> None:
    scene = a_scene(Published("a", "b", "c"))
    scene.seen["9"] = "gone"
    scene.receiver.bodies["2"] = [b"two", b"other"]
    log = {"1": ("s", "a"), "2": ("s", "b"), "3": ("s", "a")}
    audit = counted(scene, log, {"s": ["b", "a", "a"]})
    assert (audit.lost, audit.doubled, audit.out_of_order) == (1, 1, 1)
    assert (audit.seen_and_gone, audit.undelivered, audit.of_two_bodies) == (1, 2, 1)
    assert not audit.holds


def test_an_event_split_over_two_messages_is_not_missing() -> None:
    scene, log = a_scene(Published("a", "b")), {"1": ("s", "a"), "2": ("s", "b")}
    scene.pager.bodies["2"] = [json.dumps({"payload": {"summary": "b"}}).encode()]
    audit = counted(scene, log, {"s": ["a", "b"]})
    assert (audit.undelivered, audit.told_again, audit.holds) == (0, 1, False)


@pytest.mark.parametrize(
    "name",
    [
        "lost",
        "doubled",
        "out_of_order",
        "seen_and_gone",
        "seen_twice",
        "undelivered",
        "told_again",
        "not_in_the_replica",
    ],
)
def test_anything_but_a_repeated_delivery_breaks_it(name: str) -> None:
    assert SOUND.holds
    assert not replace(SOUND, **{name: 1}).holds


def test_the_short_form_does_each_fault_at_least_once() -> None:
    assert set(SHORT) == set(FAULTS)
    assert all(SHORT.values())


def test_without_a_small_disk_the_full_disk_is_left_out_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: dict[str, int] = {}

    async def nothing(folder: Path, replica: Path, counts: Any, seed: int) -> Any:
        told.update(counts)
        return SOUND, {}

    monkeypatch.setattr(torture, "torture", nothing)
    monkeypatch.setattr(torture.os, "geteuid", lambda: 1000)
    monkeypatch.setattr("sys.argv", ["torture", "--short"])
    assert torture.main() == 0
    assert told == {**SHORT, "full disk": 0}
    assert "the full disk is left out" in capsys.readouterr().out
