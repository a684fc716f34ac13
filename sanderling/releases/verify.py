"""`sanderling verify-release`: check the signature of SHA256SUMS, and each file against it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import click
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from sanderling.exits import CommandFailed, Exit
from sanderling.json_lines import print_json
from sanderling.releases.checking import Finding, Lies, judged
from sanderling.releases.keys import fingerprint, public_key
from sanderling.releases.sums import SIGNATURE, SUMS, parsed
from storage.records.secrecy import plain

SMALL = 1 << 20
"""Maximum bytes of key, sums and signature; real ones are far smaller."""
SIGNATURE_BYTES = 64
PIECE = 1 << 20


def verify_release(paths: Sequence[Path], key: Path, *, json: bool) -> int:
    """Check a folder, or some of its files, and print the results; return 1 unless all are fine.

    Raises CommandFailed (USAGE) for an unusable key or folder.
    """
    checking = _key(key)
    folder, names = _asked(paths)
    found = check_release(folder, names, checking)
    for each in found:
        _tell(each, json=json)
    bad = sum(not each.well for each in found)
    click.echo(f"{len(found)} checked: {len(found) - bad} well, {bad} not", err=True)
    return Exit.FAILED if bad else Exit.WELL


def check_release(folder: Path, names: Sequence[str] | None, key: VerifyKey) -> list[Finding]:
    """Return findings for some files of a folder; None: for all present or expected ones.

    Sums come first: without a trusted signature they prove nothing about the files.
    """
    sums, finding = _sums(folder, key)
    if sums is None:
        return [finding]
    looked_at = names if names is not None else sorted({*sums, *_listed(folder)} - {SUMS, SIGNATURE})
    found = {name: _digest(folder / name) for name in looked_at}
    return [finding, *judged(sums, found, whole=names is None)]


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise CommandFailed(f"{folder}: what lies in it can't be listed: {error.strerror}.", Exit.USAGE) from None


def _asked(paths: Sequence[Path]) -> tuple[Path, Sequence[str] | None]:
    """Return the folder and the files to check; None: all of them."""
    if len(paths) == 1 and paths[0].is_dir():
        return paths[0], None
    folders = {path.parent.absolute() for path in paths}
    if len(folders) > 1 or any(path.is_dir() for path in paths):
        raise CommandFailed("Name one folder, or files of one folder: SHA256SUMS lies beside them.", Exit.USAGE)
    return paths[0].parent, [name for path in paths if (name := path.name) not in (SUMS, SIGNATURE)]


def _tell(found: Finding, *, json: bool) -> None:
    if json:
        print_json(found._asdict())
    else:
        click.echo(f"{'well' if found.well else 'BAD '}  {plain(found.file)} {found.why}")


def _key(path: Path) -> VerifyKey:
    try:
        return public_key(_small(path).decode())
    except OSError as error:
        raise CommandFailed(f"{path}: can't be read: {error.strerror}.", Exit.USAGE) from None
    except UnicodeDecodeError:
        raise CommandFailed(f"{path}: is no key in PEM (-----BEGIN ... KEY-----).", Exit.USAGE) from None
    except ValueError as error:
        raise CommandFailed(f"{path}: {error}.", Exit.USAGE) from None


def _sums(folder: Path, key: VerifyKey) -> tuple[dict[str, str] | None, Finding]:
    """Return the sums, None if untrusted, and the finding about them."""
    for name in (SUMS, SIGNATURE):
        if isinstance(lies := _lies(folder / name), Lies):
            return None, Finding(name, False, f"{lies.value}: nothing was checked")
    try:
        text, signature = _small(folder / SUMS), _small(folder / SIGNATURE)
        if len(signature) != SIGNATURE_BYTES:
            return None, Finding(SIGNATURE, False, "is no signature of 64 bytes: nothing was checked")
        key.verify(text, signature)
        return parsed(text.decode("ascii")), Finding(SUMS, True, f"was signed by the key {fingerprint(key)}")
    except BadSignatureError:
        return None, Finding(SUMS, False, "was altered, or signed by another key: nothing was checked")
    except OSError:
        return None, Finding(SUMS, False, f"{Lies.UNREADABLE.value}: nothing was checked")
    except UnicodeDecodeError:
        return None, Finding(SUMS, False, "was signed, but is no text of sums: nothing was checked")
    except ValueError as error:
        return None, Finding(SUMS, False, f"was signed, but can't be used: {error}")


def _small(path: Path) -> bytes:
    """Raises OSError, and ValueError for a large file."""
    with path.open("rb") as file:
        data = file.read(SMALL + 1)
    if len(data) > SMALL:
        raise ValueError("is too large")
    return data


def _digest(path: Path) -> str | Lies:
    """Return a file's SHA-256, or the problem."""
    if (lies := _lies(path)) is not None:
        return lies
    digest = hashlib.sha256()
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            while piece := file.read(PIECE):
                digest.update(piece)
    except OSError:
        return Lies.UNREADABLE
    return digest.hexdigest()


def _lies(path: Path) -> Lies | None:
    """Return the problem with a path; None for a regular file."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return Lies.NOTHING
    except OSError:
        return Lies.UNREADABLE
    if stat.S_ISLNK(mode):
        return Lies.LINK
    return None if stat.S_ISREG(mode) else Lies.OTHER
