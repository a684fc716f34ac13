"""The budget `looks_per_second`: whether checks keep to it, and if not, since when. Pure.

The price of a check brings them back to the budget, but slowly: a source takes a new price at its next check, and
after the import of a list many first checks come together. Users must see that. A check with a browser counts as the
plain ones that it costs (`look_price.RENDERED`).
"""

from __future__ import annotations

from dataclasses import dataclass

SLACK = 1.1
"""A tenth over the budget is fine: checks are uneven."""
LEAST = 0.5
"""Checks a second that are never too many: a handful in half a minute."""


@dataclass(frozen=True, slots=True)
class LookRate:
    """Checks a second in the last half minute; passed: seconds above the budget so far."""

    rate: float = 0.0
    budget: float = 0.0
    passed: float = 0.0

    def says(self) -> str:
        """Return a sentence for people; empty while the budget is kept.

        >>> LookRate(40.0, 10.0, 240.0).says()
        '40.0 looks a second are made, 10 are the budget (looks_per_second), for 4 min now.'
        """
        if not self.passed:
            return ""
        long = f"{self.passed / 60:.0f} min" if self.passed >= 60 else f"{self.passed:.0f} s"
        return (
            f"{self.rate:,.1f} looks a second are made, {self.budget:g} are the budget (looks_per_second), "
            f"for {long} now."
        )


class Spending:
    """Compares finished checks with the budget. `now`: seconds of a monotonic clock."""

    def __init__(self, budget: float) -> None:
        self._budget = budget
        self._before: tuple[float, float] | None = None
        self._since: float | None = None

    def __repr__(self) -> str:
        return f"<Spending of {self._budget:g} looks a second, passed since {self._since}>"

    def see(self, looks: float, now: float) -> LookRate:
        """Take the total of finished checks; return the rate since the last call."""
        before, self._before = self._before, (looks, now)
        if before is None or now <= before[1]:
            return LookRate(0.0, self._budget)
        rate = max(0.0, (looks - before[0]) / (now - before[1]))
        if rate <= max(LEAST, self._budget * SLACK):
            self._since = None
            return LookRate(rate, self._budget)
        self._since = before[1] if self._since is None else self._since
        return LookRate(rate, self._budget, now - self._since)
