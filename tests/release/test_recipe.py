"""release/recipe.yaml: jobs in a valid order, existing commands, both kinds of machines."""

from __future__ import annotations

import os
import re
import subprocess
from typing import Any

import pytest
import yaml

from tests.docs.test_commands import refuse
from tests.rules.source_files import ROOT

RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "release/recipe.yaml").read_text("utf-8"))
JOBS: dict[str, Any] = RECIPE["jobs"]
TARGETS = set(" ".join(re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.M)).split())


def before(job: str) -> list[str]:
    """Return all jobs that a job depends on."""
    return [name for needed in JOBS[job].get("needs", ()) for name in (needed, *before(needed))]


def kept(job: str) -> set[str]:
    """Return the folders that a job leaves to others, on all its machines."""
    machines = [RECIPE["machines"][name] for name in JOBS[job].get("machines", ())] or [{}]
    return {
        one["as"].replace("$MACHINE", variables.get("MACHINE", ""))
        for one in JOBS[job].get("keeps", ())
        for variables in machines
    }


@pytest.mark.parametrize("name", JOBS)
def test_a_job_uses_only_its_inputs(name: str) -> None:
    job = JOBS[name]
    given = {*RECIPE["variables"], *job.get("secrets", ())}
    for machine in job.get("machines", ()):
        given |= RECIPE["machines"][machine].keys()
    lines = [*job["steps"], *(one["as"] for one in job.get("keeps", ()))]
    assert {word for line in lines for word in re.findall(r"\$(\w+)", line)} <= given


@pytest.mark.parametrize("name", JOBS)
def test_a_step_is_sh_and_calls_existing_targets(name: str) -> None:
    for line in JOBS[name]["steps"]:
        subprocess.run(["sh", "-n", "-c", line], check=True)
        if line.startswith("make "):
            assert line.split()[1] in TARGETS
        if line.startswith("release/"):
            assert os.access(ROOT / line, os.X_OK)
        if line.startswith("bin/sanderling "):
            assert refuse(line.removeprefix("bin/sanderling ")) == ""


def test_folders_used_by_a_step_were_saved_by_an_earlier_job() -> None:
    for name, job in JOBS.items():
        there = {folder for earlier in before(name) for folder in kept(earlier)}
        for variables in [RECIPE["machines"][machine] for machine in job.get("machines", ())] or [{}]:
            lines = " ".join(job["steps"]).replace("$MACHINE", variables.get("MACHINE", "$MACHINE"))
            assert set(re.findall(r"\b(?:release|image|nodes)-(?:x86_64|aarch64)\b", lines)) <= there


def test_only_the_job_that_builds_nothing_has_the_key() -> None:
    holders = [name for name, job in JOBS.items() if job.get("secrets")]
    assert holders == ["publish"]
    assert not [
        line for line in JOBS["publish"]["steps"] if re.match(r"make (release|binary|package|wheel)\b(?!-)", line)
    ]


def test_both_kinds_of_machines_are_built_checked_and_in_the_one_image() -> None:
    assert JOBS["build"]["machines"] == JOBS["images"]["machines"] == [*RECIPE["machines"]]
    assert {one["PLATFORM"] for one in RECIPE["machines"].values()} == {"linux/amd64", "linux/arm64"}
    assert JOBS["build"]["steps"][-1] == "release/check.sh", "a target of make would build again after the release"
    for line in JOBS["image"]["steps"]:
        assert all(f"$VERSION-{machine}" in line for machine in RECIPE["machines"])
