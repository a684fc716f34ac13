"""The budget `looks_per_second`: whether the looks that are made keep to it, and if not, since when. Pure.

The price of a look (`price`) brings the looks back to the budget, but slowly: a source takes a new price at its next
look, and after the import of a list many first looks come together. What people then see must be said. A look for which
a browser shows the page counts as the plain ones that it costs (`look_price.RENDERED`).
"""

from __future__ import annotations

from dataclasses import dataclass

SLACK = 1.1
"""What is within a tenth of the budget keeps to it: looks do not come evenly."""
LEAST = 0.5
"""Looks a second that are never called too many: in half a minute that is a handful, whatever the budget."""


@dataclass(frozen=True, slots=True)
class LookRate:
    """Looks a second in the last half minute; passed: for how many seconds they have been above the budget."""

    rate: float = 0.0
    budget: float = 0.0
    passed: float = 0.0

    def says(self) -> str:
        """Return a sentence for people; an empty one while the budget is kept.

        >>> Spent(40.0, 10.0, 240.0).says()
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
    """Compares the looks that have ended with the budget. `now`: seconds of a monotonic clock."""

    def __init__(self, budget: float) -> None:
        self._budget = budget
        self._before: tuple[float, float] | None = None
        self._since: float | None = None

    def __repr__(self) -> str:
        return f"<Spending of {self._budget:g} looks a second, passed since {self._since}>"

    def see(self, looks: float, now: float) -> LookRate:
        """Take how many looks have ended so far; return what that is since the last time."""
        before, self._before = self._before, (looks, now)
        if before is None or now <= before[1]:
            return LookRate(0.0, self._budget)
        rate = max(0.0, (looks - before[0]) / (now - before[1]))
        if rate <= max(LEAST, self._budget * SLACK):
            self._since = None
            return LookRate(rate, self._budget)
        self._since = before[1] if self._since is None else self._since
        return LookRate(rate, self._budget, now - self._since)
