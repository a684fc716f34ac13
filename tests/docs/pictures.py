"""The pictures of the manual and the files they show; `make pictures` takes new ones and stores their digests."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from tests.rules.source_files import ROOT

FOLDER: Final = ROOT / "docs/pictures"
NOTED: Final = FOLDER / "made-from.txt"
_FRAME: Final = (
    "api/dashboard/static/style.css",
    *(f"api/dashboard/templates/{name}.html" for name in ("bare", "page", "ui")),
)
SHOWS: Final = {
    "today.webp": (*_FRAME, "api/dashboard/templates/today.html", "api/dashboard/rendering.py"),
    "event.webp": (*_FRAME, "api/dashboard/templates/events/one.html"),
    "alert.webp": (*_FRAME, *(f"api/dashboard/templates/alerts/{name}.html" for name in ("form", "start", "parts"))),
    "start.webp": (*_FRAME, *(f"api/dashboard/templates/{name}.html" for name in ("sources/look", "alerts/start"))),
    "cards.webp": (
        "actors/notification/headline.py",
        *(f"actors/destination_kinds/messengers/files/{kind}.toml" for kind in ("discord", "slack", "teams")),
    ),
}
"""Files by picture."""


def digest(picture: str) -> str:
    """Return a digest of the files that a picture shows."""
    return sha256(b"".join((ROOT / name).read_bytes() for name in SHOWS[picture])).hexdigest()[:16]


def noted() -> dict[str, str]:
    """Return the digests of the files when the pictures were taken."""
    return dict(line.split() for line in NOTED.read_text("utf-8").splitlines())


if __name__ == "__main__":
    NOTED.write_text("".join(f"{name} {digest(name)}\n" for name in SHOWS), "utf-8")
