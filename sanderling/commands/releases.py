"""`sanderling verify-release`: check a download against the signed release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click


@click.command("verify-release")
@click.argument("paths", metavar="FOLDER|FILES...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--key", required=True, metavar="PUBLIC.pem", type=click.Path(path_type=Path), help="The publisher's public key."
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON a file.")
def verify_release(paths: Sequence[Path], *, key: Path, as_json: bool) -> int:
    """Check the files of a release: the signature under SHA256SUMS, then each file's SHA-256.

    SHA256SUMS and SHA256SUMS.sig lie beside the files. Of a FOLDER no file may be missing, and none too many; of FILES
    only these are checked. Take the key from another place than the files. The exit code is 0 when everything is well.

    \b
    sanderling verify-release ~/Downloads/sanderling-0.1.0 --key publisher.pem
    sanderling verify-release sanderling_0.1.0-1_amd64.deb --key publisher.pem
    """
    from sanderling.releases import verify_release as run

    return run(paths, key, json=as_json)
