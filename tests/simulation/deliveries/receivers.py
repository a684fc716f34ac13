"""Receivers: they take deliveries, refuse them, give false answers, or hang, as their host's troubles require."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate

import trio

from actors.destination_kinds.contract import Verdict
from tests.simulation.deliveries.services import Service, place_of, told_in
from tests.simulation.delivery_records import Receipt
from tests.simulation.network import Host
from tests.simulation.origins import troubles
from tests.simulation.origins.texts import EPOCH
from tests.simulation.serving import Answer, Request
from tests.simulation.trace import Trace

TAKEN = Answer(200, b"taken, thank you", {"content-type": "text/plain"})
LONG_WAIT = 3000
_ABSURD = ("-5", "soon", "999999999", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2100 23:59:59 GMT", "1e3")
_REDIRECTS = (300, 301, 302, 303, 304, 307, 308)


@dataclass(slots=True)
class ReceiverHost:
    """A machine with the receivers of several destinations, each at its own path.

    Its clock is the true one, whatever season the service's clock shows. services: those of messengers, by the label of
    the destination.
    """

    host: Host
    trace: Trace
    receipts: dict[str, list[Receipt]]
    services: Mapping[str, Service] = field(default_factory=dict)
    turns: int = 0
    gone: dict[str, float] = field(default_factory=dict)

    async def respond(self, request: Request) -> Answer:
        """Take one delivery, or suffer the host's present trouble."""
        await trio.lowlevel.checkpoint()
        self.turns += 1
        place = place_of(request)
        service = self.services.get(place.split("/")[1])
        verdict: Verdict | None = None
        if service is None:
            answer, hold = self._answer(request), 0.0
        else:
            answer, verdict, hold = self._in_own_words(service, request, place)
        date = {"date": formatdate(EPOCH + trio.current_time(), usegmt=True)}
        status = 0 if answer.pace in ("lost", "never", "trickle") else answer.status
        receipt = Receipt(
            trio.current_time(),
            place,
            request.headers,
            request.body,
            status,
            max(hold, _hold(answer, self.host)),
            told=None if service is None else told_in(service, request),
            verdict=verdict if status else None,
            clear=answer.pace == "at once" and answer.claims is None,
        )
        self.receipts.setdefault(place, []).append(receipt)
        told = {} if answer.pace == "at once" else {"pace": answer.pace}
        self.trace.note(self.host.name, f"answers {answer.status}", to=request.path, id=receipt.id, **told)
        return replace(answer, headers={**date, **answer.headers}, finished=lambda: _finish(receipt))

    def _answer(self, request: Request) -> Answer:
        for kind, lie in _LIES.items():
            if self.host.suffers(kind):
                return lie(self, request)
        return troubles.suffered(self.host, request, TAKEN)

    def _in_own_words(self, service: Service, request: Request, place: str) -> tuple[Answer, Verdict | None, float]:
        """Return the answer of a messenger, its meaning, and the wait it asks for."""
        if self.host.suffers("lost"):
            return replace(service.well, pace="lost"), None, 0.0
        if self.host.suffers("long wait"):
            return _LIES["long wait"](self, request), None, 0.0
        for fault, said in service.troubles.items():
            if self.host.suffers(fault) and (said.means != "revoked" or self._is_new(fault, place)):
                return said.answer, said.means, said.hold
        answer = troubles.suffered(self.host, request, service.well)
        taken = answer.status == service.well.status and answer.pace != "never"
        return answer, "delivered" if taken else None, 0.0

    def _is_new(self, fault: str, place: str) -> bool:
        """Return whether a place meets this trouble for the first time."""
        ends = self.host.faults[fault]
        known = self.gone.get(place) == ends
        self.gone[place] = ends
        return not known

    def pick(self, *choices: int | str) -> str:
        """Return one of these after the other."""
        return str(choices[self.turns % len(choices)])

    def says_gone(self, request: Request) -> Answer:
        """Answer 410 to each destination once in a trouble, and take later deliveries."""
        return Answer(410, b"gone") if self._is_new("gone", request.path) else TAKEN


def _hold(answer: Answer, host: Host) -> float:
    return 0.0 if host.suffers("absurd wait") else troubles.hold_of(answer)


def _finish(receipt: Receipt) -> None:
    receipt.until = trio.current_time()


_LIES: dict[str, Callable[[ReceiverHost, Request], Answer]] = {
    "gone": ReceiverHost.says_gone,
    "forbidden": lambda host, request: Answer(int(host.pick(400, 401, 403, 404, 409, 413, 422)), b"not <b>you</b>\x1b"),
    "redirects": lambda host, request: Answer(
        int(host.pick(*_REDIRECTS)), b"there", {"location": f"https://{host.host.name}{request.path}"}
    ),
    "lost": lambda host, request: replace(TAKEN, pace="lost"),
    "absurd wait": lambda host, request: Answer(int(host.pick(429, 503)), headers={"retry-after": host.pick(*_ABSURD)}),
    "long wait": lambda host, request: Answer(503, headers={"retry-after": str(LONG_WAIT)}),
    "odd success": lambda host, request: Answer(int(host.pick(200, 201, 202, 204, 206, 226, 299)), b""),
}
"""By kind of trouble; all others are in `troubles`, or of the network."""
