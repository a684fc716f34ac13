"""The newcomers' scripts match the pages, command by command."""

from __future__ import annotations

import re

import pytest

from release.newcomers.ways import WAYS, Way
from tests.rules.source_files import ROOT

OWN = ("make clean", "find . -mindepth 1 -delete")
"""On no page: users simply delete a checkout."""
OTHERS = {
    "sudo dnf install ./dist/sanderling-*.rpm",  # on systems with rpm
    "sudo ./dist/sanderling install",  # as for one user, but for root
    "docker build -t sanderling dist/image",  # where there is a builder
    "docker build -t sanderling-browser browser",
    "docker build -t sanderling-nodes ../nodes",
}
"""Ways of the page that no newcomer tries."""


def blocks(page: str) -> set[str]:
    """Return the lines of a page's command blocks, without remarks."""
    text = (ROOT / page).read_text("utf-8")
    found = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return {line.partition(" #")[0].strip() for block in found for line in block.split("\n")}


@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
def test_each_command_of_a_way_stands_on_its_page(way: Way) -> None:
    said = blocks(way.page) | set(re.findall(r"`([^`\n]+)`", (ROOT / way.page).read_text("utf-8")))
    typed = [line.format(unmanaged="") for line in (*way.install, *way.remove)]
    if way.serve:
        typed.append(way.serve.format(flags="", settings="").partition(" ARGS")[0].strip())
    assert [line for line in typed if line not in said and line not in OWN] == []


def test_the_ways_of_the_page_are_all_gone_but_those_that_are_named() -> None:
    said = {line for line in blocks("docs/install.md") if re.search(r"\binstall\b|^docker build|^buildah build", line)}
    gone = {line.format(unmanaged="") for way in WAYS for line in way.install}
    assert said - gone == OTHERS


@pytest.mark.parametrize("way", WAYS, ids=[way.name for way in WAYS])
def test_removing_an_installation_names_the_remains_and_a_purge_leaves_none(way: Way) -> None:
    assert way.remove or way.kept
    assert not (way.kept and "purge" in " ".join(way.remove))
