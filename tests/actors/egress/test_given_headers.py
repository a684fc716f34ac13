"""Headers from a user: accepted, or refused with a reason."""

from __future__ import annotations

import pytest

from actors.egress.headers import LOOKS_OWN, given_request, wrong_headers, wrong_request


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Cookie: a=1\nX-Key: b", []),
        ("Authorization: Basic dTpw", []),
        ("Accept: application/json\nAccept-Language: sv", []),
        ("no colon", ["write each as Name: value, in ASCII, on its own line"]),
        ("Cookie:", ["write each as Name: value, in ASCII, on its own line"]),
        ("Cookie: ö", ["write each as Name: value, in ASCII, on its own line"]),
        ("Cookie: a\rX-Evil: b", ["write each as Name: value, in ASCII, on its own line"]),
        ("Cookie: a\x00b", ["write each as Name: value, in ASCII, on its own line"]),
        ("X Y: z", ["write each as Name: value, in ASCII, on its own line"]),
        ("cookie: a\nCookie: b", ["Cookie is given twice"]),
        *((f"{name}: x", [f"{name} is set by the look itself"]) for name in ("Host", "user-agent", "If-None-Match")),
        *((f"{name}: x", [f"{name} is set by the look itself"]) for name in ("Range", "Content-Length", "TE")),
        ("\n".join(f"X-{number}: a" for number in range(11)), ["at most 10"]),
    ],
)
def test_a_wrong_header_names_its_error(text: str, says: list[str]) -> None:
    assert list(wrong_headers(text, LOOKS_OWN, "the look")) == says


FORM, JSON = ("Content-Type", "application/x-www-form-urlencoded"), ("Content-Type", "application/json")


@pytest.mark.parametrize(
    ("text", "pairs", "body"),
    [
        ("Cookie: a=1", (("Cookie", "a=1"),), None),
        ("POST", (FORM,), ""),
        ("POST\n\nq=1&r=2", (FORM,), "q=1&r=2"),
        ("POST\r\nX-Key: 5\r\n\r\n [1]\r\n\r\n[2]", (("X-Key", "5"), JSON), " [1]\n\n[2]"),
        ("POST\ncontent-type: text/plain\n\n{", (("content-type", "text/plain"),), "{"),
        ("POSTED: x", (("POSTED", "x"),), None),
    ],
)
def test_a_first_line_says_that_a_body_is_posted(
    text: str, pairs: tuple[tuple[str, str], ...], body: str | None
) -> None:
    assert given_request(text) == (pairs, body)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("POST\nX-Key: 5\n\nHost: whatever a body says", []),
        ("POST\nContent-Type: text/plain\n\na", []),
        ("POST\nContent-Type: a\ncontent-type: b\n\na", ["Content-Type is given once, in ASCII"]),
        ("POST\nContent-Type: ö\n\na", ["Content-Type is given once, in ASCII"]),
        ("POST\nContent-Length: 5\n\na", ["Content-Length is set by the look itself"]),
        ("Content-Type: text/plain", ["Content-Type is set by the look itself"]),
    ],
)
def test_a_wrong_request_names_its_error(text: str, says: list[str]) -> None:
    assert list(wrong_request(text, LOOKS_OWN, "the look")) == says
