"""The results of executing a plan: one line per item as it happens, then totals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct, field

What = Literal["source", "alert", "destination"]
WHATS: tuple[What, ...] = ("source", "alert", "destination")
Became = Literal["new", "there", "changed", "refused"]


class Done(Struct, frozen=True, omit_defaults=True):
    """One item's result. says: the reason of a refusal, or the difference. secret: of a new destination."""

    what: What
    place: str
    name: str
    became: Became
    id: str = ""
    says: str = ""
    secret: str = ""


class Outcome(Struct):
    """The totals. Each `Done` goes to `tell` at once and is not kept."""

    tell: Callable[[Done], None]
    sums: dict[tuple[What, Became], int] = field(default_factory=dict)

    def __call__(self, done: Done) -> None:
        """Count one item and pass it on."""
        key = (done.what, done.became)
        self.sums[key] = self.sums.get(key, 0) + 1
        self.tell(done)

    def count(self, became: Became, what: What | None = None) -> int:
        return sum(n for (kind, how), n in self.sums.items() if how == became and what in (None, kind))

    def words(self, nothing: str = "There was nothing to add") -> str:
        """Return the totals as a sentence. nothing: the text if there are none.

        >>> Outcome(print, {("source", "new"): 3, ("source", "refused"): 1}).words()
        '3 sources added, 1 refused.'
        """
        parts = []
        for what in WHATS:
            said = [f"{n} {word}" for became, word in _WORDS.items() if (n := self.count(became, what))]
            if said:
                number, _, rest = said[0].partition(" ")
                said[0] = f"{number} {what}{'' if number == '1' else 's'} {rest}"
                parts.append(", ".join(said))
        return ("; ".join(parts) or nothing) + "."


_WORDS: dict[Became, str] = {
    "new": "added",
    "changed": "widened",
    "there": "there already",
    "refused": "refused",
}
