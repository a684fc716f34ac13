"""The shared archives of real feeds and pages, and how tests behave without them."""

from __future__ import annotations

import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3] / "shared" / "data"


def in_ci() -> bool:
    return os.environ.get("CI") == "true"  # noqa: TID251  tests may know where they run


def needs(kind: str) -> None:
    """Skip, with a reason, where the material is absent; fail where it is required (CI=true)."""
    if (ROOT / kind / "manifest.jsonl").exists():
        return
    reason = f"no shared material of real {kind} beside the project (../shared/data/{kind})"
    if in_ci():
        pytest.fail(reason)
    pytest.skip(reason)


def manifest(kind: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (ROOT / kind / "manifest.jsonl").read_text("utf-8").splitlines()]


def files(kind: str) -> Iterator[tuple[str, bytes]]:
    """Yield every file of an archive as (name, bytes), streaming: unpacked, the pages take 370 MB."""
    with tarfile.open(ROOT / kind / f"{kind}.tar.xz", "r|xz") as archive:
        for member in archive:
            handle = archive.extractfile(member)
            if handle is not None:
                yield member.name.removeprefix("./"), handle.read()
