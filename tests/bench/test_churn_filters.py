from __future__ import annotations

import pytest

from bench import churn_filters
from bench.churn_filters import ours
from bench.churn_material import Pair

BIRDS = "Plovers", "Dunlins", "Sanderlings", "Turnstones", "Oystercatchers", "Curlews", "Whimbrels"


def a_pair(before: str, after: str) -> Pair:
    return Pair("p-01", "p", "A", "A", "policy", "real", "read", "policy wording changed", before, after, ())


def a_page(text: str) -> bytes:
    rows = "".join(f"<p>{bird}</p>" for bird in BIRDS)
    return f"<html><title>Birds</title><body><h1>Birds</h1><p>{text}</p>{rows}</body></html>".encode()


def test_a_doubtful_check_gets_the_checks_that_settle_it(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = {
        "p/01": a_page("The hide at the harbour is open to all visitors from dawn until dusk every day."),
        "p/02": a_page("Please keep dogs on a lead while young terns are hatching near these dunes."),
    }
    pair = a_pair("p/01", "p/02")
    assert ours([pair], bodies)["p-01"].real
    monkeypatch.setattr(churn_filters, "AGAIN", 0)
    look = ours([pair], bodies)["p-01"].look
    assert look is not None and (look.kind, look.soon) == ("held", True)
