"""The result of one check on a build or an installation, and the context of a check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click
from msgspec import Struct, to_builtins

from actors.settings import Settings
from sanderling.client.terminal import print_json
from sanderling.environment import hinted
from sanderling.exits import Exit
from storage.records.secrecy import plain

Level = Literal["ok", "warn", "fail"]


class Finding(Struct, frozen=True):
    """One line: level, subject, result, and the remedy (empty if fine)."""

    level: Level
    what: str
    says: str
    do: str = ""


def tell(findings: Sequence[Finding], *, as_json: bool) -> Exit:
    failed = any(finding.level == "fail" for finding in findings)
    if as_json:
        print_json({"ok": not failed, "findings": to_builtins(findings)})
    else:
        width = max(len(finding.what) for finding in findings)
        for finding in findings:
            click.echo(f"{finding.level:<4}  {finding.what:<{width}}  {plain(finding.says)}")
            if finding.do:
                click.echo(f"{'':<6}{'':<{width}}  -> {plain(hinted(finding.do))}")
    return Exit.FAILED if failed else Exit.WELL


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """running: a service answers on the folder's admin socket. offline: send nothing to the network."""

    settings: Settings
    folder: Path
    variables: Mapping[str, str]
    running: bool
    offline: bool
