"""Parsing of a PostgreSQL server's address: `postgresql://user@host:port/database?parameter=value`. Pure.

Refuses some that libpq takes: a remote server without `sslmode=verify-full`, several hosts without
`target_session_attrs=read-write` (a standby may answer), parameters that lead elsewhere (`hostaddr`, `service`), and
URLs that two readers take differently (two `@`, `%2C` in a host). No refusal contains the password.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import unquote_to_bytes

MAX_LENGTH, MAX_HOSTS = 4096, 16
PORT = 5432
EXAMPLE = "postgresql://sanderling@db.example.org/sanderling?sslmode=verify-full"
_SCHEMES = ("postgresql", "postgres")
_PARAMETERS = frozenset(
    {"connect_timeout", "host", "passfile", "password", "port", "sslcert", "sslcrl", "sslkey", "sslmode"}
    | {"sslrootcert", "target_session_attrs", "user"}
)
_ELSEWHERE = frozenset({"dbname", "hostaddr", "options", "service", "servicefile"})
"""Refused by name: they lead to another server, database or schema than the address shows before the question mark."""
_WRITERS = ("read-write", "primary")
_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_HOST = re.compile(r"(?P<host>\[[^\[\]%]*\]|[^:\[\]]*)(?::(?P<port>[0-9]*))?", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?", re.ASCII)


class BadAddress(ValueError):
    """The address is refused. The text is a sentence that says what to type, without the password."""


@dataclass(frozen=True, slots=True)
class Host:
    """One server: a name, an IP address without brackets, or the folder of a Unix socket (it begins with a slash)."""

    name: str
    port: int

    def is_here(self) -> bool:
        if self.name.startswith("/") or self.name == "localhost":
            return True
        try:
            return ip_address(self.name).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"


@dataclass(frozen=True, slots=True)
class Address:
    """A valid address. `url` is for libpq and contains the password; `str()` may be shown."""

    url: str = field(repr=False)
    hosts: tuple[Host, ...]
    database: str
    user: str
    sslmode: str

    def __str__(self) -> str:
        user = f"{self.user}@" if self.user else ""
        return f"postgresql://{user}{','.join(map(str, self.hosts))}/{self.database}"


def read_address(url: str, setting: str = "storage_url") -> Address:
    """Parse a URL. Raises BadAddress, which names `setting`."""
    try:
        return _read(url)
    except BadAddress as error:
        raise BadAddress(f"{setting}: {error}") from None


def _read(url: str) -> Address:
    if len(url) > MAX_LENGTH:
        raise BadAddress(f"it is longer than {MAX_LENGTH:,} characters")
    if not url.isprintable() or " " in url:
        raise BadAddress("it has a space or a control character; write %20 for a space")
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in _SCHEMES:
        raise BadAddress(f"it must begin with postgresql://, as in {EXAMPLE}; leave it empty for SQLite")
    if "#" in rest:
        raise BadAddress("it has a #; write %23 where it belongs to a name or a password")
    before, _, query = rest.partition("?")
    authority, _, path = before.partition("/")
    login, _, places = authority.rpartition("@")
    if "@" in login or "@" in path:  # libpq splits at the first @, other parsers at the last: two different servers
        raise BadAddress("it has one @ too many; write %40 for an @ and %2F for a / in a user name or password")
    user, _, password = login.partition(":")
    parameters = _parameters(query)
    for name, given in (("host", places), ("user", user), ("password", password)):
        if given and name in parameters:
            raise BadAddress(f"it names the {name} twice; leave out {name}= after the question mark")
    _decoded(password, "the password")
    hosts = _hosts(places, parameters)
    address = Address(
        url, hosts, _decoded(path, "the database"), _decoded(user, "the user") or parameters.get("user", ""),
        parameters.get("sslmode", "prefer"),
    )  # fmt: skip
    _check(address, parameters)
    return address


def _check(address: Address, parameters: Mapping[str, str]) -> None:
    if not address.database or "/" in address.database:
        raise BadAddress(f"it must name one database after the host, as in {EXAMPLE}")
    attributes = parameters.get("target_session_attrs", "any")
    if attributes not in _WRITERS and (attributes != "any" or len(address.hosts) > 1):
        raise BadAddress("add target_session_attrs=read-write: of several servers only one can be written to")
    afar = [host for host in address.hosts if not host.is_here()]
    if afar and address.sslmode != "verify-full":
        raise BadAddress(
            "add sslmode=verify-full (and sslrootcert=FILE for an authority of your own): without it anyone between "
            f"here and {afar[0]} can read the log and impersonate the server"
        )


def _parameters(query: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for pair in query.split("&") if query else ():
        raw, equals, value = pair.partition("=")
        name = _decoded(raw, "a parameter")
        if name not in _PARAMETERS:
            shown = name if name in _ELSEWHERE else "one of those given"  # it may be part of a password
            raise BadAddress(f"{shown} is not a supported parameter; these are: {', '.join(sorted(_PARAMETERS))}")
        if not equals:
            raise BadAddress(f"{name} has no = and no value")
        if "=" in value:
            raise BadAddress(f"{name} has an = in its value; write %3D")
        if name in found:
            raise BadAddress(f"{name} is there twice")
        found[name] = _decoded(value, name)
    return found


def _hosts(places: str, parameters: Mapping[str, str]) -> tuple[Host, ...]:
    given = [_host(place) for place in places.split(",")]
    if "host" in parameters:
        given = [(name, None) for name in parameters["host"].split(",")]
    if len(given) > MAX_HOSTS:
        raise BadAddress(f"it names more than {MAX_HOSTS} hosts")
    if "port" in parameters:
        if any(port is not None for _, port in given):
            raise BadAddress("it names the port twice; leave out port= after the question mark")
        ports = parameters["port"].split(",")
        if len(ports) not in (1, len(given)):
            raise BadAddress("port= must have one port, or one for each host")
        given = [(name, ports[at % len(ports)]) for at, (name, _) in enumerate(given)]
    return tuple(_checked(name, port) for name, port in given)


def _host(place: str) -> tuple[str, str | None]:
    parts = _HOST.fullmatch(place)
    if parts is None:
        raise BadAddress("a host and its port cannot be read; write an IPv6 address in brackets: [2001:db8::1]:5432")
    host = parts["host"]
    if host.startswith("["):
        try:
            return ip_address(host[1:-1]).compressed, parts["port"]
        except ValueError:
            raise BadAddress("a host in brackets is no IP address") from None
    return _decoded(host, "a host"), parts["port"]


def _checked(name: str, port: str | None) -> Host:
    if not name:  # libpq would read the variable PGHOST
        raise BadAddress("it must name the host; host=/var/run/postgresql after the question mark is Debian's socket")
    if "," in name:  # was %2C: libpq splits hosts after decoding, so the second would be a hidden one
        raise BadAddress("a host has a comma in its name")
    if not (name.startswith("/") or ":" in name or _NAME.fullmatch(name)):
        raise BadAddress("a host is no name; write %40, %2F or %3A for an @, / or : in a user name or password")
    if ":" in name:
        try:
            ip_address(name)
        except ValueError:
            raise BadAddress("a host is no name; with host= the port is a separate parameter, port=") from None
    if not port:
        return Host(name, PORT)
    if not re.fullmatch(r"[0-9]{1,5}", port, re.ASCII) or not 0 < int(port) < 1 << 16:
        raise BadAddress("a port must be from 1 to 65535; write %3A for a : in a user name or password")
    return Host(name, int(port))


def _decoded(text: str, of: str) -> str:
    if _PERCENT.search(text):
        raise BadAddress(f"{of} has a % without two hexadecimal digits; write %25 for a %")
    try:
        decoded = unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        raise BadAddress(f"{of} is not UTF-8") from None
    if not decoded.isprintable():
        raise BadAddress(f"{of} has a control character")
    return decoded
