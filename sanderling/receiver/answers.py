"""The responses of `sanderling listen`: honest, or as configured. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answers:
    """status: always, or with `fail_every` for each n-th delivery (default 500)."""

    status: int | None = None
    fail_every: int | None = None

    def status_for(self, number: int, *, refused: bool) -> int:
        """Return the configured status, else 400 if a check failed, else 200.

        >>> [Answers(503, fail_every=3).status_for(n, refused=False) for n in (1, 2, 3)]
        [200, 200, 503]
        """
        if self.fail_every is not None:
            if number % self.fail_every == 0:
                return self.status or 500
        elif self.status is not None:
            return self.status
        return 400 if refused else 200
