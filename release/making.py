"""Makes the folder of a release from what lies in dist/; `make release` and `make release-join` call it.

    python -m release.making ready                     is there all that is needed, before the long build?
    python -m release.making gather DIST FOLDER        this machine's files and their statement
    python -m release.making join FOLDER PART...       the files of several machines, as they were gathered
    python -m release.making finish FOLDER             notes, recipes, SHA256SUMS, and with a key the signature

`gather` and `join` begin the folder anew. --key: a private Ed25519 key in PEM, as `openssl genpkey -algorithm ed25519`
makes it. --url: the address of the folder that the files will be published in, for Homebrew and Nix.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from nacl.signing import SigningKey

from release.artifacts import Built, kind_of, lacking, released
from release.notes import is_dated, notes
from release.recipes import RECIPES, TEMPLATES, address, filled
from release.recipes import lacking as recipe_lacks
from release.signing import private_key, written
from release.statement import Origin, statement
from release.verifying import SIGNATURE, SUMS, fingerprint
from sanderling import __version__

TOP = Path(__file__).parents[1]
ALSO = ("pyproject.toml", "CHANGELOG.md")
"""What decides about a release beside the pinned packages, and is named in the statement."""
PROGRAMS = ("the single file", "the universal file")


class Refused(Exception):
    """Ends the program with a sentence."""


def ready(key: Path | None, url: str = "") -> None:
    """Refuse what would make a long build useless: a key or address of no use, or files that no commit has."""
    _notes()
    _address(url)
    if key is None:
        return
    _signing(key)
    if _origin().changed:
        raise Refused("this checkout has changes that are in no commit, and what nobody can build again is not signed")


def gather(dist: Path, folder: Path) -> None:
    """Copy what is released of dist/ and write its statement."""
    built = Built(__version__, f"linux-{platform.machine()}")
    chosen = {to: dist / name for name in sorted(os.listdir(dist)) if (to := released(name, built))}
    if not chosen:
        raise Refused(f"{dist}: there is nothing of {__version__} to release")
    origin = _origin()
    _of_this_commit(chosen.get(f"sanderling-{built.version}-{built.platform}"), origin)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, path in chosen.items():
        shutil.copyfile(path, folder / name)
        (folder / name).chmod(0o755 if kind_of(name, __version__) in PROGRAMS else 0o644)
    text = statement(origin, built.platform, platform.python_version(), _materials(), _sums(folder))
    (folder / f"sanderling-{built.version}-{built.platform}.provenance.json").write_text(text, "utf-8")
    for kind in lacking(sorted(chosen), __version__):
        print(f"not here: {kind}")


def join(folder: Path, parts: Sequence[Path]) -> None:
    """Copy what several machines have gathered into one folder. What two of them made must be the same."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for part in parts:
        for path in sorted(part.iterdir()):
            if not _gathered(path.name):
                continue
            there = folder / path.name
            if there.exists() and _sum(there) != _sum(path):
                raise Refused(f"{path.name} is one file in {part} and another in a part before")
            shutil.copy2(path, there)
    commits = {_commit(path) for path in folder.glob("*.provenance.json")}
    if len(commits) != 1:
        raise Refused(f"the parts are of {len(commits)} commits, and a release is of one")


def finish(folder: Path, key: Path | None, url: str = "") -> None:
    """Write what is about all files: notes, recipes, SHA256SUMS, and the signature."""
    for name in os.listdir(folder):
        if not _gathered(name):
            (folder / name).unlink()
    (folder / "NOTES.md").write_text(_notes(), "utf-8")
    _write_recipes(folder, _address(url))
    sums = written(_sums(folder))
    (folder / SUMS).write_text(sums, "utf-8")
    print(sums, end="")
    if not is_dated((TOP / "CHANGELOG.md").read_text("utf-8"), __version__):
        print(f"CHANGELOG.md does not say yet when {__version__} was released.")
    if key is None:
        print(f"{SUMS} is not signed: RELEASE_KEY names no key.")
        return
    signing = _signing(key)
    (folder / SIGNATURE).write_bytes(signing.sign(sums.encode()).signature)
    print(f"{SUMS} was signed by the key {fingerprint(signing.verify_key)}")


def _write_recipes(folder: Path, url: str) -> None:
    """Write the recipes whose files are here, and say which are not written, and why."""
    if not url:
        print(f"no {' and no '.join(RECIPES)}: RELEASE_URL names no address.")
        return
    project = tomllib.loads((TOP / "pyproject.toml").read_text("utf-8"))["project"]
    about = {"VERSION": __version__, "URL": url, "DESCRIPTION": project["description"].rstrip(".")}
    sums = _sums(folder)
    for name in RECIPES:
        if absent := recipe_lacks(name, __version__, sums):
            print(f"no {name}: it needs {' and '.join(absent)}.")
            continue
        template = (TOP / "release" / TEMPLATES[name]).read_text("utf-8")
        (folder / name).write_text(filled(name, template, about, sums), "utf-8")


def _address(url: str) -> str:
    try:
        return address(url) if url else ""
    except ValueError as error:
        raise Refused(f"RELEASE_URL: {error}") from None


def _gathered(name: str) -> bool:
    return name.endswith(".provenance.json") or kind_of(name, __version__) is not None


def _sum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sums(folder: Path) -> dict[str, str]:
    return {path.name: _sum(path) for path in folder.iterdir() if path.name not in (SUMS, SIGNATURE)}


def _materials() -> Mapping[str, str]:
    paths = [*sorted((TOP / "requirements").glob("*.txt")), *(TOP / name for name in ALSO)]
    return {path.relative_to(TOP).as_posix(): _sum(path) for path in paths}


def _commit(path: Path) -> str:
    made = json.loads(path.read_text("utf-8"))["predicate"]["buildDefinition"]
    return str(made["resolvedDependencies"][0]["digest"]["gitCommit"])


def _origin() -> Origin:
    commit = _git("rev-parse", "HEAD")
    return Origin(commit, _git("status", "--porcelain", "--untracked-files=no") != "", __version__)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=TOP, check=True, capture_output=True, text=True).stdout.strip()


def _of_this_commit(program: Path | None, origin: Origin) -> None:
    """Refuse a program that was left by a build of another commit: the statement would not be true of it."""
    if program is None:
        return
    told = subprocess.run([program, "version", "--json"], check=True, capture_output=True, text=True).stdout
    build = origin.commit[:12] + ("-changed" if origin.changed else "")
    if (found := json.loads(told)["build"]) != build:
        raise Refused(f"{program} is of {found}, and this checkout of {build}: make binary")


def _notes() -> str:
    try:
        return notes((TOP / "CHANGELOG.md").read_text("utf-8"), __version__)
    except ValueError as error:
        raise Refused(str(error)) from None


def _signing(key: Path) -> SigningKey:
    try:
        return private_key(key.read_text("ascii"))
    except (OSError, UnicodeDecodeError):
        raise Refused(f"{key}: can't be read as a key in PEM") from None
    except ValueError as error:
        raise Refused(f"{key} {error}") from None


def main(arguments: Sequence[str]) -> None:
    """Do one of the acts. Raises Refused."""
    parser = argparse.ArgumentParser(prog="release.making")
    parser.add_argument("act", choices=("ready", "gather", "join", "finish"))
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--url", default="")
    asked = parser.parse_args(arguments)
    match asked.act, asked.paths:
        case "ready", []:
            ready(asked.key, asked.url)
        case "gather", [dist, folder]:
            gather(dist, folder)
        case "join", [folder, _, *_]:
            join(folder, asked.paths[1:])
        case "finish", [folder]:
            finish(folder, asked.key, asked.url)
        case act, _:
            raise Refused(f"{act}: these are not the folders that it needs")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Refused as refused:
        sys.exit(f"make release: {refused}.")
