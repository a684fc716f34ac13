"""Every setting, in one frozen table without I/O.

`sanderling/environment.py` fills it from flags, `SANDERLING_*` and a TOML file, in that order. The reference page
`docs/settings.md` is generated from this table and a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any
from urllib.parse import unquote

from storage.records.member import ALL, WEB

Network = IPv4Network | IPv6Network
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # compared, not bound
_HOST = r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])"
_ORIGIN = re.compile(rf"https://{_HOST}(?!:443$)(?::[1-9][0-9]{{0,4}})?|http://{_HOST}(?!:80$)(?::[1-9][0-9]{{0,4}})?")

_WALL_TIMES, _WALL_GRACE = 10.0, 5.0
_NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OUR_HEADER = re.compile(r"(?i)host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|accept-encoding")
_BIND = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})", re.ASCII)


_BINDS = ("metrics_bind", "browser_proxy_listen", "browser_proxy_address")
_ADDRESS = re.compile(r"([a-z]+://)(?:([^/?#]*)@)?([^/?#]*)(.*)", re.DOTALL)
_HTTPS_ORIGIN = re.compile(r"https://[^/\s?#]+/?")
_CHOICES = {
    "log_level": ("debug", "info", "warning", "error"),
    "jail": ("wanted", "demanded"),
    "browser_sandbox": ("demanded", "wanted"),
    "mail_login": ("password", "token"),
    "sign_looks": ("off", "on"),
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """A setting's unit, bounds (both ends included) and explanation."""

    says: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    secret: bool = False


def _setting(default: Any, says: str, unit: str = "", low: float | None = None, high: float | None = None) -> Any:
    meta = {"meaning": Meaning(says, unit, low, high)}
    return field(default=default, metadata=meta)


def _address(says: str) -> Any:
    """Return a setting that may have a secret after its host."""
    return field(default="", repr=False, metadata={"meaning": Meaning(says)})


def _secret(says: str) -> Any:
    return field(default="", repr=False, metadata={"meaning": Meaning(says, secret=True)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, made by `sanderling.environment.load`, or directly in tests; both are validated."""

    host: str = _setting("127.0.0.1", "Address to listen on.")
    port: int = _setting(8080, "Port to listen on; 0 takes a free one.", "", 0, 65535)
    data: str = _setting("data", "Folder with all data of this instance.")
    heartbeat_url: str = _secret(
        "Address of an outside monitor that gets a GET while the service works; it reports when these stop."
    )
    heartbeat_every: float = _setting(60.0, "How often the monitor gets a request.", "s", 10, 86_400)
    heartbeat_event: float = _setting(
        0.0,
        "How often a signed heartbeat is written to the log, for alerts and streams that ask for it: 10 or more. "
        "0: never.",
        "s",
        0,
        86_400,
    )
    otlp_endpoint: str = _setting(
        "",
        "Address of a collector for traces (OpenTelemetry, OTLP/HTTP), for example http://127.0.0.1:4318. Empty: no "
        "traces.",
    )
    otlp_headers: str = _secret("Headers for the collector, as name=value,name=value.")
    otlp_sampling: float = _setting(1.0, "The share of traces to send; 0.01 is one check in a hundred.", "", 0, 1)
    replica: str = _setting(
        "",
        "Place of a current copy of the database for a standby: a folder on another or a mounted disk, or "
        "s3://bucket/prefix.",
    )
    replica_endpoint: str = _setting(
        "", "Address of the S3 server, for example https://minio.lan:9000. Empty: Amazon's."
    )
    replica_region: str = _setting("us-east-1", "Region of the bucket.")
    replica_credentials: str = _setting(
        "", "File with aws_access_key_id and aws_secret_access_key, one on a line, as in Amazon's credentials file."
    )
    storage_url: str = _secret(
        "The PostgreSQL database for all data, as postgresql://user@host/database; several nodes may share it. "
        "Empty: SQLite in the data folder."
    )
    storage_url_file: str = _setting("", "File with the storage_url, to keep its password out of the settings.")
    listen_url: str = _secret(
        "The server's direct address, if storage_url goes through a pooler such as PgBouncer: notices need it."
    )
    node_name: str = _setting("", "This node's name among several on one database; empty: the machine's name.")
    node_role: str = _setting(
        ALL, "The role of a node among several: all, or web, which serves requests and streams and watches nothing."
    )
    metrics_bind: str = _setting(
        "",
        "Serve /metrics at this address and port only, such as 127.0.0.1:9464. Empty: on the main port.",
    )
    base_url: str = _setting("", "The service's public address, as clients see it; empty: http(s)://host:port.")
    tls_cert: str = _setting("", "PEM file of the certificate chain for https; needs `tls_key`.")
    tls_key: str = _setting("", "PEM file of the certificate's private key, not encrypted.")
    tls_trust: str = _setting(
        "", "PEM file of authorities that requests to sources and receivers trust in addition to the public ones."
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (),
        "Proxies (CIDR, comma-separated) whose X-Forwarded-For or Forwarded header names the client; the service reads "
        "no other forwarded header.",
    )
    cors_origins: tuple[str, ...] = _setting(
        (), "Origins (comma-separated) whose pages may use the API from a browser, spelt as the browser sends them."
    )
    contact: str = _setting("", "How a site's owner reaches you: a URL or an address, named in the User-Agent.")

    sign_looks: str = _setting(
        "off",
        "Sign each check over https (Web Bot Auth), so that sites can verify the sender: on or off. It needs a "
        "base_url of https that sites can reach.",
    )

    allow_networks: tuple[str, ...] = _setting(
        (), "Private networks (CIDR, comma-separated) that sources and receivers may be in; none by default."
    )
    allow_watch_networks: tuple[str, ...] = _setting((), "The same, for watching only.")
    allow_deliver_networks: tuple[str, ...] = _setting((), "The same, for deliveries only.")
    hub_networks: tuple[str, ...] = _setting(
        (), "Private networks (CIDR, comma-separated) that callbacks of the hub may reach; allow_networks opens none."
    )

    cadence_floor: float = _setting(60.0, "Shortest time between two checks of a source.", "s", 1, 3600)
    cadence_ceiling: float = _setting(2700.0, "Longest time between two checks of a source.", "s", 60, 3600)
    cadence_evenness: float = _setting(
        0.6,
        "How checks are shared: 0 favours sources that change often, 1 treats all sources alike.",
        "",
        0,
        1,
    )
    looks_per_second: float = _setting(
        10.0, "Checks per second over all sources; if they need more, each waits longer.", "1/s", 0.01, 10_000
    )
    host_rate: float = _setting(1.0, "Requests per second to one host.", "1/s", 0.01, 1000)
    host_parallel: int = _setting(2, "Requests at once to one host.", "", 1, 100)
    look_timeout: float = _setting(30.0, "Longest time for one request, redirects included.", "s", 1, 300)
    body_limit: int = _setting(8 << 20, "Largest body to read, after decoding.", "B", 1 << 10, 64 << 20)
    looks_at_once: int = _setting(64, "Checks at once, over all sources.", "", 1, 10_000)
    follow_per_hour: int = _setting(
        60, "Pages of new items to fetch per hour for one source with `follow`; others wait.", "1/h", 1, 10_000
    )
    follow_all_per_hour: int = _setting(1000, "The same for all sources together.", "1/h", 1, 1_000_000)
    max_sources: int = _setting(100_000, "Most sources.", "", 1, 1_000_000)

    workers: int = _setting(2, "Worker processes that read feeds and pages.", "", 1, 64)
    worker_memory: int = _setting(768 << 20, "Address space of one worker.", "B", 128 << 20, 8 << 30)
    worker_idle: float = _setting(
        120.0,
        "Idle time after which the workers end; the next feed or page waits for a start.",
        "s",
        1,
        86_400,
    )
    parse_deadline: float = _setting(
        2.0, "Processor time for reading one feed or page; large feeds get more.", "s", 0.1, 60
    )

    jail: str = _setting(
        "wanted",
        "The kernel's sandbox for workers (Landlock, seccomp). `wanted`: without kernel support they run without it, "
        "with a warning; `demanded`: the service then refuses to start.",
    )

    browser: str = _address(
        "Browser for pages that are empty without their scripts: a path; empty for the first one found "
        "(chromium-headless-shell, chromium, google-chrome); unix: with the socket of a browser unit; off; or the "
        "address of a remote one, http://10.0.0.7:9222 or ws://10.0.0.7:9222/devtools/browser/..., shown only as host "
        "and port.",
    )
    browser_proxy_listen: str = _setting(
        "",
        "Address and port of the guarded proxy for a remote browser, for example 10.0.0.5:8082. Empty: 127.0.0.1 and a "
        "free port.",
    )
    browser_proxy_address: str = _setting(
        "", "The proxy's address as that browser reaches it, if different, for example sanderling:8082."
    )
    browser_sandbox: str = _setting(
        "demanded",
        "Chromium's own sandbox. `demanded`: no page is rendered without it; `wanted`: pages are then rendered without "
        "it, with a warning.",
    )
    browser_pages: int = _setting(0, "Pages to render at once; 0: three for each processor.", "", 0, 64)
    browser_ports: tuple[str, ...] = _setting(
        (), "Ports (comma-separated) that a rendered page may use besides 80, 443 and its own."
    )

    retention_days: float = _setting(90.0, "How long events are kept.", "d", 0.01, 36_500)
    retention_events: int = _setting(5_000_000, "Most events to keep.", "", 1000, 1_000_000_000)
    coverage_days: int = _setting(400, "How long the hourly record of each source's checks is kept.", "d", 1, 3_660)
    retention_bytes: int = _setting(
        0, "Largest size of the database without its free pages; 0 is unlimited.", "B", 0, 1 << 50
    )
    screenshot_days: float = _setting(30.0, "How long screenshots of rendered pages are kept.", "d", 0.01, 36_500)
    screenshot_bytes: int = _setting(
        1 << 30, "Largest total size of screenshots; the oldest go first.", "B", 0, 1 << 50
    )
    sweep: float = _setting(1800.0, "How often the lazily saved state of all sources is written.", "s", 10, 86_400)

    keepalive: float = _setting(15.0, "Time between keepalive comments on a silent stream.", "s", 1, 300)
    max_streams: int = _setting(10_000, "Most open streams.", "", 1, 100_000)
    address_connections: int = _setting(
        1_024,
        "Most open connections from one address (IPv6: its /64), not counting this machine and trusted proxies.",
        "",
        1,
        1_000_000,
    )
    key_streams: int = _setting(100, "Most open streams with one key.", "", 1, 100_000)
    send_timeout: float = _setting(30.0, "A client that reads nothing for this long is disconnected.", "s", 1, 300)
    request_limit: int = _setting(256 << 10, "Largest request body.", "B", 1 << 10, 16 << 20)
    drain: float = _setting(10.0, "Time for running requests to finish at a stop.", "s", 0, 120)

    templates: str = _setting("", "Folder of your own templates, TOML files that `sanderling templates check` reads.")
    language: str = _setting("en", "Default language of mails and messages, by its code, such as en or sv.")
    mail_server: str = _setting(
        "", "Outgoing mail server: smtps://host, smtp://host (STARTTLS) or, inside your network, smtp+plain://host."
    )
    mail_from: str = _setting("", "Sender address of mail; needed with mail_server.")
    mail_user: str = _setting("", "User name for the mail server; empty for none.")
    mail_password_file: str = _setting(
        "", "File with the password for the mail server, or the token; read again for each mail."
    )
    mail_login: str = _setting("password", "The content of the file: password, or token for OAuth 2 (XOAUTH2).")
    kinds: str = _setting(
        "", "Folder of your own kinds of destinations, TOML files that `sanderling kinds check` reads."
    )
    registry_base: str = _setting(
        "https://clinicaltrials.gov",
        "The trial registry of `clinical-trials-watch`: http or https, without a query.",
    )

    log_level: str = _setting("info", "Least severe log line that is written: debug, info, warning or error.")

    def __post_init__(self) -> None:
        """Validate all settings. Raises ValueError with a sentence that names the setting."""
        for item in fields(self):
            _check(item, getattr(self, item.name))
        if bool(self.tls_cert) != bool(self.tls_key):
            one, other = ("tls_cert", "tls_key") if self.tls_cert else ("tls_key", "tls_cert")
            raise ValueError(f"{one} is set and {other} is not: https needs both, http neither")
        if self.storage_url and self.storage_url_file:
            raise ValueError("storage_url and storage_url_file are both set: one is enough")
        if self.heartbeat_url and not self.heartbeat_url.startswith(("https://", "http://")):
            raise ValueError("heartbeat_url: write an address that begins with https:// or http://")
        if 0 < self.heartbeat_event < 10:
            raise ValueError(f"heartbeat_event = {self.heartbeat_event:g}: write 0, or 10 seconds or more")
        if self.otlp_endpoint and not self.otlp_endpoint.startswith(("https://", "http://")):
            raise ValueError("otlp_endpoint: write an address that begins with https:// or http://")
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
        if self.node_role not in (ALL, WEB):
            raise ValueError(f"node_role = {self.node_role!r}: write {ALL} or {WEB}")
        if self.node_role == WEB and not (self.storage_url or self.storage_url_file):
            raise ValueError("node_role is web and storage_url is not set: a node alone must watch its sources itself")
        if self.node_name and not _NODE.fullmatch(self.node_name):
            raise ValueError(f"node_name = {self.node_name!r}: write letters, digits, dots and hyphens, 63 at most")

    def watch_networks(self) -> tuple[Network, ...]:
        """Return the non-public networks that may be watched."""
        return tuple(ip_network(n) for n in (*self.allow_networks, *self.allow_watch_networks))

    def deliver_networks(self) -> tuple[Network, ...]:
        """Return the non-public networks that may be delivered to."""
        return tuple(ip_network(n) for n in (*self.allow_networks, *self.allow_deliver_networks))

    def callback_networks(self) -> tuple[Network, ...]:
        """Return the non-public networks that the hub's callbacks may reach."""
        return tuple(map(ip_network, self.hub_networks))

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
    found = item.metadata["meaning"]
    assert isinstance(found, Meaning) and item.default is not MISSING
    return found


def masked(settings: Settings, name: str) -> Any:
    value = getattr(settings, name)
    secret = next(meaning(item).secret for item in fields(Settings) if item.name == name)
    if name == "browser":
        return _masked_address(value)
    return "********" if secret and value else value


def _masked_address(value: str) -> str:
    """Return an address without its possible secrets: a path that controls a browser, a token, a password."""
    found = _ADDRESS.fullmatch(value)
    if found is None:
        return value
    more = found[2] is not None or found[4] not in ("", "/")
    return f"{found[1]}{found[3]}{'/...' if more else ''}"


def one_of(words: tuple[str, ...]) -> str:
    """Join words with commas and "or".

    >>> one_of(("debug", "info", "error"))
    'debug, info or error'
    """
    return " or ".join((", ".join(words[:-1]), words[-1]))


def _check(item: Field[Any], value: Any) -> None:
    says = meaning(item)
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
        raise ValueError(f"{item.name} = {value!r}: must be {one_of(_CHOICES[item.name])}")
    if item.name == "base_url" and value and not value.startswith(("http://", "https://")):
        raise ValueError(f"base_url = {value!r}: must start with http:// or https://")


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
