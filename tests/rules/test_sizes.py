"""No function is too long to be read at once. A file is as long as its idea."""

from __future__ import annotations

from tests.rules.sizes import FUNCTION_LIMIT, function_sizes
from tests.rules.source_files import ROOMS


def test_no_function_is_longer_than_the_limit() -> None:
    sizes = function_sizes(*ROOMS, "tests", "bench")
    assert {name: size for name, size in sizes.items() if size > FUNCTION_LIMIT} == {}
