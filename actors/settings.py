"""The product's settings, and the record that an extra declares its own in. Frozen, without I/O.

`sanderling/environment.py` fills them from flags, `SANDERLING_*` and a TOML file, in that order. `settings.toml` beside
a record has a sentence on each setting. The reference page `docs/settings.md` is generated from both and a test
compares them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, TypeVar, get_args

from actors.extras import setting_records
from storage.records.member import ALL, WEB
from storage.records.person import Role

Network = IPv4Network | IPv6Network
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # compared, not bound
_HOST = r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])"
_ORIGIN = re.compile(rf"https://{_HOST}(?!:443$)(?::[1-9][0-9]{{0,4}})?|http://{_HOST}(?!:80$)(?::[1-9][0-9]{{0,4}})?")

_WALL_TIMES, _WALL_GRACE = 10.0, 5.0
_NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?")
_BIND = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", re.ASCII)


_ROLES = get_args(Role)
_ADDRESS = re.compile(r"([a-z]+://)(?:([^/?#]*)@)?([^/?#]*)(.*)", re.DOTALL)
_ISSUER = re.compile(r"https?://[^\s?#@]+")
_HTTPS_ORIGIN = re.compile(r"https://[^/\s?#]+/?")
_REGISTRY = re.compile(r"https?://[^\s?#{}]+")
Check = Callable[[str, Any], None]
"""Checks a setting's value, with its name for the message. Raises ValueError."""
Mask = Callable[[str], str]
"""Returns what may be shown of a value."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as its record declares it. low, high: bounds, both included. mask: for a value that is a secret."""

    name: str
    record: type[Any]
    default: Any
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    check: Check | None = None
    mask: Mask | None = None

    @property
    def secret(self) -> bool:
        return self.mask is stars

    @property
    def says(self) -> str:
        return _sentences(self.record.__module__.rpartition(".")[0])[self.name]

    def shown(self, settings: Settings) -> Any:
        value = settings.value(self.name)
        return value if self.mask is None else self.mask(value)

    def validate(self, value: Any) -> None:
        """Raises ValueError."""
        if isinstance(value, str) and not value.isprintable():  # some become headers, and all may be logged
            shown = f" = {value!r}" if self.mask is None else ""
            raise ValueError(f"{self.name}{shown}: must have no control characters")
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            bounds = f"{self.low:g} to {self.high:g} {self.unit}".rstrip()
            raise ValueError(f"{self.name} = {value!r}: must be from {bounds}")
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.name} = {value!r}: must be {one_of(tuple(filter(None, self.choices)))}")
        if self.check is not None and value:
            self.check(self.name, value)


def setting(default: Any, unit: str = "", low: float | None = None, high: float | None = None, **more: Any) -> Any:
    """Declare a field of a record; the rest is as for Setting."""
    return field(default=default, repr="mask" not in more, metadata={"unit": unit, "low": low, "high": high, **more})


def stars(value: str) -> str:
    return "********" if value else value


def _host_only(value: str) -> str:
    """Leave out the path of a browser's address, which controls it, and its password and token."""
    found = _ADDRESS.fullmatch(value)
    if found is None:
        return value
    return f"{found[1]}{found[3]}{'' if found[2] is None and found[4] in ('', '/') else '/...'}"


def networks(name: str, value: Sequence[str]) -> None:
    try:
        parsed(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}: write CIDR, for example 192.168.0.0/16") from None


def bind(name: str, value: str) -> None:
    found = _BIND.fullmatch(value)
    if found is None or int(found[1]) > 65535:
        raise ValueError(f"{name} = {value!r}: write an address and a port, as 127.0.0.1:9464 or [::1]:9464")


def address(name: str, value: str) -> None:
    if not value.startswith(("https://", "http://")):
        raise ValueError(f"{name}: write an address that begins with https:// or http://")


def _origins(name: str, value: Sequence[str]) -> None:
    for origin in value:
        if not _ORIGIN.fullmatch(origin):
            raise ValueError(f"{name}: {origin!r}: write an origin as browsers do: https://app.example.org")


def parsed(networks: Sequence[str]) -> tuple[Network, ...]:
    """Raises ValueError."""
    return tuple(map(ip_network, networks))


def host_and_port(bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    return host.strip("[]"), int(port)


@cache
def declared_in(record: type[Any]) -> Mapping[str, Setting]:
    return {
        item.name: Setting(item.name, record, item.default, **item.metadata) for item in fields(record) if item.metadata
    }


@cache
def declared() -> Mapping[str, Setting]:
    """Return every setting: the product's, then those of extras."""
    return {name: one for record in (Settings, *setting_records()) for name, one in declared_in(record).items()}


def declared_as(name: str) -> Setting:
    """Return a setting; one of the product needs no import of an extra. Raises KeyError."""
    return declared_in(Settings).get(name) or declared()[name]


def _validate(record: Any) -> None:
    for name, one in declared_in(type(record)).items():
        one.validate(getattr(record, name))


@cache
def _sentences(package: str) -> Mapping[str, str]:
    import tomllib  # noqa: PLC0415  # the service itself needs no sentence

    return tomllib.loads(files(package).joinpath("settings.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraSettings:
    """Settings of an extra, each a field made by `setting`."""

    def __post_init__(self) -> None:
        _validate(self)

    def check(self, settings: Settings) -> None:
        """Check these settings together. Raises ValueError with a sentence that begins with a setting's name."""


R = TypeVar("R", bound=ExtraSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The product's settings. extras: those of extras, by their records, if they are not all at their defaults."""

    host: str = setting("127.0.0.1")
    port: int = setting(8080, "", 0, 65535)
    data: str = setting("data")
    heartbeat_url: str = setting("", mask=stars, check=address)
    heartbeat_every: float = setting(60.0, "s", 10, 86_400)
    heartbeat_event: float = setting(0.0, "s", 0, 86_400)
    replica: str = setting("")
    replica_endpoint: str = setting("")
    replica_region: str = setting("us-east-1")
    replica_credentials: str = setting("")
    storage_url: str = setting("", mask=stars)
    storage_url_file: str = setting("")
    listen_url: str = setting("", mask=stars)
    node_name: str = setting("")
    node_role: str = setting(ALL)
    metrics_bind: str = setting("", check=bind)
    base_url: str = setting("")
    tls_cert: str = setting("")
    tls_key: str = setting("")
    tls_trust: str = setting("")
    trusted_proxies: tuple[str, ...] = setting((), check=networks)

    auth_header: str = setting("")
    auth_header_name: str = setting("Remote-Name")
    auth_header_email: str = setting("Remote-Email")
    auth_header_groups: str = setting("Remote-Groups")
    auth_roles: tuple[str, ...] = setting(())
    auth_default_role: str = setting("")
    cors_origins: tuple[str, ...] = setting((), check=_origins)
    contact: str = setting("")

    sign_looks: str = setting("off", choices=("off", "on"))

    allow_networks: tuple[str, ...] = setting((), check=networks)
    allow_watch_networks: tuple[str, ...] = setting((), check=networks)
    allow_deliver_networks: tuple[str, ...] = setting((), check=networks)
    hub_networks: tuple[str, ...] = setting((), check=networks)

    oidc_issuer: str = setting("")
    oidc_client_id: str = setting("")
    oidc_client_secret_file: str = setting("")
    oidc_scopes: tuple[str, ...] = setting(("openid", "profile", "email"))
    oidc_groups_claim: str = setting("groups")
    oidc_reader_groups: tuple[str, ...] = setting(())
    oidc_editor_groups: tuple[str, ...] = setting(())
    oidc_owner_groups: tuple[str, ...] = setting(())
    oidc_default_role: str = setting("", choices=("", *_ROLES))
    oidc_name: str = setting("")
    oidc_networks: tuple[str, ...] = setting((), check=networks)

    cadence_floor: float = setting(60.0, "s", 1, 3600)
    cadence_ceiling: float = setting(2700.0, "s", 60, 3600)
    cadence_evenness: float = setting(0.6, "", 0, 1)
    looks_per_second: float = setting(10.0, "1/s", 0.01, 10_000)
    host_rate: float = setting(1.0, "1/s", 0.01, 1000)
    host_parallel: int = setting(2, "", 1, 100)
    look_timeout: float = setting(30.0, "s", 1, 300)
    body_limit: int = setting(8 << 20, "B", 1 << 10, 64 << 20)
    looks_at_once: int = setting(64, "", 1, 10_000)
    follow_per_hour: int = setting(60, "1/h", 1, 10_000)
    follow_all_per_hour: int = setting(1000, "1/h", 1, 1_000_000)
    max_sources: int = setting(100_000, "", 1, 1_000_000)

    workers: int = setting(2, "", 1, 64)
    worker_memory: int = setting(768 << 20, "B", 128 << 20, 8 << 30)
    worker_idle: float = setting(120.0, "s", 1, 86_400)
    parse_deadline: float = setting(2.0, "s", 0.1, 60)

    jail: str = setting("wanted", choices=("wanted", "demanded"))

    browser: str = setting("", mask=_host_only)
    browser_proxy_listen: str = setting("", check=bind)
    browser_proxy_address: str = setting("", check=bind)
    browser_sandbox: str = setting("demanded", choices=("demanded", "wanted"))
    browser_pages: int = setting(0, "", 0, 64)
    browser_ports: tuple[str, ...] = setting(())

    retention_days: float = setting(90.0, "d", 0.01, 36_500)
    retention_events: int = setting(5_000_000, "", 1000, 1_000_000_000)
    coverage_days: int = setting(400, "d", 1, 3_660)
    retention_bytes: int = setting(0, "B", 0, 1 << 50)
    screenshot_days: float = setting(30.0, "d", 0.01, 36_500)
    screenshot_bytes: int = setting(1 << 30, "B", 0, 1 << 50)
    sweep: float = setting(1800.0, "s", 10, 86_400)

    keepalive: float = setting(15.0, "s", 1, 300)
    max_streams: int = setting(10_000, "", 1, 100_000)
    address_connections: int = setting(1_024, "", 1, 1_000_000)
    key_streams: int = setting(100, "", 1, 100_000)
    send_timeout: float = setting(30.0, "s", 1, 300)
    request_limit: int = setting(256 << 10, "B", 1 << 10, 16 << 20)
    drain: float = setting(10.0, "s", 0, 120)

    templates: str = setting("")
    language: str = setting("en")
    mail_server: str = setting("")
    mail_from: str = setting("")
    mail_user: str = setting("")
    mail_password_file: str = setting("")
    mail_login: str = setting("password", choices=("password", "token"))
    kinds: str = setting("")
    registry_base: str = setting("https://clinicaltrials.gov")

    log_level: str = setting("info", choices=("debug", "info", "warning", "error"))

    extras: Mapping[type[ExtraSettings], ExtraSettings] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate all settings. Raises ValueError with a sentence that names the setting."""
        _validate(self)
        if bool(self.tls_cert) != bool(self.tls_key):
            one, other = ("tls_cert", "tls_key") if self.tls_cert else ("tls_key", "tls_cert")
            raise ValueError(f"{one} is set and {other} is not: https needs both, http neither")
        if self.storage_url and self.storage_url_file:
            raise ValueError("storage_url and storage_url_file are both set: one is enough")
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"base_url = {self.base_url!r}: must start with http:// or https://")
        if not _REGISTRY.fullmatch(self.registry_base):
            raise ValueError(
                f"registry_base = {self.registry_base!r}: must be a URL such as https://clinicaltrials.gov"
            )
        if 0 < self.heartbeat_event < 10:
            raise ValueError(f"heartbeat_event = {self.heartbeat_event:g}: write 0, or 10 seconds or more")
        if self.replica and (self.storage_url or self.storage_url_file):
            raise ValueError("replica and storage_url are both set: PostgreSQL has its own standbys")
        if self.listen_url and not (self.storage_url or self.storage_url_file):
            raise ValueError("listen_url is set and storage_url is not: SQLite in the data folder has no server")
        if self.sign_looks == "on" and not _HTTPS_ORIGIN.fullmatch(self.base_url):
            raise ValueError("sign_looks is on and base_url is not of https, without a path: sites get the keys there")
        for port in self.browser_ports:
            if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
                raise ValueError(f"browser_ports: {port!r} is no port")
        if self.browser_proxy_address and not self.browser_proxy_listen:
            raise ValueError("browser_proxy_address is set and browser_proxy_listen is not: set its listening address")
        if self.browser_gate()[0] in _LOOPBACK and not self.browser_proxy_address:
            raise ValueError(
                "browser_proxy_listen is every address: set browser_proxy_address to the one for the browser"
            )
        _check_auth(self)
        if self.node_role not in (ALL, WEB):
            raise ValueError(f"node_role = {self.node_role!r}: write {ALL} or {WEB}")
        if self.node_role == WEB and not (self.storage_url or self.storage_url_file):
            raise ValueError("node_role is web and storage_url is not set: a node alone must watch its sources itself")
        if self.node_name and not _NODE.fullmatch(self.node_name):
            raise ValueError(f"node_name = {self.node_name!r}: write letters, digits, dots and hyphens, 63 at most")
        _check_issuer(self)
        for found in self.extras.values():
            found.check(self)

    def of(self, record: type[R]) -> R:
        """Return the settings of an extra."""
        found: Any = self.extras.get(record)
        return record() if found is None else found

    def value(self, name: str) -> Any:
        """Return the value of any setting, also of an extra. Raises KeyError."""
        record = declared_as(name).record
        return getattr(self if record is Settings else self.of(record), name)

    def replace(self, **values: Any) -> Settings:
        """Return these settings with other values, also for those of extras. Raises KeyError, ValueError."""
        given = defaultdict[type[Any], dict[str, Any]](dict)
        for name, value in values.items():
            given[declared_as(name).record][name] = value
        ours = given.pop(Settings, {})
        others = {record: replace(self.of(record), **found) for record, found in given.items()}
        return replace(self, **ours, extras={**self.extras, **others})

    def watch_networks(self) -> tuple[Network, ...]:
        return parsed((*self.allow_networks, *self.allow_watch_networks))

    def deliver_networks(self) -> tuple[Network, ...]:
        return parsed((*self.allow_networks, *self.allow_deliver_networks))

    def callback_networks(self) -> tuple[Network, ...]:
        return parsed(self.hub_networks)

    def issuer_networks(self) -> tuple[Network, ...]:
        """Return the non-public networks that the issuer of sign-ins may be in."""
        return parsed(self.oidc_networks)

    def proxies(self) -> tuple[Network, ...]:
        return parsed(self.trusted_proxies)

    def rendering_ports(self) -> tuple[int, ...]:
        """Return the ports that rendered pages may use in addition to 80, 443 and their own."""
        return tuple(map(int, self.browser_ports))

    def browser_gate(self) -> tuple[str, int]:
        """Return the host and port where the guarded proxy listens for a remote browser; port 0: a free one."""
        return host_and_port(self.browser_proxy_listen) if self.browser_proxy_listen else ("127.0.0.1", 0)

    def metrics_address(self) -> tuple[str, int] | None:
        """Return the separate host and port for /metrics, None without one."""
        return host_and_port(self.metrics_bind) if self.metrics_bind else None

    def public_url(self) -> str:
        """Return the service's public address, without a trailing slash."""
        return self.base_url.rstrip("/") if self.base_url else self._url(self.host)

    def local_url(self) -> str:
        """Return an address for programs on this machine; with TLS, the one that the certificate names."""
        return self.public_url() if self.tls_cert else self._url(_LOOPBACK.get(self.host, self.host))

    def _url(self, host: str) -> str:
        host = f"[{host}]" if ":" in host else host
        return f"{'https' if self.tls_cert else 'http'}://{host}:{self.port}"


def wall_limit(seconds: float) -> float:
    """Return the wall-clock limit for a worker's task with this much processor time, in seconds.

    On a busy machine a worker waits for the processor, which is not the document's fault: a tenth of a processor is
    enough. A worker that hangs is killed all the same.
    """
    return _WALL_GRACE + _WALL_TIMES * seconds


def one_of(words: tuple[str, ...]) -> str:
    """Join words with commas and "or".

    >>> one_of(("debug", "info", "error"))
    'debug, info or error'
    """
    return " or ".join((", ".join(words[:-1]), words[-1]))


def _check_auth(settings: Settings) -> None:
    for item in ("auth_header", "auth_header_name", "auth_header_email", "auth_header_groups"):
        if (name := getattr(settings, item)) and not re.fullmatch(r"[A-Za-z0-9-]+", name):
            raise ValueError(f"{item} = {name!r}: write the name of a header, such as Remote-User")
    for role in (
        *(text.rpartition("=")[2].strip() for text in settings.auth_roles),
        settings.auth_default_role or "owner",
    ):
        if role not in _ROLES:
            raise ValueError(f"auth_roles, auth_default_role: {role!r} is no role: write {one_of(_ROLES)}")
    if settings.auth_header and not settings.trusted_proxies:
        raise ValueError("auth_header is set and trusted_proxies is not: anyone could send the header. Name the proxy")
    if settings.auth_header and not (settings.auth_roles or settings.auth_default_role):
        raise ValueError("auth_header is set, auth_roles and auth_default_role are not: nobody would have a role")


def _check_issuer(settings: Settings) -> None:
    needed = ("oidc_issuer", "oidc_client_id", "oidc_client_secret_file")
    more = ("oidc_reader_groups", "oidc_editor_groups", "oidc_owner_groups", "oidc_default_role", "oidc_name")
    given = [name for name in (*needed, *more, "oidc_networks") if getattr(settings, name)]
    missing = [name for name in needed if not getattr(settings, name)]
    if given and missing:
        raise ValueError(f"{given[0]} is set and {missing[0]} is not: sign-in with OpenID Connect needs both")
    if not given:
        return
    if not _ISSUER.fullmatch(settings.oidc_issuer):
        raise ValueError(f"oidc_issuer = {settings.oidc_issuer!r}: write https://, without ? and #")
    if settings.oidc_issuer.startswith("http://") and not settings.oidc_networks:
        raise ValueError("oidc_issuer is of http and oidc_networks is not set: only an opened network is asked so")
    if "openid" not in settings.oidc_scopes:
        raise ValueError("oidc_scopes: openid is missing")
