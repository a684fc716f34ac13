"""People in files: the role of each e-mail address. An address without access gets an invitation. Pure.

Nobody belongs to a workspace, since people change themselves: leaving the files takes no access away. Needs `admin`,
and is compared only for files that name people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from storage.records.access import Role

PEOPLE: Final = "people"
_EMAIL: Final = re.compile(r"[^@\sA-Z]+@[^@\sA-Z]+")


class PersonTable(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A person with access, by e-mail address."""

    role: Role


class PersonKind(NamedTuple):
    """These tables as a kind, for the file reader."""

    id: str = PEOPLE
    noun: str = "person"
    table: type[Struct] = PersonTable

    @staticmethod
    def flaw_of_name(name: str) -> str:
        return "" if _EMAIL.fullmatch(name) else "write the person's e-mail address, in lower case"


KIND: Final = PersonKind()


class PersonStep(NamedTuple):
    """A role to give. before: the present one, "" for nobody. path: of the person, or of a waiting invitation."""

    email: str
    role: Role
    before: str = ""
    path: str = ""


def steps_of(wanted: Mapping[str, Role], there: Iterable[PersonStep]) -> Sequence[PersonStep]:
    known = {one.email: one for one in there}
    steps = (known.get(email, PersonStep(email, role))._replace(role=role) for email, role in wanted.items())
    return [step for step in steps if step.before != step.role]
