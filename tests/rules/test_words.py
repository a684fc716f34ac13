"""Words and addresses that no tracked file may contain."""

from __future__ import annotations

import re

from tests.rules.source_files import tracked

# Spelt in pieces, so that this file does not find itself.
REGISTRIES = re.compile(
    "|".join(("py" + r"pi\.org", "python" + "hosted", "npm" + r"js\.(org|com)", "crates" + r"\.io"))
)
MACHINE_PATHS = re.compile(r"(?<![\w.])/(" + "|".join(("work", "root", "farm", "home/" + r"\w+")) + r")/\w")
UNFINISHED = re.compile(r"\b(TO" + "DO|FIX" + "ME|XX" + r"X)\b")


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in tracked()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_tracked_file_names_a_package_registry() -> None:
    assert lines_with(REGISTRIES) == []


def test_no_requirement_file_holds_a_url() -> None:
    assert [line for line in lines_with(re.compile(r"https?://")) if line.startswith("requirements/")] == []


def test_no_tracked_file_holds_a_path_of_somebodys_machine() -> None:
    assert lines_with(MACHINE_PATHS) == []


def test_nothing_is_marked_as_unfinished() -> None:
    assert lines_with(UNFINISHED) == []
