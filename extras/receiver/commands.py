"""The commands of the receiver kit. `probe` sends only to possible destinations, and can sign as an instance."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from actors.egress.failures import CheckFailed
from actors.egress.url import parse_url
from actors.errors import UrlRefused
from sanderling.exits import CommandFailed, Exit
from sanderling.flags import loaded, settings_flags
from sanderling_client.receiver.commands import FILE_HELP, forge_of, listen, verify
from storage.records.secrecy import plain

if TYPE_CHECKING:
    from actors.egress.guard import Guard
    from actors.settings import Network
    from sanderling_client.receiver.probe import Target

__all__ = ["listen", "probe", "verify"]


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

    Without --data the events are signed with a new key that no key set has.

    \b
    sanderling probe https://example.org/hooks/news --secret whsec_...
    sanderling probe http://127.0.0.1:8999/ --secret whsec_... --allow-networks 127.0.0.0/8
    """
    from actors.egress.guard import Guard
    from actors.egress.transport import SystemResolver, TcpConnector
    from sanderling_client.receiver.probe import run

    networks = loaded(config, flags).settings.deliver_networks()
    guard = Guard(SystemResolver(), TcpConnector(), networks, connect_timeout=5.0)
    forge = forge_of(secrets, secret_file, _seed(data))

    async def run_it() -> int:
        return await run(await admitted(url, guard, networks), forge, as_json=as_json)

    return trio.run(run_it)


def _seed(data: str | None) -> bytes:
    """Return the secret of a data folder's active signing key, or a new one for this run. Raises CommandFailed."""
    from actors.settings import Settings
    from sanderling import keyring
    from sanderling.real_world import entropy

    if data is None:
        return entropy(32)
    keys = keyring.signing(Settings(data=data)) if Path(data).is_dir() else ()
    if not keys:
        raise CommandFailed(f"{data}: there is no signing key in this folder.", Exit.USAGE)
    return keys[0].seed


async def admitted(text: str, guard: Guard, networks: Sequence[Network]) -> Target:
    """Return the receiver at a public https URL, or in an allowed network. Raises CommandFailed."""
    from sanderling_client.receiver.probe import Target

    try:
        url = parse_url(text, schemes=("http", "https"))
        addresses = [ip_address(address) for address in await guard.check(url)]
    except UrlRefused as refusal:
        raise CommandFailed(f"{plain(text)}: {refusal.words_inside}.", Exit.USAGE) from None
    except CheckFailed as failure:
        raise CommandFailed(f"{plain(text)}: {failure.reason}.", Exit.UNREACHABLE) from None
    if not url.secure and not all(any(address in network for network in networks) for address in addresses):
        words = "a destination is https; --allow-networks opens networks of your own"
        raise CommandFailed(f"{url}: {words}.", Exit.USAGE)

    async def connect() -> trio.abc.Stream:
        try:
            return await guard.open(url)
        except CheckFailed as failure:
            raise OSError(str(failure)) from None

    return Target(url.text, connect)
