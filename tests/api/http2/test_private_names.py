"""What our HTTP/2 rests on in h2 without its promise: an upgrade that changes it fails here, by name, not at a peer."""

from __future__ import annotations

from inspect import signature
from typing import Any

import h2
import pytest
from h2.connection import H2Connection
from h2.stream import H2Stream

from tests.rules.source_files import ROOT

MADE = H2Connection._begin_new_stream
LENGTH = H2Stream._initialize_content_length


def test_what_is_installed_is_the_one_version_that_is_pinned() -> None:
    pins = [line for line in (ROOT / "requirements/run.txt").read_text("utf-8").splitlines() if line.startswith("h2==")]
    assert [pin.split()[0] for pin in pins] == [f"h2=={h2.__version__}"]


@pytest.mark.parametrize(
    ("method", "takes"), [(MADE, ("self", "stream_id", "allowed_ids")), (LENGTH, ("self", "headers"))]
)
def test_the_methods_that_are_ours_are_h2s_still(method: Any, takes: tuple[str, ...]) -> None:
    assert tuple(signature(method).parameters) == takes


@pytest.mark.parametrize(
    ("asks", "name"),
    [
        (H2Connection._get_or_create_stream, "_begin_new_stream"),
        (H2Stream.receive_headers, "_initialize_content_length"),
        (LENGTH, "_expected_content_length"),
        (H2Stream._track_content_length, "_expected_content_length"),
    ],
)
def test_h2_itself_goes_through_what_is_overridden(asks: Any, name: str) -> None:
    assert name in asks.__code__.co_names
