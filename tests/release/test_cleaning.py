"""Shipped files reveal nothing about the build machine."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from release.cleaning import build_variables, neutral, put_in_order, telltales

PART = st.text("abc.31", min_size=1, max_size=8).filter(lambda part: part.strip("."))
FOLDER = st.lists(PART, min_size=2, max_size=5).map(lambda parts: "/" + "/".join(parts))


@given(FOLDER, st.binary(max_size=40), st.binary(max_size=40))
def test_a_removed_folder_shifts_no_later_byte(folder: str, before: bytes, after: bytes) -> None:
    name = folder.encode()
    cleaned = neutral(before + name + after, [name])
    assert name not in cleaned and len(cleaned) == len(before + name + after)
    assert cleaned.endswith(name.rpartition(b"/")[2] + after), "a linker may have made another string of this end"


def test_the_longer_name_goes_first_and_one_at_the_root_is_left() -> None:
    found = telltales("/srv/builds/sanderling", "/srv/builds/sanderling/.venv", "/app", "/usr/local")
    assert found.index(b"/srv/builds/sanderling/.venv") < found.index(b"/srv/builds/sanderling")
    assert b"/app" not in found and b"/usr/local" not in found
    assert sys.prefix.encode() in found


def test_build_metadata_stays_without_folders() -> None:
    name, text = build_variables()
    made: dict[str, dict[str, object]] = {}
    run: Callable[..., None] = exec
    run(text, made)
    known = made["build_time_vars"]
    assert name.startswith("_sysconfigdata") and known["SOABI"] and known["EXT_SUFFIX"]
    assert not [key for key, value in known.items() if "/" in str(value)]


def test_an_archive_does_not_report_in_which_order_it_was_met(tmp_path: Path) -> None:
    members = {"b.pyc": b"b" * 99, "a.pyc": b"a", "re/c.pyc": b"c"}
    written = []
    for name, order in (("one.zip", list(members)), ("other.zip", sorted(members))):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member in order:
                archive.writestr(zipfile.ZipInfo(member), members[member])
        put_in_order(tmp_path / name)
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        assert {member: archive.read(member) for member in archive.namelist()} == members
