"""No template, and no code of the dashboard, can turn data into markup."""

from __future__ import annotations

import ast
import re

from api.dashboard.rendering import asset
from tests.rules.source_files import ROOT, modules, name_of, names_used, tree_of

TEMPLATES = sorted(path for room in ("api/dashboard", "extras") for path in (ROOT / room).rglob("*.html"))
UNSAFE = re.compile(r"\|\s*safe\b|\bautoescape\b|\bMarkup\b|\|\s*xmlattr\b|\|\s*tojson\b|\|\s*urlize\b")
INLINE = re.compile(
    r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:|<(iframe|object|embed|base)\b", re.I
)
OUTSIDE = re.compile(r"(?:href|src|action)=[\"']?(?:https?:)?//", re.IGNORECASE)
BARE = re.compile(r"\s[\w-]+=\{[{%]")


def test_no_template_switches_escaping_off_or_holds_anything_inline() -> None:
    texts = {name_of(path): re.sub(r"{#.*?#}", "", path.read_text("utf-8"), flags=re.S) for path in TEMPLATES}
    found = [
        f"{name}: {match[0]}"
        for name, text in texts.items()
        for pattern in (UNSAFE, INLINE, OUTSIDE, BARE)
        for match in pattern.finditer(text)
    ]
    assert len(texts) > 50 and found == []


def test_a_web_address_becomes_a_link_in_one_place_only() -> None:
    """`ui.link` accepts only http and https; elsewhere a URL could be `javascript:`."""
    found = [
        f"{name_of(path)}: {link}"
        for path in TEMPLATES
        for link in re.findall(r"(?:href|src|action)=\"(\{\{[^}]*\}\})", path.read_text("utf-8"))
        if "url" in link.lower() and "urlencode" not in link
    ]
    assert found == ["api/dashboard/templates/ui.html: {{ web(url) }}"]


def test_no_module_of_the_dashboard_makes_markup() -> None:
    used = [
        f"{name_of(path)}:{line}: {used}"
        for path in modules("api/dashboard", "extras")
        for line, used in names_used(tree_of(path))
        if used.startswith("markupsafe") or used.endswith(("render_template_string", "from_string"))
    ]
    assert used == []
    tree = tree_of(ROOT / "api" / "dashboard" / "rendering.py")
    made = [call for call in ast.walk(tree) if isinstance(call, ast.Call) and ast.unparse(call.func) == "Environment"]
    (words,) = [{word.arg: ast.unparse(word.value) for word in call.keywords} for call in made]
    assert words["autoescape"] == "True" and words["undefined"] == "StrictUndefined"


def test_the_module_makes_html_in_one_place_and_no_code_of_text() -> None:
    script = "".join(asset(name).body.decode() for name in ("dashboard.js", "live.js", "service-worker.js"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", script)
    assert script.count("parseFromString") == 1
    assert not re.search(r"https?://", script)


def test_the_static_files_are_small() -> None:
    assert len(asset("style.css").body) < 26_000
    assert sum(len(asset(name).body) for name in ("dashboard.js", "live.js", "service-worker.js")) < 40_000
    assert b"@import" not in asset("style.css").body and b"url(" not in asset("style.css").body


def test_every_class_of_the_sheet_is_used() -> None:
    """Quoted in a template, a script or a page's code; `in1` to `in3` are made from a number."""
    sheet = re.sub(r"/\*.*?\*/", "", asset("style.css").body.decode(), flags=re.S)
    named = {name for selector in re.findall(r"([^{}]*)\{", sheet) for name in re.findall(r"\.([a-z][\w-]*)", selector)}
    folders = [ROOT / "api" / "dashboard", ROOT / "extras", ROOT / "storage" / "records"]
    files = [path for folder in folders for ending in ("html", "js", "py") for path in folder.rglob(f"*.{ending}")]
    quoted = re.findall(r"\"[^\"\n]*\"", "\n".join(path.read_text("utf-8") for path in files))
    used = {word for text in quoted for word in re.findall(r"[a-z][\w-]*", text)}
    assert len(named) > 100 and sorted(named - used - {"in1", "in2", "in3"}) == []
