"""A browser's command line: disabled features, and its one way out. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

Kind = Literal["shell", "full"]

_QUIET: Final = (
    "--no-first-run", "--no-default-browser-check", "--no-pings", "--no-service-autorun", "--mute-audio",
    "--hide-scrollbars", "--disable-gpu", "--disable-sync", "--disable-extensions", "--disable-default-apps",
    "--disable-background-networking", "--disable-component-update", "--disable-client-side-phishing-detection",
    "--disable-domain-reliability", "--disable-breakpad", "--disable-crash-reporter",
    "--disable-search-engine-choice-screen", "--metrics-recording-only", "--password-store=basic",
    "--use-mock-keychain", "--ash-no-nudges", "--noerrdialogs", "--disk-cache-size=1048576",
    "--media-cache-size=1048576",
)  # fmt: skip
_WALLS: Final = (
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-features=WebTransport,DnsOverHttps,AsyncDns,NetworkTimeServiceQuerying,Translate,MediaRouter,"
    "DialMediaRouteProvider,OptimizationHints,InterestFeedContentSuggestions,AutofillServerCommunication,"
    "CertificateTransparencyComponentUpdater,"
    "SpareRendererForSitePerProcess",  # each page's context would start two more renderers that show nothing
    "--site-per-process",  # a context may have secrets; a whole browser does this by default, a shell only on request
    "--block-new-web-contents",
    "--deny-permission-prompts",
)
"""With a namespace these are the second wall, without one the only."""
_FRUGAL: Final = ("--js-flags=--max-old-space-size=384", "--disable-back-forward-cache", "--window-size=1280,1024")


def kind_of(path: str) -> Kind:
    """Return a program's kind: the shell, made without windows, or a whole browser.

    >>> kind_of("/usr/bin/chromium-headless-shell"), kind_of("/usr/bin/chromium")
    ('shell', 'full')
    """
    return "shell" if "headless-shell" in path.rpartition("/")[2] or "headless_shell" in path else "full"


def command_line(path: str, *, port: int, profile: str, sandbox: bool, shared_memory: bool) -> Sequence[str]:
    """port: of the proxy that refuses traffic of no page. sandbox: Chromium's. shared_memory: /dev/shm has space."""
    return [
        path,
        *(() if kind_of(path) == "shell" else ("--headless=new",)),
        *(() if sandbox else ("--no-sandbox",)),
        *(() if shared_memory else ("--disable-dev-shm-usage",)),
        "--remote-debugging-pipe",
        f"--proxy-server=http://127.0.0.1:{port}",
        *_WALLS,
        *_QUIET,
        *_FRUGAL,
        f"--user-data-dir={profile}",
        "about:blank",
    ]
