from __future__ import annotations

from typing import Any

import pytest

from actors.delivery.actor import Sender
from actors.destination_kinds.contract import AddressField, Answer
from actors.destination_kinds.kind import AdmittedAddress, DeliveryPayload, DestinationKind
from actors.egress.failures import Blame, CheckFailed
from actors.errors import UrlRefused
from actors.notification.dialects import TextLimits
from storage.errors import Unavailable
from storage.records.alert import Alert
from storage.records.destination import Destination
from tests.storage.contract.builders import a_destination, an_alert


async def _admit(*_: object) -> AdmittedAddress:
    return AdmittedAddress("sea://bottle", "a bottle")


def a_kind(outcome: Answer | Exception, sent: list[Any]) -> DestinationKind:
    async def send(transport: Any, destination: Destination, payload: DeliveryPayload, world: Any) -> Answer:
        sent.append((transport, destination.url, payload, world))
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return DestinationKind("bottle", "A bottle", "program", "", "", AddressField(label="Sea"), (), _admit, None, send)


@pytest.mark.parametrize(
    ("outcome", "error", "ours"),
    [
        (Answer(200, 5), None, False),
        (Answer(None, 5, "the sea is closed"), "the sea is closed", False),
        (CheckFailed(Blame.LOCAL, "no sea here"), "no sea here", True),
        (CheckFailed(Blame.REMOTE_TRANSIENT, "it sank"), "it sank", False),
        (UrlRefused("url-blocked", "not that sea"), "not that sea", False),
    ],
)
async def test_a_row_more_is_a_kind_more_and_each_way_out_of_it_is_an_answer(
    outcome: Answer | Exception, error: str | None, ours: bool
) -> None:
    sent: list[Any] = []
    transport, world = object(), object()
    destination = a_destination(kind="bottle", url="sea://bottle")
    sender = Sender({"bottle": a_kind(outcome, sent)}, transport, world)  # type: ignore[arg-type]
    answer = await sender.attempt(destination, "id", b"{}")
    assert sent == [(transport, "sea://bottle", DeliveryPayload("id", b"{}"), world)]
    assert (answer.ours, error is None or error in (answer.error or "")) == (ours, True)
    assert answer.delivered is (error is None)


async def test_a_kind_without_its_file_is_no_fault_of_the_receiver() -> None:
    answer = await Sender({}, object(), object()).attempt(a_destination(kind="bottle"), "id", b"{}")  # type: ignore[arg-type]
    assert answer.ours and not answer.delivered and "no kind bottle" in (answer.error or "")


class _Alerts:
    """The alerts of a storage, which may not answer."""

    def __init__(self, *, answers: bool) -> None:
        self._answers = answers

    async def get(self, id: str) -> Alert:
        if not self._answers:
            raise Unavailable("the disk is away")
        return an_alert(id)


@pytest.mark.parametrize("answers", [True, False])
async def test_a_message_to_people_names_its_alert_or_waits_until_it_can(answers: bool) -> None:
    """A retry has the same words as the first attempt, so none goes out without the name."""
    sent: list[Any] = []
    kind = a_kind(Answer(200, 5), sent)._replace(limits=TextLimits(text=100))
    world, alerts = object(), _Alerts(answers=answers)
    sender = Sender({"bottle": kind}, object(), world, alerts)  # type: ignore[arg-type]
    answer = await sender.attempt(a_destination(kind="bottle", alert="7a"), "id", b"{}")
    assert [payload.alert.id for *_, payload, _ in sent] == ["7a"] * answers
    assert (answer.delivered, answer.ours) == (answers, not answers)
