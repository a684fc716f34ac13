"""Nothing is too long to be read at once."""

from __future__ import annotations

from tests.rules.sizes import FILE_LIMIT, FUNCTION_LIMIT, file_sizes, function_sizes
from tests.rules.source_files import ROOMS

LONGER_ON_PURPOSE: dict[str, str] = {}
"""file, or `file:function`: why it is one thing all the same."""


def test_no_file_is_longer_than_the_limit() -> None:
    sizes = file_sizes(*ROOMS, "tests", "bench")
    assert {name: size for name, size in sizes.items() if size > FILE_LIMIT and name not in LONGER_ON_PURPOSE} == {}


def test_no_function_is_longer_than_the_limit() -> None:
    sizes = function_sizes(*ROOMS, "tests", "bench")
    long = {name: size for name, size in sizes.items() if size > FUNCTION_LIMIT}
    assert {name: size for name, size in long.items() if _without_line(name) not in LONGER_ON_PURPOSE} == {}


def test_the_list_of_exceptions_names_only_what_is_long() -> None:
    long = {name for name, size in file_sizes(*ROOMS, "tests", "bench").items() if size > FILE_LIMIT}
    long |= {_without_line(n) for n, size in function_sizes(*ROOMS, "tests", "bench").items() if size > FUNCTION_LIMIT}
    assert set(LONGER_ON_PURPOSE) <= long


def _without_line(name: str) -> str:
    place, function = name.split(" ")
    return f"{place.rsplit(':', 1)[0]}:{function}"
