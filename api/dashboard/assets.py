"""The static files, each under a URL that names its content, so that a browser may keep it for ever."""

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
"""What programs ask for without having read a page, what a manifest names, and the worker, which is for the paths below
its own. It is kept for a day."""
A_DAY = "public, max-age=86400"


class Asset(NamedTuple):
    """A file: its URL, its type, its bytes."""

    url: str
    media: str
    body: bytes


@cache
def asset(name: str) -> Asset:
    """Return a static file by its name."""
    body = files("api.dashboard").joinpath("static", name).read_bytes()
    return Asset(f"{FOLDER}/{sha256(body).hexdigest()[:16]}/{name}", MEDIA[name], body)


def found(path: str) -> Asset | None:
    """Return the static file of a URL's path, None when there is none, or only another version of it."""
    name = path.rpartition("/")[2]
    return asset(name) if name in MEDIA and asset(name).url == path else None
