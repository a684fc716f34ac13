"""Grade a receiver's responses: each fault, and overall. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sanderling.receiver.cases import Case, Should, Weight

PROMPT_MS = 5000
"""A slower receiver is close to the 15 seconds after which a delivery fails."""
Grade = Literal["A", "B", "C", "D", "F"]
SAYS: dict[Grade, str] = {
    "A": "it does everything right",
    "B": "it is sound, with small faults",
    "C": "it will lose or repeat deliveries now and then",
    "D": "it will lose or repeat many deliveries",
    "F": "it lets forgeries in, or good deliveries not",
}


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of one request. status: None without a response; `error` then explains. latency_ms: since the last
    byte sent, or since the beginning if sending failed.
    """

    status: int | None
    latency_ms: int
    error: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A case and its responses. weight, fault: None and empty if correct."""

    case: Case
    answers: tuple[Answered, ...]
    weight: Weight | None
    fault: str

    @property
    def slowest_ms(self) -> int:
        """The longest wait for a response."""
        return max(answer.latency_ms for answer in self.answers)


def judged(case: Case, answers: Sequence[Answered]) -> Result:
    """Judge a case by its worst response."""
    faults = [fault for answer in answers if (fault := _fault(case, answer)) is not None]
    weight, words = min(faults, key=lambda fault: [*Weight].index(fault[0]), default=(None, ""))
    return Result(case, tuple(answers), weight, words)


def _fault(case: Case, answer: Answered) -> tuple[Weight, str] | None:
    status = answer.status
    if status is None:
        # If refusal is expected, a cut connection counts as rude refusal; the service would retry.
        weight = case.weight if case.should is Should.ACCEPT else Weight.MINOR
        return weight, f"no answer: {answer.error}"
    if status == 410:
        return Weight.MAJOR, "410 means: never again. The destination would be disabled"
    if 300 <= status < 400:
        return Weight.MAJOR, "redirects are not followed, and count as failures"
    accepted = 200 <= status < 300
    if case.should is Should.ACCEPT and not accepted:
        return case.weight, case.fault
    if case.should is Should.REFUSE and accepted:
        return case.weight, case.fault
    if status >= 500:
        return Weight.MINOR, "refused, but by breaking: answer 400"
    if answer.latency_ms > PROMPT_MS:
        return Weight.MINOR, f"slow: answer first and work later; after {PROMPT_MS // 1000} s it is late"
    return None


def grade(results: Sequence[Result]) -> Grade:
    """Return the overall grade.

    F for a vital fault; D for three or more major ones, C for fewer; B for minor ones only; A for none.
    """
    weights = [result.weight for result in results if result.weight is not None]
    if Weight.VITAL in weights:
        return "F"
    major = weights.count(Weight.MAJOR)
    if major:
        return "D" if major > 2 else "C"
    return "B" if weights else "A"
