"""The getting-started page works as printed; its pictures are current and load nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import trio

from tests.e2e.origin import Origin
from tests.e2e.service import a_service
from tests.rules.source_files import ROOT, name_of
from tests.support.waiting import HANG

PICTURES = sorted((ROOT / "docs/pictures").glob("*.svg"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.real
async def test_its_commands_end_with_an_event(tmp_path: Path) -> None:
    (lines,) = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/start.md").read_text("utf-8"), re.S)
    origin = Origin()
    async with trio.open_nursery() as nursery:
        await nursery.start(origin.serve)
        async with a_service(tmp_path):
            lines = re.sub(r"https://\S+", f"http://{origin.place}/feed", lines)
            lines = lines.replace("bin/sanderling", f"{sys.executable} -m sanderling")
            variables = {"SANDERLING_DATA": str(tmp_path), "PATH": "/usr/bin:/bin"}
            with trio.fail_after(HANG):
                done = await trio.run_process(
                    ["bash", "-e", "-c", lines], cwd=ROOT, env=variables, capture_stdout=True, stderr=subprocess.STDOUT
                )
        nursery.cancel_scope.cancel()
    shown = done.stdout.decode()
    assert re.search(r"^\d\d:\d\d:\d\d feed .* the first note$", shown, re.M), shown
    assert f"http://{origin.place}/feed" in shown.splitlines()[-1]


@pytest.mark.parametrize("picture", PICTURES, ids=name_of)
def test_pictures_fetch_nothing_and_have_text_alternatives(picture: Path) -> None:
    text = picture.read_text("utf-8")
    assert ET.fromstring(text).find("{http://www.w3.org/2000/svg}title") is not None
    assert set(re.findall(r"https?://[^/\s\"<]+", text.replace("http://127.0.0.1", ""))) == {"http://www.w3.org"}
    assert not re.search(r"<script|@import|href=|font-face", text)
    assert "prefers-color-scheme: dark" in text


def test_every_picture_is_shown_with_words() -> None:
    shown = {
        Path(path).name
        for page in PAGES
        for words, path in re.findall(r"!\[([^]]*)\]\(([^)]+)\)", page.read_text("utf-8"))
        if len(words) > 10
    }
    assert {path.name for path in PICTURES} <= shown


def test_the_recording_matches_the_commands_output() -> None:
    text = (ROOT / "docs/pictures/try.svg").read_text("utf-8")
    tour = (ROOT / "extras/tour/tour.py").read_text("utf-8")
    heads = re.findall(r'class="head">\d\. ([^<]+)<', text)
    assert len(heads) >= 5
    assert [head for head in heads if head not in tour] == []
