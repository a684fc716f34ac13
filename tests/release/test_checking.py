"""A file is good when SHA256SUMS names it; each fault has its own message."""

from __future__ import annotations

from release.verifying import Finding, Lies, judged

A, B = "a" * 64, "b" * 64
WELL = "is as it was released"


def test_a_file_with_its_sum_is_well_and_one_with_another_is_not() -> None:
    assert judged({"one": A, "two": A}, {"two": B, "one": A}, whole=True) == [
        Finding("one", True, WELL),
        Finding("two", False, f"is another file than the one released: its SHA-256 is {B}"),
    ]


def test_a_folder_may_lack_none_and_have_none_more() -> None:
    assert judged({"one": A}, {"two": A}, whole=True) == [
        Finding("one", False, "is missing"),
        Finding("two", False, "is not one of the release's files"),
    ]


def test_checking_single_files_does_not_miss_the_others() -> None:
    assert judged({"one": A, "two": B}, {"one": A}, whole=False) == [Finding("one", True, WELL)]


def test_a_path_that_is_no_regular_file_fails() -> None:
    found = judged({"one": A, "two": A}, {"one": Lies.LINK, "two": Lies.OTHER}, whole=True)
    assert [each.well for each in found] == [False, False]
    assert found[0].why.startswith("is a link")


def test_nothing_that_is_not_named_is_well_even_when_it_is_no_file() -> None:
    assert not judged({}, {"link": Lies.LINK}, whole=False)[0].well
