"""XPath as CSS where both can express it: paths of names, positions, ids, classes, attributes. Pure."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 1000
_TEXT = re.compile(r"/{1,2}(?:text\(\)|node\(\))$")
_STEP = re.compile(r"(?P<axis>//?)(?P<name>[A-Za-z][\w-]*|\*)(?P<rest>(?:\[(?:[^\[\]\"']|\"[^\"]*\"|'[^']*')*\])*)")
_PREDICATE = re.compile(r"\[\s*((?:[^\[\]\"']|\"[^\"]*\"|'[^']*')*?)\s*\]")
_VALUE: Final = r"(?:\"(?P<v>[^\"\\]*)\"|'(?P<w>[^'\\]*)')"
_NAME: Final = r"@(?P<a>[A-Za-z_][\w-]*)"
_FORMS: Final = (
    (re.compile(rf"{_NAME}\s*=\s*{_VALUE}"), "="),
    (re.compile(rf"contains\(\s*{_NAME}\s*,\s*{_VALUE}\s*\)"), "*="),
    (re.compile(rf"starts-with\(\s*{_NAME}\s*,\s*{_VALUE}\s*\)"), "^="),
    (re.compile(_NAME), ""),
)
_HAS_CLASS = re.compile(
    r"contains\(\s*concat\(\s*['\"] ['\"]\s*,\s*(?:normalize-space\(\s*@class\s*\)|@class)\s*,\s*['\"] ['\"]\s*\)\s*,"
    r"\s*['\"] (?P<name>[\w-]+) ['\"]\s*\)"
)
_POSITION = re.compile(r"(?:position\(\)\s*=\s*)?([1-9]\d{0,5})")


def css_of(path: str) -> str | None:
    """Return the CSS selector that matches the same elements; None if there is none.

    >>> css_of('//div[@id="main"]/p[2]')
    'div[id="main"] > p:nth-of-type(2)'
    >>> css_of("/html/body//*[contains(@class, 'price')]/text()")
    'html > body *[class*="price"]'
    >>> css_of("//a/@href"), css_of("//h2[text()='News']"), css_of("(//h1)[1]")
    (None, None, None)
    """
    if len(path) > LONGEST:
        return None
    sides = [_side(side.strip()) for side in re.split(r"\|(?![^\[]*\])", path)]
    return ", ".join(side for side in sides if side) if all(sides) else None


def _side(path: str) -> str | None:
    path = _TEXT.sub("", path.removeprefix("."))
    if not path.startswith("/"):
        path = f"//{path}"
    css, at = "", 0
    while at < len(path):
        step = _STEP.match(path, at)
        element = None if step is None else _element(step["name"], step["rest"])
        if step is None or element is None:
            return None
        if at == 0 and step["axis"] == "/" and step["name"] != "html":
            return None
        css += element if at == 0 else f"{' > ' if step['axis'] == '/' else ' '}{element}"
        at = step.end()
    return css or None


def _element(name: str, rest: str) -> str | None:
    """Return one element with its conditions. A position is translated only as the first condition."""
    css = name
    for number, predicate in enumerate(_PREDICATE.findall(rest)):
        position = _POSITION.fullmatch(predicate)
        last = predicate == "last()"
        if position or last:
            if number or name == "*":
                return None
            css += ":last-of-type" if position is None else f":nth-of-type({position[1]})"
            continue
        condition = _condition(predicate)
        if condition is None:
            return None
        css += condition
    return css


def _condition(predicate: str) -> str | None:
    if found := _HAS_CLASS.fullmatch(predicate):
        return f".{found['name']}"
    for form, sign in _FORMS:
        if found := form.fullmatch(predicate):
            value = "" if not sign else found["v"] if found["v"] is not None else found["w"]
            if sign in ("*=", "^=") and not value:
                return None
            return f'[{found["a"]}{sign}"{value}"]' if sign else f"[{found['a']}]"
    return None
