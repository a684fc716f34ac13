"""Prints the Python client's generated files."""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterable, Iterator

from clients.generate.model import Api, Field, Operation, Record, Type, pascal, plural, snake

HEAD = '''"""{says}

Generated from the description of the API (`make clients`); edits are lost.
"""

from __future__ import annotations

'''
_PLAIN = {"text": "str", "int": "int", "float": "float", "bool": "bool", "null": "None", "any": "Any"}
WIDTH = 116


def records(api: Api) -> str:
    """Return `records.py`."""
    head = HEAD.format(says="The records of the API: what is sent in requests, and what is answered.")
    head += "from typing import Any, Literal\n\nfrom msgspec import UNSET, Struct, UnsetType, field\n\n\n"
    return head + "\n\n".join(_record(one) for one in api.records)


def refusals(api: Api) -> str:
    """Return `refusals.py`."""
    head = HEAD.format(says="The kinds of problems, a class each, by the end of their `type`.")
    text = head + "from sanderling_client.problems import ProblemError\n"
    for one in api.refusals:
        text += f'\n\nclass {pascal(one.slug)}(ProblemError):\n    """{one.title} ({one.status})."""\n'
    rows = "".join(f'    "{one.slug}": {pascal(one.slug)},\n' for one in api.refusals)
    return f"{text}\n\nREFUSALS: dict[str, type[ProblemError]] = {{\n{rows}}}\n"


def operations(api: Api) -> str:
    """Return `operations.py`."""
    head = HEAD.format(says="The operations of the API as methods: `Operations` blocks, `AsyncOperations` is awaited.")
    head += "from typing import Any, Literal\n\nfrom sanderling_client import records as r\n"
    head += "from sanderling_client.calling import Asks, AsyncAsks, Page, part\n\n"
    sync = ['class Operations(Asks):\n    """Every operation, one call each."""\n']
    later = ['class AsyncOperations(AsyncAsks):\n    """Every operation, one awaited call each."""\n']
    for one in api.operations:
        sync.append(_method(one, ""))
        later.append(_method(one, "async "))
    return head + "\n" + "\n".join(sync) + "\n\n" + "\n".join(later)


def _record(record: Record) -> str:
    lines = [f"class {record.name}(Struct, frozen=True, kw_only=True):", *_doc(record.says or record.name), ""]
    for one in record.fields:
        lines.append(f"    {_name(one.name)}: {_field(one, record.asked)}")
        if one.says:
            lines += _doc(one.says)
    return "\n".join(lines) + "\n"


def _field(one: Field, asked: bool) -> str:
    """Return the annotation of a field and its default. What is absent is UNSET in requests, None in answers."""
    written = _type(one.type, closed=asked)
    renamed = _name(one.name) != one.name
    if one.required:
        return written + (f' = field(name="{one.name}")' if renamed else "")
    nothing = "UNSET" if asked else "None"
    also = "UnsetType" if asked else "None"
    wanted = _either([*written.split(" | "), also])
    default = f'field(default={nothing}, name="{one.name}")' if renamed else nothing
    return f"{wanted} = {default}"


def _type(one: Type, prefix: str = "", *, closed: bool = True) -> str:
    """Return a type. closed: a set of words is what may be sent; what comes may be a word of a later version."""
    inner = [_type(part, prefix, closed=closed) for part in one.of]
    match one.kind:
        case "record":
            return prefix + one.words[0]
        case "words":
            return f"Literal[{', '.join(repr(word) for word in one.words)}]".replace("'", '"') if closed else "str"
        case "list":
            return f"list[{inner[0]}]"
        case "row":
            return f"tuple[{', '.join(inner)}]"
        case "map":
            return f"dict[str, {inner[0]}]"
        case "union":
            return _either(inner)
        case _:
            return _PLAIN[one.kind]


def _either(types: Iterable[str]) -> str:
    """Return a union, None last."""
    different = dict.fromkeys(types)
    return " | ".join(sorted(different, key=lambda one: one == "None"))


def _method(one: Operation, word: str) -> str:
    wait = "await " if word else ""
    given, gives = list(_given(one)), _gives(one)
    lines = [f"    {word}def {snake(one.name)}(", "        self,", *(f"        {line}," for line in given)]
    lines += [f"    ) -> {gives}:", *_doc(one.says, indent=8)]
    call = f"        {wait}self._ask(" if gives == "None" else f"        found: {gives} = {wait}self._ask("
    lines += [call, *(f"            {sent}," for sent in _sends(one)), "        )"]
    return "\n".join([*lines, *(["        return found"] if gives != "None" else ())]) + "\n"


def _given(one: Operation) -> Iterator[str]:
    """Yield the parameters of a method."""
    for place in one.place:
        yield f"{_name(place.name)}: str"
    if one.body:
        yield "body: " + " | ".join(_type(kind, "r.") for kind in one.body)
    optional = (*one.query, *one.headers)
    if optional:
        yield "*"
    for each in optional:
        kind = _type(each.type) if each.required else _either([*_type(each.type).split(" | "), "None"])
        yield f"{_argument(each)}: {kind}" + ("" if each.required else " = None")


def _gives(one: Operation) -> str:
    if not one.answers:
        return "None"
    item = plural(one.answers)
    if item is not None and one.paged:
        return f"Page[{_type(item, 'r.', closed=False)}]"
    if not one.media.endswith("json"):
        return "str"
    return " | ".join(_type(kind, "r.", closed=False) for kind in one.answers)


def _sends(one: Operation) -> Iterator[str]:
    """Yield the arguments of the call."""
    path = one.path
    for place in one.place:
        more = ', "/"' if place.name == "path" else ""  # slashes of a part's path stand as they are
        path = path.replace(f"{{{place.name}}}", f"{{part({_name(place.name)}{more})}}")
    quote = "'" if '"/"' in path else '"'
    yield f'"{one.method}"'
    yield f"{'f' if one.place else ''}{quote}{path}{quote}"
    item = plural(one.answers)
    if item is not None and one.paged:
        yield f"({_type(item, 'r.', closed=False)},)"
        yield "paged=True"
    elif one.answers and one.media.endswith("json"):
        listed = ", ".join(_type(kind, "r.", closed=False) for kind in one.answers)
        yield f"({listed})" if len(one.answers) > 1 else f"({listed},)"
    elif one.answers:
        yield "(str,)"
    if one.body:
        yield "body=body"
    for name, fields in (("query", one.query), ("headers", one.headers)):
        if fields:
            yield f"{name}={{" + ", ".join(f'"{each.name}": {_argument(each)}' for each in fields) + "}"


def _argument(one: Field) -> str:
    return _name(snake(one.name))


def _name(wire: str) -> str:
    name = wire.removeprefix("$")
    return f"{name}_" if keyword.iskeyword(name) else name


def _doc(says: str, indent: int = 4) -> list[str]:
    """Return a docstring as lines."""
    space = " " * indent
    text = says.replace("\\", "\\\\").replace('"""', "'''")
    raw = textwrap.wrap(text, WIDTH - indent - 3, break_long_words=False, break_on_hyphens=False)
    if len(raw) == 1:
        return [f'{space}"""{raw[0]}{" " * text.endswith(chr(34))}"""']
    return [f'{space}"""{raw[0]}', *(space + line for line in raw[1:]), f'{space}"""']
