"""The replica's place: accepted settings, and errors for bad ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.setting_table import with_values
from actors.settings import Settings
from extras.cluster.replica.log import FolderObjects
from extras.cluster.replica.place import S3Objects, replica_of
from sanderling.exits import CommandFailed

GOOD = "[default]\naws_access_key_id = AKIA\naws_secret_access_key=secret/+\n"


def a_file(tmp_path: Path, text: str = GOOD, mode: int = 0o600) -> str:
    path = tmp_path / "credentials"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


def test_a_folder_and_a_bucket(tmp_path: Path) -> None:
    assert isinstance(replica_of(with_values(Settings(), replica="/mnt/x"), lambda: 0), FolderObjects)
    settings = with_values(
        Settings(),
        replica="s3://tides/shore-1/a/",
        replica_endpoint="https://minio.lan:9000/",
        replica_credentials=a_file(tmp_path),
    )
    found = replica_of(settings, lambda: 0)
    assert isinstance(found, S3Objects) and repr(found) == "<S3Objects https://minio.lan:9000/tides/shore-1/a>"
    settings = with_values(
        Settings(), replica="s3://tides", replica_region="eu-north-1", replica_credentials=a_file(tmp_path)
    )
    assert repr(replica_of(settings, lambda: 0)) == "<S3Objects https://s3.eu-north-1.amazonaws.com/tides/>"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"replica": "s3://"}, "write s3://bucket/prefix"),
        ({"replica": "s3://Tides"}, "write s3://bucket/prefix"),
        ({"replica": "s3://tides/a b"}, "write s3://bucket/prefix"),
        ({"replica_endpoint": "minio.lan"}, "write https://host"),
        ({"replica_endpoint": "https://minio.lan/path"}, "write https://host"),
        ({"replica_endpoint": "https://me:secret@minio.lan"}, "write https://host"),
        ({"replica_credentials": ""}, "needs replica_credentials"),
        ({"replica_credentials": "/nowhere/at/all"}, r"No such file or directory \(replica_credentials\)"),
        ({"tls_trust": "/nowhere/at/all"}, "tls_trust"),
    ],
)
def test_impossible_options_are_reported(tmp_path: Path, changes: dict[str, str], says: str) -> None:
    given = {"replica": "s3://tides", "replica_credentials": a_file(tmp_path)} | changes
    with pytest.raises(CommandFailed, match=says):
        replica_of(with_values(Settings(), **given), lambda: 0)


def test_credentials_that_everybody_can_read_or_that_lack_a_line_are_refused(tmp_path: Path) -> None:
    for text, mode, says in (
        (GOOD, 0o644, "open to everybody"),
        ("aws_access_key_id = x", 0o600, "has no line aws_sec"),
    ):
        settings = with_values(Settings(), replica="s3://tides", replica_credentials=a_file(tmp_path, text, mode))
        with pytest.raises(CommandFailed, match=says):
            replica_of(settings, lambda: 0)


def test_a_replica_of_postgresql_is_refused() -> None:
    with pytest.raises(ValueError, match="PostgreSQL has its own standbys"):
        with_values(Settings(), replica="/mnt/x", storage_url="postgresql://me@host/db")
