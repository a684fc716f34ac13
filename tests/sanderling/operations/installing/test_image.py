"""The image and the example that runs it say the same, and let the program do as little as it needs."""

from __future__ import annotations

import re

import yaml

from sanderling.operations.installing.layout import SYSTEM
from sanderling.operations.installing.unit import unit_text
from tests.rules.source_files import ROOT

LINES = [
    line.split(maxsplit=1)
    for line in (ROOT / "release/Containerfile").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def said(word: str) -> list[str]:
    return [rest for first, rest in LINES if first == word]


def test_the_image_runs_as_nobody_and_is_asked_how_it_is() -> None:
    assert said("USER") == ["10001:10001"] and LINES.index(["USER", "10001:10001"]) > LINES.index(["VOLUME", "/data"])
    assert said("COPY")[1] == "--chown=10001:10001 data/ /data/"
    assert said("RUN") == ['["/usr/bin/sanderling", "check"]'], "there is no shell, and what lacks a part is no image"
    assert said("HEALTHCHECK")[0].endswith('CMD ["/usr/bin/sanderling", "health"]')
    assert said("STOPSIGNAL") == ["SIGTERM"]


def test_the_example_takes_everything_away_but_the_data_and_waits_as_long_as_the_unit() -> None:
    composed = yaml.safe_load((ROOT / "release/compose.yaml").read_text("utf-8"))
    service = composed["services"]["sanderling"]
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["tmpfs"] == ["/tmp"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["volumes"] == [f"data:{said('VOLUME')[0]}"] and "data" in composed["volumes"]
    assert service["ports"] == [f"127.0.0.1:{said('EXPOSE')[0]}:{said('EXPOSE')[0]}"], "seen by this machine only"
    waits = re.search(r"TimeoutStopSec=(\S+)", unit_text(SYSTEM))
    assert waits and service["stop_grace_period"] == waits[1]
