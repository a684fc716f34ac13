"""Read a datastore's JSON files out of a zip. Pure: nothing is unpacked to disk, other members are not read.

The forms: `url-watches.json` has everything; from 0.53 on there are `changedetection.json` (settings), and one folder
per `watch.json` or `tag.json`.
"""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Mapping
from typing import Any, Final

from extras.migrate.fields import mapping
from extras.migrate.plan import NotReadable
from extras.migrate.recognising import decoded

MOST_MEMBERS: Final = 500_000
LARGEST: Final = 64 * 1024 * 1024
"""Maximum bytes of all read members, unpacked."""
WANTED = re.compile(r"(?:^|/)(?:([^/]+)/)?(url-watches\.json|changedetection\.json|watch\.json|tag\.json)$")
_OLD, _NEW = "url-watches.json", "changedetection.json"
_BROKEN = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, RuntimeError, ValueError)
"""RuntimeError: encrypted, or an unusual compression. ValueError: inconsistent headers."""


def out_of_zip(data: bytes) -> dict[str, bytes]:
    """Return the relevant files by name. Raises NotReadable, also if they exceed the limits."""
    found, size = {}, 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise NotReadable(f"The zip has {len(members)} files; at most {MOST_MEMBERS} are looked at.")
            for member in members:
                if not WANTED.search(member.filename):
                    continue
                with archive.open(member) as stream:
                    found[member.filename] = stream.read(LARGEST - size + 1)
                size += len(found[member.filename])
                if size > LARGEST:
                    raise NotReadable(f"Unpacked, its JSON is larger than {LARGEST >> 20} MiB.")
    except _BROKEN as error:
        raise NotReadable(f"The zip can't be read: {error}.") from None
    return found


class Datastore:
    """All watches and tags by id, and the application's settings."""

    def __init__(self) -> None:
        self.watches: dict[str, Mapping[str, Any]] = {}
        self.tags: dict[str, Mapping[str, Any]] = {}
        self.application: Mapping[str, Any] = {}
        self.headers: Mapping[str, Any] = {}

    def take(self, name: str, value: Any) -> None:
        where = WANTED.search(name)
        owner, file = (where[1] or "", where[2]) if where else ("", _OLD)
        if file == "watch.json":
            self.watches[owner] = mapping(value)
        elif file == "tag.json":
            self.tags[owner] = mapping(value)
        else:
            self._take_all(mapping(value))

    def _take_all(self, value: Mapping[str, Any]) -> None:
        settings = mapping(value.get("settings"))
        self.application = mapping(settings.get("application"))
        self.headers = mapping(settings.get("headers"))
        for owner, tag in mapping(self.application.get("tags")).items():
            self.tags.setdefault(owner, mapping(tag))
        for owner, watch in mapping(value.get("watching")).items():
            self.watches.setdefault(owner, mapping(watch))


def datastore(data: bytes) -> Datastore:
    """Parse a zip or a single JSON file. Raises NotReadable."""
    files = out_of_zip(data) if data.startswith(b"PK") else {_OLD: data}
    if not files:
        raise NotReadable("There is neither a url-watches.json in it nor a watch.json.")
    store = Datastore()
    moved = any(name.endswith(_NEW) for name in files)
    for name, content in files.items():
        if moved and name.endswith(_OLD):
            continue  # leftover of an upgrade: it contains watches deleted since
        try:
            value = decoded(content)
        except NotReadable as error:
            raise NotReadable(f"{name}: {error}") from None
        one = isinstance(value, dict) and "url" in value and "watching" not in value
        store.take("one/watch.json" if one and name == _OLD else name, value)
    return store
