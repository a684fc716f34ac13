"""The keys in PostgreSQL for commands, with or without running services."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from storage.errors import NoKey
from storage.postgres.engine.connection import PostgresConnection, connect, translated
from storage.postgres.engine.steps import STEPS, all_steps, lock_of, upgrade
from storage.records.key import ApiKey, PublicKey, SigningKey
from storage.records.session import Password, SetUpLink
from storage.secrets.mark import mark, opens_mark, read_mark
from storage.secrets.vault import Vault
from storage.sql.stores.keys import (
    all_keys,
    all_public,
    all_signing,
    delete_key,
    forget_public,
    insert_key,
    insert_signing,
)
from storage.sql.stores.people import insert_link, read_password

T = TypeVar("T")
OTHER = "the master key that was named does not open the secrets of this database"


class PostgresKeys:
    """See `storage.interface.command_keys.CommandKeys`. Each call is a transaction."""

    def __init__(self, connection: PostgresConnection, vault: Vault) -> None:
        self._connection, self._vault = connection, vault

    def add(self, key: ApiKey) -> None:
        self._run(lambda connection: insert_key(connection, key))

    def all(self) -> Sequence[ApiKey]:
        return self._run(all_keys)

    def revoke(self, key_id: str) -> bool:
        return self._run(lambda connection: delete_key(connection, key_id))

    def signing(self) -> Sequence[SigningKey]:
        return self._run(lambda connection: all_signing(connection, self._vault))

    def public(self) -> Sequence[PublicKey]:
        return self._run(all_public)

    def forget_public(self, key_id: str) -> bool:
        return self._run(lambda connection: forget_public(connection, key_id))

    def add_signing(self, key: SigningKey) -> None:
        def add(connection: PostgresConnection) -> None:
            connection.run(
                "LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE"
            )  # else two at once would both be active
            insert_signing(connection, key, self._vault)

        self._run(add)

    def password(self) -> Password | None:
        return self._run(read_password)

    def offer(self, link: SetUpLink) -> None:
        self._run(lambda connection: insert_link(connection, link))

    def _run(self, act: Callable[[PostgresConnection], T]) -> T:
        with translated():
            self._connection.run("BEGIN")
            try:
                found = act(self._connection)
            except BaseException:
                self._connection.run("ROLLBACK")
                raise
            self._connection.commit()
            return found


@contextmanager
def open_postgres_keys(url: str, vault: Vault) -> Iterator[PostgresKeys]:
    """Open the keys; create missing tables. Raises NoKey, NewerSchema, Unavailable."""
    connection = connect(url)
    try:
        with translated():
            upgrade(connection, all_steps())
            connection.run(f"BEGIN; {lock_of(STEPS)}")
            there = read_mark(connection)
            if there is None:
                mark(connection, vault)
            elif not opens_mark(vault, there):
                raise NoKey(OTHER)
            connection.commit()
        yield PostgresKeys(connection, vault)
    finally:
        connection.close()
