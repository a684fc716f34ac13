"""How `bench.natural` matches reports with labels."""

from __future__ import annotations

import io
import json
import tarfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bench import natural
from bench.natural import Figures, Page, Seen, Told, matched

START = datetime(2026, 1, 1, tzinfo=UTC)


def a_page(labels: dict[int, str], looks: int = 20) -> Page:
    times = (START + timedelta(hours=12 * n) for n in range(looks))
    return Page("p0", "A", "Terms", tuple(Seen(f"p0/{n:02}.html", t, labels.get(n)) for n, t in enumerate(times)))


def labels_of(page: Page, *looks: int) -> tuple[list[str], dict[int, int | None]]:
    told, labelled = matched(page, [Told("p0", look, 1.0, ()) for look in looks])
    return [one.label for one in told], labelled


def test_a_labelled_check_is_reported_by_one_of_the_next_four() -> None:
    assert labels_of(a_page({10: "real"}), 14) == (["real"], {10: 14})
    assert labels_of(a_page({10: "real"}), 15) == (["new"], {10: None})


def test_a_report_takes_the_best_label_of_the_unreported() -> None:
    assert labels_of(a_page({10: "real", 12: "churn"}), 12) == (["real"], {10: 12, 12: 12})
    assert labels_of(a_page({10: "real", 12: "churn"}), 10, 12) == (["real", "churn"], {10: 10, 12: 12})


def test_a_report_just_before_a_label_belongs_to_that_difference() -> None:
    assert labels_of(a_page({10: "real"}), 9) == (["real"], {10: 9})
    assert labels_of(a_page({10: "real"}), 9, 10) == (["new", "real"], {10: 10})


def test_reports_during_learning_do_not_count() -> None:
    assert labels_of(a_page({}), 3) == (["early"], {})


def a_folder(folder: Path, bodies: list[str], labels: dict[int, str]) -> Path:
    page = a_page(labels, len(bodies))
    looks = [{"file": s.file, "time": s.time.isoformat(), "label": s.label} for s in page.looks]
    line = {"page": "p0", "family": "A", "document": "Terms", "looks": looks}
    (folder / "manifest.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    with tarfile.open(folder / "looks.tar.xz", "w:xz") as archive:
        for seen, body in zip(page.looks, bodies, strict=True):
            entry = tarfile.TarInfo(seen.file)
            entry.size = len(body.encode())
            archive.addfile(entry, io.BytesIO(body.encode()))
    return folder


def terms(more: str = "") -> str:
    words = "You may use the service for any purpose that the law of your country allows, number"
    paragraphs = "".join(f"<p>{words} {name} of our rules.</p>" for name in ("one", "two", "three", "four", "five"))
    return f"<html><title>Terms</title><body><main><h1>Terms</h1>{paragraphs}{more}</main></body></html>"


def test_a_new_paragraph_of_a_natural_history_is_reported_and_counted(tmp_path: Path) -> None:
    more = "<p>From the first of March the arbitration clause binds both parties in every dispute.</p>"
    (outcome,) = natural.run(a_folder(tmp_path, [terms()] * 10 + [terms(more)] * 3, {10: "real"}))
    figures = Figures([outcome])
    assert (figures.told, figures.found, figures.precision, figures.recall) == (1, 1, 1.0, 1.0)
    assert any("arbitration clause" in line for line in outcome.told[0].lines)


def test_a_readers_label_of_a_report_goes_before_the_first_judges(tmp_path: Path) -> None:
    more = "<p>From the first of March the arbitration clause binds both parties in every dispute.</p>"
    folder, read = a_folder(tmp_path, [terms()] * 10 + [terms(more)] * 3, {10: "churn"}), tmp_path / "read"
    read.write_text("# labels\np0 2026-01-06T00:00 real a clause\n", "utf-8")
    assert [Figures(natural.run(folder)).precision, Figures(natural.run(folder, read=read)).precision] == [0.0, 1.0]


def test_without_the_material_the_bench_says_so_and_ends_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert natural.main([str(tmp_path)]) == 0
    assert "skipped" in capsys.readouterr().out
