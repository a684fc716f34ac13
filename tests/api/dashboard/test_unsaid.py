"""Finds text in templates and dashboard modules that bypasses `say` or `{% trans %}`, without opening a page."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jinja2 import Environment, nodes

from api.dashboard.rendering import environment
from tests.rules.source_files import ROOT

HOME = ROOT / "api/dashboard"
EXTRAS = {file.parent for file in (ROOT / "extras").glob("*/templates")} - {ROOT / "extras/reference"}  # in English
TEMPLATES = sorted(file for home in (HOME, *EXTRAS) for file in (home / "templates").rglob("*.html"))
MODULES = sorted(
    file
    for file in (*HOME.rglob("*.py"), *(file for home in EXTRAS for file in home.rglob("*.py")))
    if file.name != "common_words.py" and (HOME in file.parents or "SCREENS" in file.read_text("utf-8"))
)
SAYS = frozenset({"say", "say_many", "message", "say_as", "noted", "noted_as", "translated", "gettext", "ngettext"})
QUIET = frozenset({"ValueError", "log", "compile"})
OF_THE_LOG = (
    "ID token: ",
    "no sign-in of this browser has this state",
    "its state has been used",
    "answered by ",
    "the issuer answered ",
    "the last owner ",
    " has lost the role",
    " has no group with a role",
    "no role for the subject ",
    "the e-mail address of ",
    " is taken",
)
"""Reasons of refused sign-ins; the page tells strangers none of them."""
UNSAID = frozenset(
    {
        "notifying/alerts.py: matches of alerts",  # names of limits
        "sessions.py: sign-in browser ",
        "sessions.py: sign-in of strangers",
        "extras/inbox/screens.py: test inbox",  # stored names
        "extras/practice/screens.py: First steps",
        "notifying/deliveries.py: no answer",  # patterns, in `language/patterns.txt`
        "extras/publish/screens.py: new address",
        "stream.py: no source is called “",
        "stream.py:  sources fit; type more of a name, or filter by a tag",
        "stream.py: at most ",
        "stream.py: more than ",
        "stream.py: not the id of an event",
        "forms.py: must be percent-encoded UTF-8 with at most ",  # no real browser sends this
        "forms.py: cannot be read",
        "face.py: Sign in first.\n",  # for a script
        "lists.py: there are no views of this list",
        "screen.py: <Undos of ",
        "account/settings.py: Mac OS",
        "extras/people/signing_in.py: code of ",  # the name of a limit
        *(f"extras/people/oidc/screens.py: {text}" for text in OF_THE_LOG),
        "screen.py: the dashboard",  # the author, as records store it
    }
)
"""Texts that are translated elsewhere or that no page shows."""
HELP = (
    'Write say("..."), say_many(...) or noted("...") around it (a template: {{{{ say("...") }}}}, {{% trans %}}); then '
    "run `make languages` and give it its Swedish. docs/languages.md tells it all. It is {}"
)
PHRASE = re.compile(r"[A-Za-z’']{2,} [A-Za-z]{2,}")
WORD = re.compile(r"[A-Za-z]{2,}")
TAG = re.compile(r"<[^<>]*(?:>|$)|^[^<>]*>")
UNITS = frozenset({"ms", "KiB", "HTTP", "POST", "Sanderling", "warn"})


def named(file: Path) -> str:
    return file.relative_to(HOME if HOME in file.parents else ROOT).as_posix()


@pytest.mark.parametrize("file", MODULES, ids=named)
def test_a_module_says_its_texts(file: Path) -> None:
    found = [text for text in _texts(ast.parse(file.read_text("utf-8"))) if PHRASE.search(text)]
    unsaid = [text for text in found if f"{named(file)}: {text}" not in UNSAID and not text.startswith("default-src")]
    assert not unsaid, HELP.format(unsaid)


def _texts(tree: ast.AST) -> Iterator[str]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.Expr | ast.Assert) and not isinstance(
            getattr(child, "value", None), ast.Call | ast.Await
        ):
            continue  # a docstring
        if isinstance(child, ast.Call) and _name(child.func) in SAYS | QUIET:
            continue
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        yield from _texts(child)


def _name(function: ast.expr) -> str:
    return getattr(function, "id", getattr(function, "attr", ""))


@pytest.mark.parametrize("file", TEMPLATES, ids=named)
def test_a_template_says_its_texts(file: Path) -> None:
    assert not (unsaid := plain(environment(), file.read_text("utf-8"))), HELP.format(unsaid)


def plain(made: Environment, source: str) -> list[str]:
    """Return a template's text outside of tags, and the phrases in its expressions."""
    tree = made.parse(source)
    said = {
        id(one) for call in tree.find_all(nodes.Call) if _called(call) in SAYS for one in call.find_all(nodes.Const)
    }
    phrases = [one.value for one in tree.find_all(nodes.Const) if isinstance(one.value, str) and id(one) not in said]
    data = [
        one.data
        for output in tree.find_all(nodes.Output)
        for one in output.nodes
        if isinstance(one, nodes.TemplateData)
    ]
    texts = [" ".join(TAG.sub(" ", re.sub(r"&\w+;", "", one)).split()) for one in data]
    bare = [text for text in texts if not set("=/") & set(text) and set(WORD.findall(text)) - UNITS]
    return [one for one in phrases if _reads(one)] + [text for text in bare if text not in _ATTRIBUTES]


_ATTRIBUTES = frozenset({"checked", "selected", "open", "required", "autofocus", "disabled", "data-now"})
_WRITTEN = re.compile(r"[<>=$]|^curl|OR |^\|")


def _called(call: nodes.Call) -> str:
    return getattr(call.node, "name", "")


def _reads(text: str) -> bool:
    """Return whether a text reads like a sentence, not like an example, a class or a command."""
    return bool(re.match(r"[A-Z(✓]", text) and PHRASE.search(text)) and not _WRITTEN.search(text)


def test_untranslated_text_is_found() -> None:
    source = '<p class="card">Paused.</p>{{ ui.empty("Nothing is here", say("Nothing at all")) }}<i>{{ say("Go") }}</i>'
    assert plain(environment(), source) == ["Nothing is here", "Paused."]
    module = '"""Doc of it."""\nx = say("All is well")\ny = Go("/", f"Not {x} at all")'
    assert [*_texts(ast.parse(module))] == ["/", "Not ", " at all"]
