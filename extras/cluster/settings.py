"""The settings of several processes: the database, a node's role, the replica."""

from __future__ import annotations

from dataclasses import dataclass

from actors.settings import ExtraSettings, Settings, setting, stars
from storage.records.member import ALL, WEB


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings(ExtraSettings):
    """PostgreSQL, or SQLite with a replica."""

    replica: str = setting("")
    replica_endpoint: str = setting("")
    replica_region: str = setting("us-east-1")
    replica_credentials: str = setting("")
    storage_url: str = setting("", mask=stars)
    storage_url_file: str = setting("")
    listen_url: str = setting("", mask=stars)
    node_role: str = setting(ALL, choices=(ALL, WEB))

    def check(self, settings: Settings) -> None:
        if self.storage_url and self.storage_url_file:
            raise ValueError("storage_url and storage_url_file are both set: one is enough")
        if self.replica and self.elsewhere:
            raise ValueError("replica and storage_url are both set: PostgreSQL has its own standbys")
        if self.listen_url and not self.elsewhere:
            raise ValueError("listen_url is set and storage_url is not: SQLite in the data folder has no server")
        if self.node_role == WEB and not self.elsewhere:
            raise ValueError("node_role is web and storage_url is not set: a node alone must watch its sources itself")

    @property
    def elsewhere(self) -> bool:
        """Whether the data are in PostgreSQL."""
        return bool(self.storage_url or self.storage_url_file)
