"""The network: names of the user's own sources, the guard, the port, TLS and its expiry, proxies.

No other names are queried.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from urllib.parse import urlsplit

import trio

from actors.egress.sockets import SystemResolver
from actors.setting_table import declared
from actors.settings import parsed
from actors.world import ResolveFailed, Resolver
from sanderling.listeners import CertificateFiles, CertificateUnusable
from sanderling.operations.findings import DoctorContext, Finding
from sanderling.real_world import open_listeners, wall
from storage.errors import StorageError
from storage.sqlite.engine.connection import READER, connect
from storage.sqlite.engine.folder import DATABASE

SOON_DAYS = 14
NOBODYS = "invalid."
"""Never assigned (RFC 6761): a working resolver reports that it does not exist."""
ASKED, LOOKED_AT = 3, 500
WITHIN = 12.0


async def names(patient: DoctorContext) -> AsyncIterator[Finding]:
    if not patient.offline:
        yield await answered(watched_hosts(patient), SystemResolver())


async def answered(hosts: Sequence[str], resolver: Resolver) -> Finding:
    told = {host: await _asked(host, resolver) for host in hosts or (NOBODYS,)}
    bad = {host: error for host, error in told.items() if error is not None}
    silent = [error for error in bad.values() if error.local]
    if silent:
        do = "No source can be fetched by name. Check /etc/resolv.conf and the firewall. (--offline skips this.)"
        return Finding("fail", "names", f"the resolver does not answer: {silent[0]}", do)
    if not hosts:
        return Finding("ok", "names", "the resolver answers; no source has a host name to resolve yet")
    if bad:
        says = "; ".join(f"{host} does not resolve: {error}" for host, error in bad.items())
        do = (
            "The others resolve. Does it still exist? sanderling sources list"
            if len(bad) < len(told)
            else "Is DNS filtered?"
        )
        return Finding("warn", "names", says, do)
    return Finding("ok", "names", f"{', '.join(hosts)}: resolved")


def watched_hosts(patient: DoctorContext) -> Sequence[str]:
    """Return a few host names of sources; none if the database is unreadable, which another check reports."""
    try:
        with closing(connect(patient.folder / DATABASE, READER)) as connection:
            rows = connection.execute("SELECT url FROM source ORDER BY key LIMIT ?", (LOOKED_AT,)).fetchall()
    except (StorageError, sqlite3.Error, OSError):
        return ()
    hosts = dict.fromkeys(urlsplit(url).hostname or "" for (url,) in rows)
    return [host for host in hosts if host not in ("", "localhost") and _address(host) is None][:ASKED]


async def _asked(host: str, resolver: Resolver) -> ResolveFailed | None:
    """Resolve a host; None means success. NOBODYS must not exist."""
    try:
        with trio.fail_after(WITHIN):
            await resolver.resolve(host)
    except trio.TooSlowError:
        return ResolveFailed(f"no answer after {WITHIN:g} s", local=True)
    except ResolveFailed as error:
        return None if host == NOBODYS and not error.local else error
    return None


def _address(host: str) -> IPv4Address | IPv6Address | None:
    with suppress(ValueError):
        return ip_address(host)
    return None


def guard(patient: DoctorContext) -> Iterator[Finding]:
    """Report the private networks that settings open; `actors/egress/address.py` refuses all others."""
    ways = {"watched": patient.settings.watch_networks(), "delivered to": patient.settings.deliver_networks()}
    ways |= {one.reached: parsed(one.value(patient.settings)) for one in declared().values() if one.reached}
    for way, networks in ways.items():
        if networks:
            do = "The settings *_networks allow them. Anyone who can add sources can reach them."
            yield Finding("warn", "guard", f"private addresses may be {way}: {', '.join(map(str, networks))}", do)
        else:
            yield Finding("ok", "guard", f"no private address may be {way}")


def tls(patient: DoctorContext) -> Iterator[Finding]:
    settings = patient.settings
    if not settings.tls_cert:
        own = _address(settings.host)
        is_own = settings.host == "localhost" if own is None else own.is_loopback
        if not is_own and not settings.base_url.startswith("https://"):
            do = "Set tls_cert and tls_key, or a proxy in front with base_url = https://... (docs/operating.md)."
            yield Finding("warn", "tls", f"API keys travel unencrypted to {settings.host}", do)
        return
    from cryptography.x509 import load_pem_x509_certificate  # slow, and most services have no certificate

    path = Path(settings.tls_cert)
    try:
        CertificateFiles(path, Path(settings.tls_key))
        certificate = load_pem_x509_certificate(path.read_bytes())
        days = (certificate.not_valid_after_utc - datetime.fromtimestamp(wall(), UTC)).days
    except (CertificateUnusable, OSError, ValueError) as error:
        yield Finding("fail", "tls", str(error), "Fix tls_cert and tls_key: the service does not start with them.")
        return
    if days < 0:
        yield Finding("fail", "tls", f"the certificate ended {-days} days ago", "Renew it; the service reloads it.")
    elif days < SOON_DAYS:
        yield Finding("warn", "tls", f"the certificate ends in {days} days", "Does its renewal work?")
    else:
        yield Finding("ok", "tls", f"the certificate is valid for {days} more days")


async def port(patient: DoctorContext) -> AsyncIterator[Finding]:
    settings, figures = patient.settings, patient.settings.metrics_address()
    yield await _port(patient, settings.host, settings.port, "--port")
    if figures is not None:
        yield await _port(patient, *figures, "--metrics-bind")


async def _port(patient: DoctorContext, host: str, number: int, flag: str) -> Finding:
    where = f"{host} port {number}"
    try:
        listeners = await open_listeners(host, number)
    except OSError as error:
        if patient.running:
            return Finding("ok", "port", f"{where} is in use by the running service")
        do = f"Stop the program there (ss -ltnp), or choose another with {flag}."
        return Finding("fail", "port", f"can't listen on {where}: {error.strerror or error}", do)
    for listener in listeners:
        await listener.aclose()
    running = "; the service listens elsewhere" if patient.running else ""
    return Finding("ok", "port", f"{where} is free{running}")


def proxies(patient: DoctorContext) -> Iterator[Finding]:
    settings = patient.settings
    if settings.base_url.startswith("https://") and not settings.tls_cert and not settings.trusted_proxies:
        do = 'Name it: trusted_proxies = ["127.0.0.1/32"]; otherwise all clients count as one address.'
        yield Finding("warn", "proxy", "HTTPS comes from a proxy in front, but no proxy is trusted", do)
    for network in settings.proxies():
        if network.prefixlen == 0:
            do = "Name the proxy's own address; otherwise any client can claim any address."
            yield Finding("fail", "proxy", f"trusted_proxies holds {network}, which trusts everyone", do)
    variables = ("http_proxy", "https_proxy", "all_proxy")
    ignored = [one for one in variables if patient.variables.get(one) or patient.variables.get(one.upper())]
    if ignored:
        do = (
            "Sanderling connects directly, so that its guard sees each address. Let the firewall pass ports 80 and 443."
        )
        yield Finding("warn", "proxy", f"{', '.join(ignored)} is set but ignored", do)
