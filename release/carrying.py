"""Cuts the launcher of the directory form for the one file; see extras.install.execution."""

from __future__ import annotations

from pathlib import Path

from PyInstaller.archive.readers import CArchiveReader

from extras.install.execution import cut


def cut_at_modules(launcher: Path) -> dict[str, bytes]:
    """Return what is carried of it, by name of file."""
    archive = CArchiveReader(str(launcher))
    ((offset, size),) = [entry[:2] for entry in archive.toc.values() if entry[-1] == "z"]
    begins = archive._start_offset + offset
    return cut(launcher.read_bytes(), begins, begins + size)
