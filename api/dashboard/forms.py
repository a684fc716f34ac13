"""Forms: from the bytes of a POST to a struct, or to errors for each field. Pure.

Fields are read separately, so all errors show at once, with the input. An empty field counts as missing: it gets its
default, or an error. A mapping field takes all names with its own name and a dot as prefix: `options.topic` is the
`topic` of `options`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, ClassVar, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec.inspect import DictType, type_info
from werkzeug.formparser import FormDataParser
from werkzeug.http import parse_options_header

from actors.language.sentences import translated
from actors.language.speaking import say
from api.problems import Refusal, in_words, invalid, plainly

F = TypeVar("F", bound="Form")
TOKEN = "token"  # noqa: S105 - the field's name
MOST_FIELDS = 2_000
Given = Mapping[str, Sequence[str | bytes]]


class Form(Struct, frozen=True, kw_only=True):
    """A form; without fields, a button. verbatim: fields to keep unstripped (passwords). unshown: fields it lacks."""

    verbatim: ClassVar[tuple[str, ...]] = ()
    unshown: ClassVar[tuple[str, ...]] = ()


class Confirm(Form, frozen=True):
    """The form of `ui.confirm`: the reader must type a word first."""

    confirm: str = ""

    def check(self, word: str, said: str = "") -> None:
        """Refuse the form unless the reader typed this word, or `said`, its translation. Raises InvalidForm."""
        if self.confirm not in {" ".join(each.split()) for each in (word, said or word)}:
            raise InvalidForm(confirm=say("To confirm, type: %(word)s", word=said or word))

    def check_deletion(self, count: int | None = None) -> None:
        """Refuse the form unless the reader typed "delete", in any case, and the number of several records."""
        more = "" if count is None else f" {count}"
        said = f"{say('delete')}{more}"
        if self.confirm.casefold() not in (f"delete{more}", said):
            raise InvalidForm(confirm=say("To confirm, type: %(word)s", word=said))


@dataclass(frozen=True, slots=True)
class Draft:
    """A form as typed, and its errors. says: the error of the whole form."""

    given: Given = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    says: str = ""

    def texts(self, name: str, otherwise: Sequence[str] = ()) -> tuple[str, ...]:
        values = self.given.get(name, ()) if self.given else otherwise
        return tuple(value for value in values if isinstance(value, str))

    def value(self, name: str, otherwise: object = "") -> str:
        if not self.given:
            return "" if otherwise is None else str(otherwise)
        return next((text for text in self.given.get(name, ()) if isinstance(text, str)), "")

    def holds(self, name: str, value: str, otherwise: bool = False) -> bool:
        return value in self.given.get(name, ()) if self.given else otherwise

    def error(self, name: str) -> str:
        return self.errors.get(name, "")

    @property
    def faulty(self) -> bool:
        return bool(self.errors or self.says)


EMPTY = Draft()


class InvalidForm(Exception):
    """A refused form. says: the error of the whole form; errors: those of fields, by name."""

    def __init__(self, says: str = "", **errors: str) -> None:
        super().__init__(says or next(iter(errors.values()), ""))
        self.says, self.errors = says, errors


def fields_of(raw: bytes, content_type: str) -> dict[str, list[str | bytes]]:
    """Return the fields of a form, files as bytes. Raises Refusal (400, 415)."""
    media, options = parse_options_header(content_type)
    pairs: Sequence[tuple[str, str | bytes]]
    if media == "application/x-www-form-urlencoded":
        pairs = _urlencoded(raw)
    elif media == "multipart/form-data":
        pairs = _multipart(raw, media, options)
    else:
        raise Refusal("unsupported-media-type", say("Send a form."))
    found: dict[str, list[str | bytes]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value.replace("\r\n", "\n") if isinstance(value, str) else value)
    return found


def _urlencoded(raw: bytes) -> Sequence[tuple[str, str]]:
    try:
        return parse_qsl(raw.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:
        raise invalid("form", f"must be percent-encoded UTF-8 with at most {MOST_FIELDS} fields") from None


def _multipart(raw: bytes, media: str, options: dict[str, str]) -> Sequence[tuple[str, str | bytes]]:
    parser = FormDataParser(stream_factory=lambda *_, **__: BytesIO(), max_form_parts=MOST_FIELDS, silent=False)
    try:
        _, texts, files = parser.parse(BytesIO(raw), media, len(raw), options)
    except ValueError:
        raise invalid("form", "cannot be read") from None
    chosen = [(name, file.stream.read()) for name, file in files.items(multi=True) if file.filename]
    return [*texts.items(multi=True), *chosen]


def read_form(given: Given, kind: type[F]) -> F:
    """Return the form's struct. Raises InvalidForm with the errors of all fields."""
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    known = [part for part in msgspec.structs.fields(kind) if part.name not in kind.unshown]
    families = {part.encode_name: part for part in known if isinstance(type_info(part.type), DictType)}
    for part in known:
        if part.encode_name in families:
            values[part.name] = _members(part.encode_name, given)
            continue
        raw, verbatim = given.get(part.encode_name, ()), part.name in kind.verbatim
        texts = [t for text in raw if (t := text if verbatim or isinstance(text, bytes) else text.strip())]
        if not texts:
            if part.default is NODEFAULT and part.default_factory is NODEFAULT:
                errors[part.name] = say("Fill in this field.")
            continue
        many = _is_list(part.type)
        try:
            values[part.name] = msgspec.convert(texts if many else texts[0], part.type, strict=False)
        except msgspec.ValidationError as error:
            errors[part.name] = translated(plainly(str(error)))
    names = {TOKEN, *(part.encode_name for part in known)} - families.keys()
    if unknown := [name for name in given if name not in names and name.partition(".")[0] not in families]:
        raise InvalidForm(say("The form has no field %(name)s.", name=repr(unknown[0][:60])), **errors)
    if errors:
        raise InvalidForm(**errors)
    return kind(**values)


def _members(family: str, given: Given) -> dict[str, str]:
    pairs = ((name.removeprefix(f"{family}."), texts) for name, texts in given.items() if name.startswith(f"{family}."))
    return {name: text.strip() for name, texts in pairs for text in texts[:1] if isinstance(text, str) and text.strip()}


def draft_of(form: Form) -> Draft:
    given: dict[str, list[str]] = {}
    for name in form.__struct_fields__:
        value = getattr(form, name)
        if isinstance(value, dict):
            given |= {f"{name}.{part}": [text] for part, text in value.items()}
        else:
            given[name] = list(value) if isinstance(value, tuple) else ["" if value is None else str(value)]
    return Draft(given)


def wrong_of(refusal: Refusal) -> InvalidForm:
    errors = {}
    for error in refusal.errors:
        if error.location.startswith("body."):
            name = error.location.removeprefix("body.").partition("[")[0]
            name = name if name.startswith("options.") else name.partition(".")[0]
            errors[name] = translated(in_words(error.message))
    return InvalidForm("" if errors else translated(in_words(refusal.detail)), **errors)


def _is_list(kind: Any) -> bool:
    info = type_info(kind)
    while isinstance(info, msgspec.inspect.Metadata):
        info = info.type
    return isinstance(info, msgspec.inspect.VarTupleType | msgspec.inspect.ListType)
