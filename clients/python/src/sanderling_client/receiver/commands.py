"""The commands: `listen`, `verify` and `probe`."""

from __future__ import annotations

import os
import random
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sanderling_client.receiver.terminal import USAGE, Failed

if TYPE_CHECKING:
    from sanderling_client.receiver.cases import Forge
    from sanderling_client.receiver.published import Published
    from sanderling_client.receiver.report import Paper

Command = TypeVar("Command", bound=Callable[..., Any])
WHSEC_HELP = "A destination's secret, whsec_...; repeatable, any may match. Other users see it in the process list."
FILE_HELP = "A file of secrets, one a line.  [default: the variable SANDERLING_SECRET]"
JWKS_HELP = "The published keys: a service's address, the URL of a JWK Set, or a file of one."


def _check_flags(command: Command) -> Command:
    command = click.option("--jwks", metavar="URL|FILE", help=JWKS_HELP)(command)
    command = click.option("--secret-file", metavar="FILE", help=FILE_HELP)(command)
    return click.option("--secret", "secrets", multiple=True, metavar="WHSEC", help=WHSEC_HELP)(command)


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), default=8999, show_default=True, help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@_check_flags
@click.option("--status", type=click.IntRange(200, 599), help="Answer every request with this status.")
@click.option("--fail-every", type=click.IntRange(1), metavar="N", help="Answer 500 (or --status) to each N-th only.")
@click.option("--delay", type=click.FloatRange(0, 3600), default=0.0, help="Seconds to wait before each answer.")
@click.option("--save", type=click.Path(path_type=Path, file_okay=False), help="Save each delivery in this folder.")
@click.option("--count", type=click.IntRange(1), help="Stop after this many deliveries.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON a delivery.")
def listen(
    host: str, port: int, secrets: tuple[str, ...], secret_file: str | None, jwks: str | None, **how: Any
) -> int:
    """Receive deliveries, print each, and say whether its two signatures verify, and if not, exactly why.

    Answers 200, or 400 with the reason when a check failed, unless --status sets another. The exit code is 1 when a
    check of any delivery failed. A service delivers to this machine only if it is allowed to: see
    allow_deliver_networks.

    \b
    sanderling listen --secret whsec_... --jwks http://127.0.0.1:8080
    sanderling listen --status 500 --fail-every 3 --delay 2
    """
    from sanderling_client.receiver.listen import Answers, Wishes
    from sanderling_client.receiver.listen import listen as run

    answers = Answers(how.pop("status"), how.pop("fail_every"))
    wishes = Wishes(_secrets(secrets, secret_file), _published(jwks), answers, **how)
    return run(host, port, wishes, wall=time.time, paper=_paper())


@click.command()
@click.argument("file")
@_check_flags
@click.option("--json", "as_json", is_flag=True, help="One line of JSON an event or capture.")
def verify(file: str, secrets: tuple[str, ...], secret_file: str | None, jwks: str | None, as_json: bool) -> int:
    """Check the signatures in a FILE (-: standard input) without a service.

    A file holds an event, many of them (a list, a page, NDJSON, a recorded stream), or captured deliveries (of `listen
    --save` or of a webhook bin). The exit code is 0 when everything in it verifies.

    \b
    sanderling keys signing --jwks > jwks.json
    sanderling verify events.ndjson --jwks jwks.json
    curl -sN ... /v1/stream | head -n 100 | sanderling verify - --jwks http://127.0.0.1:8080
    """
    from sanderling_client.receiver.checking import verify as run

    return run(file, _secrets(secrets, secret_file), _published(jwks), wall=time.time, paper=_paper(), json=as_json)


@click.command()
@click.argument("url")
@click.option("--secret", "secrets", multiple=True, metavar="WHSEC", help="The secret that the receiver holds.")
@click.option("--secret-file", metavar="FILE", help=FILE_HELP)
@click.option("--json", "as_json", is_flag=True, help="The whole table as JSON.")
def probe(url: str, secrets: tuple[str, ...], secret_file: str | None, as_json: bool) -> int:
    """Test the receiver at URL with faulty deliveries, and print its expected and actual answers.

    The events are signed with a new key that no key set has. The exit code is 0 for the grades A and B.
    """
    import trio

    from sanderling_client.receiver import probe as probing

    forge = forge_of(secrets, secret_file, os.urandom(32))

    async def run() -> int:
        return await probing.run(probing.target_of(url), forge, as_json=as_json)

    return trio.run(run)


def forge_of(secrets: Sequence[str], secret_file: str | None, seed: bytes) -> Forge:
    """Return what makes deliveries with the first secret, and events with the key of this seed. Raises Failed."""
    from sanderling_client.receiver.cases import Forge, Signer

    held = _secrets(secrets, secret_file)
    if not held:
        raise Failed("There is no secret to sign with: give the receiver's own with --secret.", USAGE)
    return Forge(held[0], Signer(seed), lambda: time.time_ns() // 1_000_000, random.Random())


def _secrets(given: Sequence[str], file: str | None) -> Sequence[str]:
    """Return the secrets from flags, file and variable. Raises Failed."""
    found = list(given)
    if file is not None:
        try:
            found += Path(file).read_text("utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise Failed(f"{file}: can't be read: {error}.", USAGE) from None
    return found or os.environ.get("SANDERLING_SECRET", "").split()


def _published(place: str | None) -> Published | None:
    from sanderling_client.receiver.published import Published

    return None if place is None else Published(place)


def _paper() -> Paper:
    from sanderling_client.receiver.report import Paper

    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Paper(width=shutil.get_terminal_size((100, 24)).columns, colour=colour)


@click.group(commands=[listen, verify, probe])
def main() -> None:
    """Tools for receivers of Sanderling's deliveries."""


@main.result_callback()
def _end(code: int) -> None:
    click.get_current_context().exit(code)
