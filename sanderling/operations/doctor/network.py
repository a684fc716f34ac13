"""Check the network: guard, port, TLS files, proxies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from ipaddress import ip_address, ip_network
from pathlib import Path

from actors.egress.address import check_address
from actors.errors import UrlRefused
from actors.settings import Network
from sanderling.certificate import CertificateFiles, CertificateUnusable
from sanderling.operations.backup.finding import Finding
from sanderling.operations.doctor.context import DoctorContext
from sanderling.operations.doctor.expiry import ends_at
from sanderling.real_world import open_listeners, wall

METADATA = "169.254.169.254"
PRIVATE = ("127.0.0.1", "::1", "10.0.0.1", "192.168.0.1", "fd00::1", "::ffff:127.0.0.1", METADATA)
SOON_DAYS = 14


def guard(patient: DoctorContext) -> Iterator[Finding]:
    """Check that private addresses and metadata services are refused, except where settings allow them."""
    ways = {"watched": patient.settings.watch_networks(), "delivered to": patient.settings.deliver_networks()}
    ways["called back by the hub"] = patient.settings.callback_networks()
    for way, networks in ways.items():
        passed = [address for address in PRIVATE if _passes(address, networks)]
        unasked = [address for address in passed if address == METADATA or not _opened(address, networks)]
        if unasked:
            yield Finding("fail", "guard", f"{', '.join(unasked)} may be {way}", "This build is broken: do not run it.")
        elif passed:
            do = "As the settings *_networks say. Whoever may add sources reaches what is there."
            yield Finding("warn", "guard", f"private addresses may be {way}: {', '.join(map(str, networks))}", do)
        else:
            yield Finding("ok", "guard", f"no private address may be {way}")


def tls(patient: DoctorContext) -> Iterator[Finding]:
    """Check that the certificate is usable and for how long."""
    settings = patient.settings
    if not settings.tls_cert:
        if not _own(settings.host) and not settings.base_url.startswith("https://"):
            do = "Set tls_cert and tls_key, or a proxy in front with base_url = https://... (docs/operating.md)."
            yield Finding("warn", "tls", f"keys travel in the clear to {settings.host}", do)
        return
    path = Path(settings.tls_cert)
    try:
        CertificateFiles(path, Path(settings.tls_key))
        days = (ends_at(path.read_text("ascii")) - datetime.fromtimestamp(wall(), UTC)).days
    except (CertificateUnusable, OSError, ValueError) as error:
        yield Finding("fail", "tls", str(error), "Mend tls_cert and tls_key; the service would not start.")
        return
    if days < 0:
        yield Finding("fail", "tls", f"the certificate ended {-days} days ago", "Renew it; the service reads it anew.")
    elif days < SOON_DAYS:
        yield Finding("warn", "tls", f"the certificate ends in {days} days", "Does its renewal work?")
    else:
        yield Finding("ok", "tls", f"the certificate is good for {days} days")


async def port(patient: DoctorContext) -> AsyncIterator[Finding]:
    """Check that the ports are free, or used by our own service."""
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
            return Finding("ok", "port", f"{where} is in use, as it should be: the service runs")
        do = f"Stop what is there (ss -ltnp), or choose another with {flag}."
        return Finding("fail", "port", f"can't listen on {where}: {error.strerror or error}", do)
    for listener in listeners:
        await listener.aclose()
    running = "; the service listens elsewhere" if patient.running else ""
    return Finding("ok", "port", f"{where} is free{running}")


def proxies(patient: DoctorContext) -> Iterator[Finding]:
    """Check that a proxy in front is trusted, and warn about outgoing proxy variables, which are ignored."""
    settings = patient.settings
    if settings.base_url.startswith("https://") and not settings.tls_cert and not settings.trusted_proxies:
        do = 'Name it: trusted_proxies = ["127.0.0.1/32"]; else all clients are counted as one address.'
        yield Finding("warn", "proxy", "https comes from a proxy in front, and none is trusted", do)
    for network in settings.proxies():
        if network.prefixlen == 0:
            do = "Name the proxy's own address: anybody may claim to be anybody."
            yield Finding("fail", "proxy", f"trusted_proxies holds {network}, which is everybody", do)
    ignored = [name for name in ("http_proxy", "https_proxy", "all_proxy") if _either(patient, name)]
    if ignored:
        do = (
            "Sanderling connects straight, so that its guard sees each address: let the firewall pass ports 80 and 443."
        )
        yield Finding("warn", "proxy", f"{', '.join(ignored)} is set, and not used", do)


def _either(patient: DoctorContext, name: str) -> bool:
    return bool(patient.variables.get(name) or patient.variables.get(name.upper()))


def _passes(address: str, networks: tuple[Network, ...]) -> bool:
    try:
        check_address(address, networks)
    except UrlRefused:
        return False
    return True


def _opened(address: str, networks: tuple[Network, ...]) -> bool:
    found = ip_address(address)
    inner = getattr(found, "ipv4_mapped", None)
    return any(each in ip_network(network) for each in (found, inner) if each for network in networks)


def _own(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
