"""This service's key for push services: made once, when the first device needs it, and stored sealed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from actors.egress.failures import Blame, LookFailed
from actors.settings import Settings
from actors.world import World
from storage.records.key import PushKey
from storage.sql.storage import Storage

_ADDRESS = re.compile(r"[^\s@:/]+@[^\s@:/]+")


class Push(NamedTuple):
    """How to reach devices. contact: as in `vapid.py`."""

    key: Callable[[], Awaitable[PushKey]]
    contact: str


async def _nowhere() -> PushKey:
    raise LookFailed(Blame.LOCAL, "no key for push services can be kept here")


NO_PUSH = Push(_nowhere, "")


def push_of(world: World, storage: Storage, settings: Settings) -> Push:
    """Return a service's way to reach devices."""
    known: PushKey | None = None

    async def key() -> PushKey:
        nonlocal known
        if known is None:
            known = await storage.keys.push() or await _made(world, storage)
        return known

    return Push(key, contact_of(settings))


async def _made(world: World, storage: Storage) -> PushKey:
    """Make the key, unless another node does so at the same time; return the stored one."""
    from actors.destination_kinds.webpush import points  # noqa: PLC0415  (11 MB, only for devices)

    secret = points.drawn_secret(world.entropy(points.DRAWN))
    public = points.spelled(points.public_half(points.private_key(secret)))
    await storage.keys.add_first_push(PushKey(public, secret, world.now()))
    made = await storage.keys.push()
    assert made is not None
    return made


def contact_of(settings: Settings) -> str:
    """Return the owner's contact for push services, as in RFC 8292; "" without one in the settings.

    >>> contact_of(Settings(contact="anna@example.com")), contact_of(Settings(base_url="https://news.example.com"))
    ('mailto:anna@example.com', 'https://news.example.com')
    """
    for text in (settings.contact, settings.public_url()):
        if text.startswith(("https://", "mailto:")):
            return text
        if _ADDRESS.fullmatch(text):
            return f"mailto:{text}"
    return ""
