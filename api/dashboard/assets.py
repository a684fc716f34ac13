"""The static files, each at a URL with its content's hash, so that browsers may cache it forever."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

FOLDER = "/assets"
FOR_EVER = "public, max-age=31536000, immutable"
MEDIA = {
    "style.css": "text/css; charset=utf-8",
    "dashboard.js": "text/javascript; charset=utf-8",
    "live.js": "text/javascript; charset=utf-8",
    "service-worker.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "touch-icon.png": "image/png",
    "favicon.ico": "image/x-icon",
    "manifest.webmanifest": "application/manifest+json",
}
BY_NAME = ("/favicon.ico", "/manifest.webmanifest", "/icon.svg", "/touch-icon.png", "/service-worker.js")
"""Files with fixed names: those that programs request unasked, those of the manifest, and the service worker, which
serves only paths below its own. Cached for a day.
"""
A_DAY = "public, max-age=86400"


class Asset(NamedTuple):
    """A static file."""

    url: str
    media: str
    body: bytes


@cache
def asset(name: str) -> Asset:
    body = files("api.dashboard").joinpath("static", name).read_bytes()
    return Asset(f"{FOLDER}/{sha256(body).hexdigest()[:16]}/{name}", MEDIA[name], body)


def found(path: str) -> Asset | None:
    """Return the static file at a URL's path, or None, also for an outdated hash."""
    name = path.rpartition("/")[2]
    return asset(name) if name in MEDIA and asset(name).url == path else None
