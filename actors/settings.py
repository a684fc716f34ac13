"""Every setting, in one frozen table without I/O.

`sanderling/environment.py` fills it from flags, `SANDERLING_*` and a TOML file, in that order. `settings.toml` has a
sentence on each. The reference page `docs/settings.md` is generated from both and a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any, get_args
from urllib.parse import unquote

from storage.records.member import ALL, WEB
from storage.records.person import Role

Network = IPv4Network | IPv6Network
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # compared, not bound
_HOST = r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])"
_ORIGIN = re.compile(rf"https://{_HOST}(?!:443$)(?::[1-9][0-9]{{0,4}})?|http://{_HOST}(?!:80$)(?::[1-9][0-9]{{0,4}})?")

_WALL_TIMES, _WALL_GRACE = 10.0, 5.0
_NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OUR_HEADER = re.compile(r"(?i)host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding")
_BIND = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", re.ASCII)


_ROLES = get_args(Role)
_BINDS = ("metrics_bind", "browser_proxy_listen", "browser_proxy_address")
_ADDRESS = re.compile(r"([a-z]+://)(?:([^/?#]*)@)?([^/?#]*)(.*)", re.DOTALL)
_ISSUER = re.compile(r"https?://[^\s?#@]+")
_HTTPS_ORIGIN = re.compile(r"https://[^/\s?#]+/?")
_CHOICES = {
    "log_level": ("debug", "info", "warning", "error"),
    "jail": ("wanted", "demanded"),
    "browser_sandbox": ("demanded", "wanted"),
    "mail_login": ("password", "token"),
    "sign_looks": ("off", "on"),
    "oidc_default_role": ("", *_ROLES),
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """A setting's unit, bounds (both ends included) and explanation."""

    unit: str = ""
    low: float | None = None
    high: float | None = None
    secret: bool = False
    says: str = ""


def _setting(default: Any, unit: str = "", low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"meaning": Meaning(unit, low, high)})


def _address() -> Any:
    """Return a setting that may have a secret after its host."""
    return field(default="", repr=False, metadata={"meaning": Meaning()})


def _secret() -> Any:
    return field(default="", repr=False, metadata={"meaning": Meaning(secret=True)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, made by `sanderling.environment.load`, or directly in tests; both are validated."""

    host: str = _setting("127.0.0.1")
    port: int = _setting(8080, "", 0, 65535)
    data: str = _setting("data")
    heartbeat_url: str = _secret()
    heartbeat_every: float = _setting(60.0, "s", 10, 86_400)
    heartbeat_event: float = _setting(0.0, "s", 0, 86_400)
    otlp_endpoint: str = _setting("")
    otlp_headers: str = _secret()
    otlp_sampling: float = _setting(1.0, "", 0, 1)
    replica: str = _setting("")
    replica_endpoint: str = _setting("")
    replica_region: str = _setting("us-east-1")
    replica_credentials: str = _setting("")
    storage_url: str = _secret()
    storage_url_file: str = _setting("")
    listen_url: str = _secret()
    node_name: str = _setting("")
    node_role: str = _setting(ALL)
    metrics_bind: str = _setting("")
    base_url: str = _setting("")
    tls_cert: str = _setting("")
    tls_key: str = _setting("")
    tls_trust: str = _setting("")
    trusted_proxies: tuple[str, ...] = _setting(())

    auth_header: str = _setting("")
    auth_header_name: str = _setting("Remote-Name")
    auth_header_email: str = _setting("Remote-Email")
    auth_header_groups: str = _setting("Remote-Groups")
    auth_roles: tuple[str, ...] = _setting(())
    auth_default_role: str = _setting("")
    cors_origins: tuple[str, ...] = _setting(())
    contact: str = _setting("")

    sign_looks: str = _setting("off")

    allow_networks: tuple[str, ...] = _setting(())
    allow_watch_networks: tuple[str, ...] = _setting(())
    allow_deliver_networks: tuple[str, ...] = _setting(())
    hub_networks: tuple[str, ...] = _setting(())

    oidc_issuer: str = _setting("")
    oidc_client_id: str = _setting("")
    oidc_client_secret_file: str = _setting("")
    oidc_scopes: tuple[str, ...] = _setting(("openid", "profile", "email"))
    oidc_groups_claim: str = _setting("groups")
    oidc_reader_groups: tuple[str, ...] = _setting(())
    oidc_editor_groups: tuple[str, ...] = _setting(())
    oidc_owner_groups: tuple[str, ...] = _setting(())
    oidc_default_role: str = _setting("")
    oidc_name: str = _setting("")
    oidc_networks: tuple[str, ...] = _setting(())

    cadence_floor: float = _setting(60.0, "s", 1, 3600)
    cadence_ceiling: float = _setting(2700.0, "s", 60, 3600)
    cadence_evenness: float = _setting(0.6, "", 0, 1)
    looks_per_second: float = _setting(10.0, "1/s", 0.01, 10_000)
    host_rate: float = _setting(1.0, "1/s", 0.01, 1000)
    host_parallel: int = _setting(2, "", 1, 100)
    look_timeout: float = _setting(30.0, "s", 1, 300)
    body_limit: int = _setting(8 << 20, "B", 1 << 10, 64 << 20)
    looks_at_once: int = _setting(64, "", 1, 10_000)
    follow_per_hour: int = _setting(60, "1/h", 1, 10_000)
    follow_all_per_hour: int = _setting(1000, "1/h", 1, 1_000_000)
    max_sources: int = _setting(100_000, "", 1, 1_000_000)

    workers: int = _setting(2, "", 1, 64)
    worker_memory: int = _setting(768 << 20, "B", 128 << 20, 8 << 30)
    worker_idle: float = _setting(120.0, "s", 1, 86_400)
    parse_deadline: float = _setting(2.0, "s", 0.1, 60)

    jail: str = _setting("wanted")

    browser: str = _address()
    browser_proxy_listen: str = _setting("")
    browser_proxy_address: str = _setting("")
    browser_sandbox: str = _setting("demanded")
    browser_pages: int = _setting(0, "", 0, 64)
    browser_ports: tuple[str, ...] = _setting(())

    retention_days: float = _setting(90.0, "d", 0.01, 36_500)
    retention_events: int = _setting(5_000_000, "", 1000, 1_000_000_000)
    coverage_days: int = _setting(400, "d", 1, 3_660)
    retention_bytes: int = _setting(0, "B", 0, 1 << 50)
    screenshot_days: float = _setting(30.0, "d", 0.01, 36_500)
    screenshot_bytes: int = _setting(1 << 30, "B", 0, 1 << 50)
    sweep: float = _setting(1800.0, "s", 10, 86_400)

    keepalive: float = _setting(15.0, "s", 1, 300)
    max_streams: int = _setting(10_000, "", 1, 100_000)
    address_connections: int = _setting(1_024, "", 1, 1_000_000)
    key_streams: int = _setting(100, "", 1, 100_000)
    send_timeout: float = _setting(30.0, "s", 1, 300)
    request_limit: int = _setting(256 << 10, "B", 1 << 10, 16 << 20)
    drain: float = _setting(10.0, "s", 0, 120)

    templates: str = _setting("")
    language: str = _setting("en")
    mail_server: str = _setting("")
    mail_from: str = _setting("")
    mail_user: str = _setting("")
    mail_password_file: str = _setting("")
    mail_login: str = _setting("password")
    kinds: str = _setting("")
    registry_base: str = _setting("https://clinicaltrials.gov")

    log_level: str = _setting("info")

    def __post_init__(self) -> None:
        """Validate all settings. Raises ValueError with a sentence that names the setting."""
        for item in fields(self):
            _check(item, getattr(self, item.name))
        if bool(self.tls_cert) != bool(self.tls_key):
            one, other = ("tls_cert", "tls_key") if self.tls_cert else ("tls_key", "tls_cert")
            raise ValueError(f"{one} is set and {other} is not: https needs both, http neither")
        if self.storage_url and self.storage_url_file:
            raise ValueError("storage_url and storage_url_file are both set: one is enough")
        for name in ("heartbeat_url", "otlp_endpoint"):
            if (url := getattr(self, name)) and not url.startswith(("https://", "http://")):
                raise ValueError(f"{name}: write an address that begins with https:// or http://")
        if 0 < self.heartbeat_event < 10:
            raise ValueError(f"heartbeat_event = {self.heartbeat_event:g}: write 0, or 10 seconds or more")
        try:
            headers_in(self.otlp_headers)
        except ValueError as error:
            raise ValueError(f"otlp_headers: {error}") from None
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

    def watch_networks(self) -> tuple[Network, ...]:
        return tuple(ip_network(n) for n in (*self.allow_networks, *self.allow_watch_networks))

    def deliver_networks(self) -> tuple[Network, ...]:
        return tuple(ip_network(n) for n in (*self.allow_networks, *self.allow_deliver_networks))

    def callback_networks(self) -> tuple[Network, ...]:
        return tuple(map(ip_network, self.hub_networks))

    def issuer_networks(self) -> tuple[Network, ...]:
        """Return the non-public networks that the issuer of sign-ins may be in."""
        return tuple(map(ip_network, self.oidc_networks))

    def proxies(self) -> tuple[Network, ...]:
        return tuple(ip_network(n) for n in self.trusted_proxies)

    def rendering_ports(self) -> tuple[int, ...]:
        """Return the ports that rendered pages may use in addition to 80, 443 and their own."""
        return tuple(map(int, self.browser_ports))

    def browser_gate(self) -> tuple[str, int]:
        """Return the host and port where the guarded proxy listens for a remote browser; port 0: a free one."""
        host, _, port = self.browser_proxy_listen.rpartition(":")
        return (host.strip("[]"), int(port)) if self.browser_proxy_listen else ("127.0.0.1", 0)

    def metrics_address(self) -> tuple[str, int] | None:
        """Return the separate host and port for /metrics, None without one."""
        host, _, port = self.metrics_bind.rpartition(":")
        return (host.strip("[]"), int(port)) if self.metrics_bind else None

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


def meaning(item: Field[Any]) -> Meaning:
    found: Meaning = item.metadata["meaning"]
    return replace(found, says=_sentences()[item.name])


@cache
def _sentences() -> dict[str, str]:
    import tomllib  # noqa: PLC0415  # the service itself needs no sentence

    return tomllib.loads(files("actors").joinpath("settings.toml").read_text("utf-8"))


def masked(settings: Settings, name: str) -> Any:
    value = getattr(settings, name)
    secret = next(item.metadata["meaning"].secret for item in fields(Settings) if item.name == name)
    if name == "browser" and (found := _ADDRESS.fullmatch(value)):  # its path controls a browser; a token, a password
        return f"{found[1]}{found[3]}{'' if found[2] is None and found[4] in ('', '/') else '/...'}"
    return "********" if secret and value else value


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


def _check(item: Field[Any], value: Any) -> None:
    says: Meaning = item.metadata["meaning"]
    if isinstance(value, str) and not value.isprintable():  # some become headers, and all may be logged
        shown = "" if says.secret or item.name == "browser" else f" = {value!r}"
        raise ValueError(f"{item.name}{shown}: must have no control characters")
    if (says.low is not None and value < says.low) or (says.high is not None and value > says.high):
        raise ValueError(f"{item.name} = {value!r}: must be from {says.low:g} to {says.high:g} {says.unit}".rstrip())
    if item.name.endswith("_networks") or item.name == "trusted_proxies":
        for network in value:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"{item.name}: {error}: write CIDR, for example 192.168.0.0/16") from None
    if item.name == "cors_origins":
        for origin in value:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(f"cors_origins: {origin!r}: write an origin as browsers do: https://app.example.org")
    if item.name == "registry_base" and not re.fullmatch(r"https?://[^\s?#{}]+", value):
        raise ValueError(f"registry_base = {value!r}: must be a URL such as https://clinicaltrials.gov")
    if item.name in _BINDS and value:
        bind = _BIND.fullmatch(value)
        if bind is None or int(bind[1]) > 65535:
            raise ValueError(f"{item.name} = {value!r}: write an address and a port, as 127.0.0.1:9464 or [::1]:9464")
    if item.name in _CHOICES and value not in _CHOICES[item.name]:
        raise ValueError(f"{item.name} = {value!r}: must be {one_of(tuple(filter(None, _CHOICES[item.name])))}")
    if item.name == "base_url" and value and not value.startswith(("http://", "https://")):
        raise ValueError(f"base_url = {value!r}: must start with http:// or https://")


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


def headers_in(text: str) -> Mapping[str, str]:
    """Return the headers of a setting in the form of OTEL_EXPORTER_OTLP_HEADERS. Raises ValueError, without values.

    >>> headers_in("api-key=k3y, x-team=a%20b")
    {'api-key': 'k3y', 'x-team': 'a b'}
    """
    found: dict[str, str] = {}
    for number, pair in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        name, equals, value = pair.partition("=")
        name, value = name.strip(), unquote(value.strip())
        if not equals or not _HEADER.fullmatch(name):
            raise ValueError(f"header {number} is not written as name=value, with a comma before the next")
        if _OUR_HEADER.fullmatch(name):
            raise ValueError(f"{name} is a header of the request itself")
        if not value.isascii() or not value.isprintable():
            raise ValueError(f"{name} has a character that can't be sent")
        found[name] = value
    return found
