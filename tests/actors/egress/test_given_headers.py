"""Headers that a user gives: what is taken, what is refused and why."""

from __future__ import annotations

import pytest

from actors.egress.given_headers import LOOKS_OWN, wrong_headers


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Cookie: a=1\nX-Key: b", []),
        ("Authorization: Basic dTpw", []),
        ("Accept: application/json\nAccept-Language: sv", []),
        ("no colon", ["write each as Name: value, in ASCII, on a line of its own"]),
        ("Cookie:", ["write each as Name: value, in ASCII, on a line of its own"]),
        ("Cookie: ö", ["write each as Name: value, in ASCII, on a line of its own"]),
        ("Cookie: a\rX-Evil: b", ["write each as Name: value, in ASCII, on a line of its own"]),
        ("Cookie: a\x00b", ["write each as Name: value, in ASCII, on a line of its own"]),
        ("X Y: z", ["write each as Name: value, in ASCII, on a line of its own"]),
        ("cookie: a\nCookie: b", ["Cookie is given twice"]),
        *((f"{name}: x", [f"{name} is set by the look itself"]) for name in ("Host", "user-agent", "If-None-Match")),
        *((f"{name}: x", [f"{name} is set by the look itself"]) for name in ("Range", "Content-Length", "TE")),
        ("\n".join(f"X-{number}: a" for number in range(11)), ["at most 10"]),
    ],
)
def test_what_is_wrong_is_said(text: str, says: list[str]) -> None:
    assert list(wrong_headers(text, LOOKS_OWN, "the look")) == says
