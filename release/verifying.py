"""Check the files of a release before it is published: `python -m release.verifying FOLDER --key publisher.pem`.

Users check with openssl and sha256sum (docs/install.md); this also finds files that are missing, added or links.

SHA256SUMS has a line for each file, in the format of `sha256sum`. Keys are PEM as openssl writes Ed25519 (RFC 8410):
the DER of one is a constant plus 32 bytes, so there is no ASN.1 parser that could be deceived.
"""

from __future__ import annotations

import binascii
import hashlib
import os
import re
import stat
import sys
from base64 import b64decode
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import click
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from sanderling.client.terminal import print_json
from sanderling.exits import CommandFailed, Exit
from storage.records.secrecy import plain

SUMS, SIGNATURE = "SHA256SUMS", "SHA256SUMS.sig"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~-]*")
"""A safe file name: no other folder, no terminal codes, nothing like a flag."""
SMALL = 1 << 20
"""Maximum bytes of key, sums and signature; real ones are far smaller."""
SIGNATURE_BYTES = 64
PIECE = 1 << 20
PUBLIC_DER = bytes.fromhex("302a300506032b6570032100")
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_BLOCK = re.compile(r"\s*-----BEGIN ([A-Z0-9 ]+)-----\s+([A-Za-z0-9+/=\s]+)-----END \1-----\s*")
_GIVE_PUBLIC = "is a private key, which checking does not need: `openssl pkey -in KEY -pubout` writes the public one"


class Lies(Enum):
    """The problem with a path that is not a regular file."""

    NOTHING = "is missing"
    LINK = "is a link, and its target may change after the check"
    OTHER = "is no file"
    UNREADABLE = "can't be read"


class Finding(NamedTuple):
    """One file's result. well: as released."""

    file: str
    well: bool
    why: str


def judged(sums: Mapping[str, str], found: Mapping[str, str | Lies], *, whole: bool) -> list[Finding]:
    """Return a finding per file, sorted by name. found: each SHA-256, or the problem.

    whole: `found` is a whole folder, so its absent files are missing.
    """
    names = {*found, *sums} if whole else {*found}
    return [Finding(name, *_verdict(sums.get(name), found.get(name, Lies.NOTHING))) for name in sorted(names)]


def _verdict(wanted: str | None, there: str | Lies) -> tuple[bool, str]:
    if wanted is None:
        return False, "is not one of the release's files"
    if isinstance(there, Lies):
        return False, there.value
    if there != wanted:
        return False, f"is another file than the one released: its SHA-256 is {there}"
    return True, "is as it was released"


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
        raise CommandFailed(f"{folder}: its contents can't be listed: {error.strerror}.", Exit.USAGE) from None


def _asked(paths: Sequence[Path]) -> tuple[Path, Sequence[str] | None]:
    """Return the folder and the files to check; None: all of them."""
    if len(paths) == 1 and paths[0].is_dir():
        return paths[0], None
    folders = {path.parent.absolute() for path in paths}
    if len(folders) > 1 or any(path.is_dir() for path in paths):
        raise CommandFailed("Name one folder, or files of one folder: SHA256SUMS must be next to them.", Exit.USAGE)
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


def parsed(text: str) -> dict[str, str]:
    """Return each file's SHA-256. Raises ValueError for an invalid text, or a name outside the folder."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        read = _LINE.fullmatch(line)
        if read is None:
            raise ValueError(f"line {number} is not a SHA-256 and a name")
        digest, name = read.groups()
        if NAME.fullmatch(name) is None or name in (SUMS, SIGNATURE):
            raise ValueError(f"line {number} names {plain(name)!r}, which is no plain name of a file in this folder")
        if name in found:
            raise ValueError(f"line {number} names {name} again")
        found[name] = digest
    return found


def public_key(pem: str) -> VerifyKey:
    """Return the verification key. Raises ValueError; its text follows the file's name."""
    label, der = opened_pem(pem)
    if label.endswith("PRIVATE KEY"):
        raise ValueError(_GIVE_PUBLIC)
    if label != "PUBLIC KEY" or not is_key(der, PUBLIC_DER):
        raise ValueError("is no public key for Ed25519")
    return VerifyKey(der[len(PUBLIC_DER) :])


def fingerprint(key: VerifyKey) -> str:
    """Return a public key's SHA-256, as `openssl pkey -pubin -in KEY -outform DER | sha256sum` prints it."""
    return hashlib.sha256(PUBLIC_DER + bytes(key)).hexdigest()


def is_key(der: bytes, begin: bytes) -> bool:
    return der.startswith(begin) and len(der) == len(begin) + 32


def opened_pem(pem: str) -> tuple[str, bytes]:
    """Return label and bytes of the only block."""
    block = _BLOCK.fullmatch(pem)
    if block is None:
        raise ValueError("is no key in PEM (-----BEGIN ... KEY-----)")
    try:
        return block[1], b64decode("".join(block[2].split()), validate=True)
    except binascii.Error:
        raise ValueError("is no key in PEM: it is cut or altered") from None


@click.command()
@click.argument("paths", metavar="FOLDER|FILES...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--key", required=True, metavar="PUBLIC.pem", type=click.Path(path_type=Path), help="The publisher's public key."
)
@click.option("--json", "as_json", is_flag=True, help="One line of JSON a file.")
def main(paths: Sequence[Path], *, key: Path, as_json: bool) -> int:
    """Check the signature of SHA256SUMS, then each file's SHA-256.

    In a FOLDER, a missing or unlisted file is an error; of FILES only these are checked. The exit code is 0 if all are
    valid.
    """
    return verify_release(paths, key, json=as_json)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit code."""
    try:
        return int(main.main(list(arguments), standalone_mode=False))
    except CommandFailed as failed:
        click.echo(f"sanderling: {failed.message}", err=True)
        return failed.code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
