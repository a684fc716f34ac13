"""The one door: a name is resolved once, every address is checked, and one of those is connected to.

Everything leaves through `Guard`: checks, redirects, robots.txt, WebSockets, deliveries. A name with one bad address
among many is refused as a whole, since mixing them is a rebinding attack. The checked address is the one connected to:
no name goes beyond this point, so there is no second resolution that could differ.
"""

from __future__ import annotations

import errno
import re
import ssl
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from itertools import chain, zip_longest

import trio

from actors.egress.address import check_address
from actors.egress.failures import Blame, CheckFailed, CheckRefused
from actors.egress.url import Url
from actors.errors import UrlRefused
from actors.settings import Network
from actors.world import Connector, ResolveFailed, Resolver

ATTEMPT_TIMEOUT, MOST_ATTEMPTS = 5.0, 4
MOST_ADDRESSES = 64  # more than any honest name has; each costs a check

# Errors of our own machine. EADDRNOTAVAIL: out of local ports. EPERM and EACCES: a local firewall.
_OPENSSL = re.compile(r"^\[SSL(?:: \w+)?\] | \(_ssl\.c:\d+\)$")
_LOCAL_ERRORS = frozenset(
    {errno.ENETUNREACH, errno.ENETDOWN, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL}
    | {errno.EPERM, errno.EACCES, errno.EAFNOSUPPORT}
)


class ZoneSilent(ResolveFailed):
    """Our resolver works, but the servers of the name's zone do not answer; that is temporary."""


class Guard:
    """Resolves, checks and connects. allowed: non-public networks that may be reached, by `setting`. connect_timeout:
    seconds for all attempts to connect together; one attempt gets at most 5. private_only: only those networks.
    on_resolved: called with a name and its checked addresses. on_refused: with a name and the refusal of an address.
    """

    def __init__(
        self,
        resolver: Resolver,
        connector: Connector,
        allowed: Sequence[Network],
        *,
        connect_timeout: float = 10.0,
        private_only: bool = False,
        setting: str = "ALLOW_NETWORKS",
        on_resolved: Callable[[str, Sequence[str]], object] = lambda host, addresses: None,
        on_refused: Callable[[str, UrlRefused], None] = lambda host, refusal: None,
    ) -> None:
        self._resolver, self._connector = resolver, connector
        self._allowed = tuple(allowed)
        self._connect_timeout, self._private_only, self._setting = connect_timeout, private_only, setting
        self._on_resolved, self._on_refused = on_resolved, on_refused

    async def check(self, url: Url) -> tuple[str, ...]:
        """Return the checked addresses of a URL's host, in the order of trying. Raises UrlRefused, CheckFailed."""
        return await self._addresses(url.host)

    async def open(self, url: Url) -> trio.abc.Stream:
        """Connect to a URL's host, with TLS if its scheme requires it. Raises CheckRefused, CheckFailed."""
        stream = await self.connect(url.host, url.port)
        return await self.secure(stream, url.host) if url.secure else stream

    async def connect(
        self, host: str, port: int, judge: Callable[[str, Sequence[str]], None] = lambda host, addresses: None
    ) -> trio.abc.Stream:
        """Try a host's checked addresses. judge: may refuse them (UrlRefused). Raises CheckRefused, CheckFailed."""
        try:
            addresses = await self._addresses(host)
            judge(host, addresses)
            addresses = addresses[:MOST_ATTEMPTS]
        except UrlRefused as refusal:
            raise CheckRefused(refusal) from None
        deadline = trio.current_time() + self._connect_timeout
        errors: list[OSError] = []
        for number, address in enumerate(addresses):
            share = (deadline - trio.current_time()) / (len(addresses) - number)
            with trio.move_on_after(min(ATTEMPT_TIMEOUT, max(0.0, share))):
                try:
                    return await self._connector.connect(address, port)
                except OSError as error:
                    errors.append(error)
                    continue
            errors.append(TimeoutError(errno.ETIMEDOUT, "no answer"))
        raise _failure(host, addresses, errors)

    async def secure(self, stream: trio.abc.Stream, host: str, alpn: Sequence[str] = ("http/1.1",)) -> trio.abc.Stream:
        """Return the stream inside TLS. Raises CheckFailed; then, and when cancelled, the stream is closed."""
        try:
            return await self._connector.secure(stream, host, alpn)
        except ssl.SSLCertVerificationError as error:
            await trio.aclose_forcefully(stream)
            words = getattr(error, "verify_message", "") or _words(error)  # missing if it does not come from OpenSSL
            raise CheckFailed(Blame.REMOTE_PERMANENT, f"the certificate of {host}: {words}") from None
        except OSError as error:  # includes SSLError
            await trio.aclose_forcefully(stream)
            raise CheckFailed(Blame.REMOTE_TRANSIENT, f"TLS with {host} failed: {_words(error)}") from None
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise

    async def _addresses(self, host: str) -> tuple[str, ...]:
        found: Sequence[str] = (host,)
        try:
            ip_address(host)
            is_name = False
        except ValueError:
            is_name = True
        if is_name:
            try:
                found = await self._resolver.resolve(host)
            except ResolveFailed as error:
                raise _unresolved(host, error) from None
        if not found or len(found) > MOST_ADDRESSES:
            raise CheckFailed(Blame.REMOTE_PERMANENT, f"{host} has {len(found)} addresses")
        for address in found:
            try:
                check_address(address, self._allowed, self._setting)
            except UrlRefused as refusal:
                if not is_name:
                    raise
                detail = f"{host} is not public; the operator finds the setting that permits it in the service's log"
                # Only the operator may see the address.
                hidden = UrlRefused(refusal.rule, detail, f"{host}: {refusal.detail}")
                self._on_refused(host, hidden)
                raise hidden from None
            if self._private_only and not any(ip_address(address) in network for network in self._allowed):
                detail = f"{address} is public: plain http deliveries go to opened networks only, all others by https"
                raise UrlRefused("url-insecure", detail)
        self._on_resolved(host, found)
        # Families alternate (RFC 8305, 4): a broken IPv6 must not use up all attempts.
        first = ":" in found[0]
        families = ([a for a in found if (":" in a) == is_v6] for is_v6 in (first, not first))
        return tuple(filter(None, chain.from_iterable(zip_longest(*families))))


def _unresolved(host: str, error: ResolveFailed) -> CheckFailed:
    blame = Blame.LOCAL if error.local else Blame.REMOTE_PERMANENT
    blame = Blame.REMOTE_TRANSIENT if isinstance(error, ZoneSilent) else blame
    return CheckFailed(blame, f"{host} does not resolve: {error.reason}")


def _failure(host: str, addresses: Sequence[str], errors: Sequence[OSError]) -> CheckFailed:
    local = all(error.errno in _LOCAL_ERRORS for error in errors)
    if local and all(":" in address for address in addresses) and errors[-1].errno == errno.ENETUNREACH:
        # Without IPv6 here, an IPv6-only host is permanently unreachable: that is no sign of an outage.
        why = f"{host} has only IPv6 addresses, and this machine has no IPv6 route"
        return CheckFailed(Blame.REMOTE_TRANSIENT, why)
    blame = Blame.LOCAL if local else Blame.REMOTE_TRANSIENT
    whys = [_words(error) for error in errors]
    if len(set(whys)) == 1:
        return CheckFailed(blame, f"can't connect to {host}: {whys[0]}")
    tried = "; ".join(f"{address}: {why}" for address, why in zip(addresses, whys, strict=True))
    return CheckFailed(blame, f"can't connect to {host} ({tried})")


def _words(error: OSError) -> str:
    """Return the system's message, without OpenSSL's code and source position."""
    if getattr(error, "reason", None) == "WRONG_VERSION_NUMBER":  # of OpenSSL: it answered in plain text
        return "it does not speak TLS there; write http:// before the address"
    return _OPENSSL.sub("", error.strerror or str(error)) or type(error).__name__
