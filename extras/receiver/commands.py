"""`sanderling listen`, `verify` and `probe`: for developers of receivers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sanderling.environment import environ, wants_colour
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import Command, loaded, settings_flags

if TYPE_CHECKING:
    from extras.receiver.published import Published
    from extras.receiver.report import Paper
    from storage.records.key import SigningKey

WHSEC_HELP = "A destination's secret, whsec_...; repeatable, any may match. Others see it in the list of processes."
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
@click.option("--status", type=click.IntRange(200, 599), help="Answer this, whatever comes.")
@click.option("--fail-every", type=click.IntRange(1), metavar="N", help="Answer 500 (or --status) to each N-th only.")
@click.option("--delay", type=click.FloatRange(0, 3600), default=0.0, help="Seconds to wait before each answer.")
@click.option("--save", type=click.Path(path_type=Path, file_okay=False), help="Keep each delivery in this folder.")
@click.option("--count", type=click.IntRange(1), help="Stop after so many deliveries.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON a delivery.")
def listen(
    host: str, port: int, secrets: tuple[str, ...], secret_file: str | None, jwks: str | None, **how: Any
) -> int:
    """Receive deliveries, print each, and say whether its two signatures verify, and if not, exactly why.

    Answers 200, or 400 with the reason when a check failed, unless told otherwise. The exit code is 1 when a check of
    any delivery failed. A service delivers to this machine only if it is allowed to: see allow_deliver_networks.

    \b
    sanderling listen --secret whsec_... --jwks http://127.0.0.1:8080
    sanderling listen --status 500 --fail-every 3 --delay 2
    """
    from extras.receiver.listen import Answers, Wishes
    from extras.receiver.listen import listen as run
    from sanderling.real_world import wall

    answers = Answers(how.pop("status"), how.pop("fail_every"))
    wishes = Wishes(_secrets(secrets, secret_file), _published(jwks), answers, **how)
    return run(host, port, wishes, wall=wall, paper=_paper())


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
    from extras.receiver.verify import verify as run
    from sanderling.real_world import wall

    return run(file, _secrets(secrets, secret_file), _published(jwks), wall=wall, paper=_paper(), json=as_json)


@click.command()
@click.argument("url")
@click.option("--secret", "secrets", multiple=True, metavar="WHSEC", help="The secret that the receiver holds.")
@click.option("--secret-file", metavar="FILE", help=FILE_HELP)
@click.option("--data", metavar="FOLDER", help="Sign events as the instance with this data folder does.")
@click.option("--json", "as_json", is_flag=True, help="The whole table as JSON.")
@settings_flags("allow_networks", "allow_deliver_networks")
def probe(
    url: str,
    *,
    secrets: tuple[str, ...],
    secret_file: str | None,
    data: str | None,
    as_json: bool,
    config: str | None,
    **flags: str | None,
) -> int:
    """Test the receiver at URL with faulty deliveries, and print its expected and actual answers.

    Good ones, repeated, late, four at once, long, slow, with two signatures; forged, unsigned, stale and re-serialised
    ones. The events say that they are tests. URL must be one that could be a destination: public https, or in a network
    that is allowed. The exit code is 0 for the grades A and B.

    Without --data the events are signed with a key made for this run, which no key set has.

    \b
    sanderling probe https://example.org/hooks/news --secret whsec_...
    sanderling probe http://127.0.0.1:8999/ --secret whsec_... --allow-networks 127.0.0.0/8
    """
    from actors.egress.guard import Guard
    from actors.egress.sockets import SystemResolver, TcpConnector
    from actors.signatures.event import Signer
    from extras.receiver.cases import Forge
    from extras.receiver.probe import run
    from sanderling.real_world import chance, now

    held = _secrets(secrets, secret_file)
    if not held:
        raise CommandFailed("There is no secret to sign with: give the receiver's own with --secret.", Exit.USAGE)
    networks = loaded(config, flags).settings.deliver_networks()
    guard = Guard(SystemResolver(), TcpConnector(), networks, connect_timeout=5.0)
    return run(url, guard, networks, Forge(held[0], Signer(_signing_key(data)), now, chance()), json=as_json)


def _signing_key(data: str | None) -> SigningKey:
    """Return a data folder's active signing key, or a new one for this run. Raises CommandFailed."""
    from actors.settings import Settings
    from actors.signatures.event import new_signing_key
    from sanderling import keyring
    from sanderling.real_world import entropy, now

    if data is None:
        return new_signing_key(entropy(32), now())
    keys = keyring.signing(Settings(data=data)) if Path(data).is_dir() else ()
    if not keys:
        raise CommandFailed(f"{data}: there is no signing key in this folder.", Exit.USAGE)
    return keys[0]


def _secrets(given: Sequence[str], file: str | None) -> Sequence[str]:
    """Return the secrets from flags, file and variable. Raises CommandFailed (USAGE)."""
    found = list(given)
    if file is not None:
        try:
            found += Path(file).read_text("utf-8").split()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandFailed(f"{file}: can't be read: {error}.", Exit.USAGE) from None
    return found or environ().get("SANDERLING_SECRET", "").split()


def _published(place: str | None) -> Published | None:
    from extras.receiver.published import Published

    return None if place is None else Published(place)


def _paper() -> Paper:
    from extras.receiver.report import Paper

    return Paper(width=shutil.get_terminal_size((100, 24)).columns, colour=wants_colour(environ()))
