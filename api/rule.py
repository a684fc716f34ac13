"""The rule by which both faces match a path; no URL is ever made of it."""

from __future__ import annotations

from collections.abc import Callable

from quart.routing import QuartRule

_KEPT = ("_parts", "_trace", "_converters", "arguments")
"""What a rule learns from its path alone, and what nobody changes later."""
_read: dict[tuple[str, bool, type | None], dict[str, object]] = {}
"""That by path, slashes, and the converter of `part`: as many as the program has paths."""


class Rule(QuartRule):
    """A rule that only matches: the code that makes URLs, two functions a rule, would be most of a start.

    Its path is read once in a process, however many applications have it.
    """

    def compile(self) -> None:
        """Read the path, or take what another application's rule has read."""
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
