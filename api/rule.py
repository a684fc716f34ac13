"""The rule by which both faces match a path; no URL is ever made of it."""

from __future__ import annotations

from collections.abc import Callable

from quart.routing import QuartRule


class Rule(QuartRule):
    """A rule that only matches: the code that makes URLs, two functions a rule, would be most of a start."""

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return _makes_no_url


def _makes_no_url(rule: Rule, **values: object) -> tuple[str, str]:
    raise NotImplementedError(f"{rule.rule}: URLs are written out where they are needed")
