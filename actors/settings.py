"""The product's settings, and the record that an extra declares its own in. Frozen, without I/O.

`sanderling/environment.py` fills them from flags, `SANDERLING_*` and a TOML file, in that order. `settings.toml` beside
a record has a sentence on each setting. The reference page `docs/settings.md` is generated from both and a test
compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.resources import files
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, TypeVar

Network = IPv4Network | IPv6Network
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # compared, not bound
_HOST = r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])"
_ORIGIN = re.compile(rf"https://{_HOST}(?!:443$)(?::[1-9][0-9]{{0,4}})?|http://{_HOST}(?!:80$)(?::[1-9][0-9]{{0,4}})?")

_WALL_TIMES, _WALL_GRACE = 10.0, 5.0
_NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?")
_BIND = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", re.ASCII)
_HTTPS_ORIGIN = re.compile(r"https://[^/\s?#]+/?")
_REGISTRY = re.compile(r"https?://[^\s?#{}]+")


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as its record declares it. low, high: bounds, both included. check: raises ValueError, by the name and
    value. mask: what may be shown of a secret. reached: how the networks in the value are reached, for the doctor.
    """

    name: str
    record: type[Any]
    default: Any
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    check: Callable[[str, Any], None] | None = None
    mask: Callable[[str], str] | None = None
    reached: str = ""

    @property
    def secret(self) -> bool:
        return self.mask is stars

    @property
    def says(self) -> str:
        return _sentences(self.record.__module__.rpartition(".")[0])[self.name]

    def value(self, settings: Settings) -> Any:
        return getattr(settings if self.record is Settings else settings.of(self.record), self.name)

    def shown(self, settings: Settings) -> Any:
        value = self.value(settings)
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
    return {row.name: Setting(row.name, record, row.default, **row.metadata) for row in fields(record) if row.metadata}


def _validate(record: Any) -> None:
    for name, setting in declared_in(record.__class__).items():
        setting.validate(getattr(record, name))


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
    node_name: str = setting("")
    metrics_bind: str = setting("", check=bind)
    base_url: str = setting("")
    tls_cert: str = setting("")
    tls_key: str = setting("")
    tls_trust: str = setting("")
    trusted_proxies: tuple[str, ...] = setting((), check=networks)

    cors_origins: tuple[str, ...] = setting((), check=_origins)
    contact: str = setting("")

    sign_looks: str = setting("off", choices=("off", "on"))

    allow_networks: tuple[str, ...] = setting((), check=networks)
    allow_watch_networks: tuple[str, ...] = setting((), check=networks)
    allow_deliver_networks: tuple[str, ...] = setting((), check=networks)

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
            given, other = ("tls_cert", "tls_key") if self.tls_cert else ("tls_key", "tls_cert")
            raise ValueError(f"{given} is set and {other} is not: https needs both, http neither")
        if self.base_url and not self.base_url.startswith(("http://", "https://")):
            raise ValueError(f"base_url = {self.base_url!r}: must start with http:// or https://")
        if not _REGISTRY.fullmatch(self.registry_base):
            raise ValueError(
                f"registry_base = {self.registry_base!r}: must be a URL such as https://clinicaltrials.gov"
            )
        if 0 < self.heartbeat_event < 10:
            raise ValueError(f"heartbeat_event = {self.heartbeat_event:g}: write 0, or 10 seconds or more")
        if self.sign_looks == "on" and not _HTTPS_ORIGIN.fullmatch(self.base_url):
            raise ValueError("sign_looks is on and base_url is not of https, without a path: sites get the keys there")
        if self.node_name and not _NODE.fullmatch(self.node_name):
            raise ValueError(f"node_name = {self.node_name!r}: write letters, digits, dots and hyphens, 63 at most")
        for found in self.extras.values():
            found.check(self)

    def of(self, record: type[R]) -> R:
        found: Any = self.extras.get(record)
        return record() if found is None else found

    def watch_networks(self) -> tuple[Network, ...]:
        return parsed((*self.allow_networks, *self.allow_watch_networks))

    def deliver_networks(self) -> tuple[Network, ...]:
        return parsed((*self.allow_networks, *self.allow_deliver_networks))

    def proxies(self) -> tuple[Network, ...]:
        return parsed(self.trusted_proxies)

    def metrics_address(self) -> tuple[str, int] | None:
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
    """Return the wall-clock limit for a worker's task with this much processor time, in seconds. On a busy machine a
    worker waits for the processor, which is not the document's fault: a tenth of a processor is enough.
    """
    return _WALL_GRACE + _WALL_TIMES * seconds


def one_of(words: tuple[str, ...]) -> str:
    """Join words with commas and "or".

    >>> one_of(("debug", "info", "error"))
    'debug, info or error'
    """
    return " or ".join((", ".join(words[:-1]), words[-1]))
