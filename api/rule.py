"""The rule that both faces match paths with. It never builds URLs."""

from __future__ import annotations

from collections.abc import Callable

from quart.routing import QuartRule

_KEPT = ("_parts", "_trace", "_converters", "arguments")
"""The attributes that a rule derives from its path alone, and that never change later."""
_read: dict[tuple[str, bool, type | None], dict[str, object]] = {}
"""The same attributes by path, slashes, and the converter of `part`. Its size is the program's number of paths."""


class Rule(QuartRule):
    """A rule that only matches. Compiling the URL builders, two functions per rule, would dominate start-up.

    The process parses each path once, for all applications.
    """

    def compile(self) -> None:
        """Parse the path, or reuse the result of another application's rule."""
        key = self.rule, bool(self.merge_slashes), self.map.converters.get("part")
        if key in _read:
            self.__dict__.update(_read[key])
        else:
            super().compile()
            _read[key] = {name: self.__dict__[name] for name in _KEPT}

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return _makes_no_url


def _makes_no_url(rule: Rule, **values: object) -> tuple[str, str]:
    raise NotImplementedError(f"{rule.rule}: URLs are written out where they are needed")
