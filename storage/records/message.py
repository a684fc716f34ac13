"""A message for people: its English template, which is its id in the catalogues of translations, and its values. Pure.

As in gettext, the template is written once, where the message is made, and each face words the message in its reader's
language (`actors.language.sentences`). `str` words it in English, for the API, the log and older readers of records.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias, Union

from msgspec import Struct

from storage.records.identity import Millis, spoken

Value: TypeAlias = Union[str, int, "Message"]
_PLACE: Final = re.compile(r"%(?:\((\w+)\)s|%)")
OURS: Final = frozenset({"at", "reason", "rest"})
"""Names of values that a face words: times, and sentences of ours that are still plain text."""


class Message(Struct, frozen=True, array_like=True, omit_defaults=True):
    """A template with `%(name)s` for each value; one without values is taken as it is.

    A value named `at` is a time.
    """

    id: str
    values: dict[str, Value] = {}

    def __str__(self) -> str:
        if not self.values:
            return self.id
        return filled(self.id, {name: in_english(name, value) for name, value in self.values.items()})


def filled(template: str, values: Mapping[str, str]) -> str:
    """Fill in a template. Unlike `%`, it fails for none: a record may be of another version, or from a file.

    >>> filled("%(count)s of %(all)s, 5 %%", {"count": "3"})
    '3 of %(all)s, 5 %'
    """
    return _PLACE.sub(lambda found: values.get(found[1], found[0]) if found[1] else "%", template)


def in_english(name: str, value: Value) -> str:
    return spoken(Millis(value)) if name == "at" and isinstance(value, int) else str(value)


def message(template: str, /, **values: Value) -> Message:
    """Return a message. The template is a literal: the tests gather these for the catalogues.

    >>> str(message("%(count)s checks failed: %(reason)s", count=3, reason=message("no answer")))
    '3 checks failed: no answer'
    """
    return Message(template, values)


def joined(parts: Iterable[Message | str | None], between: str = " ") -> Message:
    """Return several messages as one, without the empty ones.

    >>> str(joined([message("One."), None, message("Two.")]))
    'One. Two.'
    """
    found = [part if isinstance(part, Message) else Message(part) for part in parts if part]
    if len(found) == 1:
        return found[0]
    values: dict[str, Value] = {str(at): one for at, one in enumerate(found)}
    return Message(between.join(f"%({at})s" for at in values), values)
