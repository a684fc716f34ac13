"""Homebrew's formula and the flake name the release's own files; Ruby and Nix parse them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from release.recipes import RECIPES, TEMPLATES, address, filled, lacking
from tests.rules.source_files import ROOT

FILES = ("sanderling-1.2.3-linux-x86_64", "sanderling-1.2.3-linux-aarch64", "sanderling-1.2.3-linux-x86_64-universal")
SUMS = {name: f"{number}" * 64 for number, name in enumerate(FILES)}
ABOUT = {"VERSION": "1.2.3", "URL": "https://downloads.example.org/1.2.3", "DESCRIPTION": 'Any "URL", #{x} ${y} live'}
CHECKS = {"sanderling.rb": ("ruby", "-c"), "flake.nix": ("nix-instantiate", "--parse")}


def recipe(name: str) -> str:
    return filled(name, (ROOT / "release" / TEMPLATES[name]).read_text("utf-8"), ABOUT, SUMS)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_fetches_each_of_its_files_with_its_own_sum(name: str) -> None:
    text = recipe(name)
    fetched = re.findall(r'url "(\S+)"\s+sha256 "(\w+)"|url = "(\S+)";\s+sha256 = "(\w+)"', text)
    found = {first or third: second or fourth for first, second, third, fourth in fetched}
    assert found == {
        f"{ABOUT['URL']}/{file}": SUMS[file]
        for file in FILES
        if any(file == f"sanderling-1.2.3-{end}" for end in RECIPES[name].values())
    }


@pytest.mark.parametrize("name", RECIPES)
def test_nothing_is_left_open_and_words_are_words_only(name: str) -> None:
    text = recipe(name)
    assert not re.search(r"@[A-Z]", text)
    assert r"Any \"URL\", \#{x} \${y} live" in text


@pytest.mark.real
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_understood(name: str, tmp_path: Path) -> None:
    program, flag = CHECKS[name]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed here")
    (tmp_path / name).write_text(recipe(name))
    done = subprocess.run([program, flag, str(tmp_path / name)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_file_that_a_recipe_needs_and_a_release_lacks_is_named() -> None:
    assert lacking("sanderling.rb", "1.2.3", {FILES[0]: SUMS[FILES[0]]}) == [FILES[1]]
    assert lacking("flake.nix", "1.2.3", SUMS) == []


def test_an_address_is_that_of_a_folder() -> None:
    assert address("https://example.org:8443/a/1.2.3/") == "https://example.org:8443/a/1.2.3"
    for wrong in ("", "http://example.org", "https://example.org/?a", 'https://example.org/"', "https://a b"):
        with pytest.raises(ValueError, match="is no https address"):
            address(wrong)
