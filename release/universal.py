"""Wraps the one file with the C library that it needs: a file for x86-64 Linux of any kind, glibc or none.

Usage: universal.py FILE OUTPUT EPOCH. staticx does it; here its archive gets the commit's time and nobody's name in
place of the clock's and the builder's, so that two are equal byte for byte.
"""

from __future__ import annotations

import logging
import sys
import tarfile
from pathlib import Path
from typing import Any

from staticx.api import StaticxGenerator


def wrap(file: str, output: str, epoch: int) -> None:
    """Write the universal file. Raises staticx.errors.Error."""
    logging.basicConfig(level=logging.WARNING)
    with StaticxGenerator(prog=file, strip=True) as generator:
        archive: tarfile.TarFile = generator.sxar.tar
        told = archive.gettarinfo

        def stamped(*where: Any, **more: Any) -> tarfile.TarInfo:
            info = told(*where, **more)
            return info.replace(mtime=epoch, mode=0o755, uid=0, gid=0, uname="", gname="", deep=False)

        archive.gettarinfo = stamped  # type: ignore[method-assign]  # all that goes in comes by here
        generator.generate(output)
    Path(output).chmod(0o755)


if __name__ == "__main__":
    wrap(sys.argv[1], sys.argv[2], int(sys.argv[3]))
