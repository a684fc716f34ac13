"""The answers of `sanderling listen`: honest ones, or as it was told to. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answers:
    """status: what is answered always, or, with `fail_every`, to each so-many-th delivery (500 unless said)."""

    status: int | None = None
    fail_every: int | None = None

    def status_for(self, number: int, *, refused: bool) -> int:
        """Return the status for a delivery: as told, else 400 when a check of it failed and 200 otherwise.

        >>> [Answers(503, fail_every=3).status_for(n, refused=False) for n in (1, 2, 3)]
        [200, 200, 503]
        """
        if self.fail_every is not None:
            if number % self.fail_every == 0:
                return self.status or 500
        elif self.status is not None:
            return self.status
        return 400 if refused else 200
