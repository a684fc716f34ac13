"""SHA256SUMS is written as `sha256sum` does, and read strictly."""

from __future__ import annotations

import pytest

from release.signing import written
from release.verifying import parsed

A, B = "a" * 64, "b" * 64


def test_written_sums_are_read_back_in_order_of_names() -> None:
    text = written({"sanderling_0.1.0~rc1-1_amd64.deb": B, "NOTES.md": A})
    assert text == f"{A}  NOTES.md\n{B}  sanderling_0.1.0~rc1-1_amd64.deb\n"
    assert parsed(text) == {"NOTES.md": A, "sanderling_0.1.0~rc1-1_amd64.deb": B}


def test_sums_of_binary_mode_are_read_too() -> None:
    assert parsed(f"{A} *one") == {"one": A}


@pytest.mark.parametrize(
    "name", ["../one", "/etc/passwd", "sub/one", "..", ".hidden", "-rf", "one two", "a\x1b[31m", "SHA256SUMS.sig"]
)
def test_a_name_that_is_no_plain_file_of_the_folder_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"line 2 names .* which is no plain name of a file in this folder") as refused:
        parsed(f"{A}  good\n{B}  {name}\n")
    assert "\x1b" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["", "\n", "nothing", f"{A} one", f"{A.upper()}  one", f"{A[1:]}  one", f"{A}  one\r\n\n"]
)
def test_a_file_that_is_no_list_of_sums_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="line 1 "):
        parsed(text)


def test_a_name_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="line 2 names one again"):
        parsed(f"{A}  one\n{B}  one\n")
