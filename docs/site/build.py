"""Builds the site in build/site from the pages of docs/ and those that the program writes. `make docs` calls it.

It asks nothing of the network, and neither does the site: no fonts, scripts or pictures from elsewhere. It can be
read from the folder, without a server.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from extras.manual.pages import DECISIONS, contents, page, title

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"
PAGES, SITE = BUILD / "pages", BUILD / "site"
BESIDE = {"CONTRIBUTING": "contributing", "SECURITY": "reporting", "CHANGELOG": "changes"}
"""Files of the checkout's top that belong to the manual, and their names in it."""
LOOK = ("api/dashboard/static/icon.svg", "docs/site/site.css")
"""The product's mark, and its colours for the site."""
SETTINGS = """[project]
site_name = "Sanderling"
site_description = "Turns any URL into a live, resumable, signed stream of new-content events."
docs_dir = "pages"
site_dir = "site"
use_directory_urls = false
extra_css = ["look/site.css"]
nav = {nav}

[project.theme]
language = "en"
font = false
logo = "look/icon.svg"
favicon = "look/icon.svg"
features = ["content.code.copy", "navigation.footer", "navigation.sections", "navigation.top", "toc.follow"]

[[project.theme.palette]]
media = "(prefers-color-scheme)"
primary = "custom"
accent = "custom"
toggle = {{ icon = "lucide/sun-moon", name = "Light" }}

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
primary = "custom"
accent = "custom"
scheme = "default"
toggle = {{ icon = "lucide/sun", name = "Dark" }}

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
primary = "custom"
accent = "custom"
scheme = "slate"
toggle = {{ icon = "lucide/moon", name = "Same as the system" }}
"""


def gather(folder: Path) -> str:
    """Write all pages into a folder, their links to where they are in it, and return the site's navigation."""
    (folder / DECISIONS).mkdir(parents=True)
    shutil.copytree(ROOT / "docs/pictures", folder / "pictures")
    (folder / "look").mkdir()
    for file in LOOK:
        shutil.copy(ROOT / file, folder / "look")
    nav: list[dict[str, object]] = [{"Sanderling": "index.md"}]
    for kind, names in contents().items():
        few = [name for name in names if not name.startswith(DECISIONS)]
        nav.append({kind: [{title(name): f"{name}.md"} for name in few]})
        for name in names:
            write(folder / f"{name}.md", page(name).markdown)
    nav.append({"The project": [{target.capitalize(): f"{target}.md"} for target in BESIDE.values()]})
    for name, target in BESIDE.items():
        write(folder / f"{target}.md", (ROOT / f"{name}.md").read_text("utf-8"))
    write(folder / "index.md", (ROOT / "README.md").read_text("utf-8"))
    return toml_of(nav)


def write(file: Path, markdown: str) -> None:
    """Write a page; links of the checkout become links of the site, and what is no page is named only."""
    text = re.sub(r"(?<=\]\()docs/(?=[\w-]+\.md|pictures/)", "", markdown)
    text = re.sub(r"(?<=\]\()(?:docs/)?decisions/(?:README\.md)?(?=\))", "decisions.md", text)
    for name, target in BESIDE.items():
        text = re.sub(rf"(?<=\]\()(?:\.\./)*{name}\.md(?=[)#])", f"{target}.md", text)
    text = re.sub(r"(?<!!)\[([^]]+)\]\((?![\w-]+:|#)(?:[^)\s]*/)?[^)\s]*(?<!\.md)\)", _named_only, text)
    file.write_text(text, "utf-8")


def _named_only(link: re.Match[str]) -> str:
    return link.group() if ".md#" in link.group() else link.group(1)


def toml_of(value: object) -> str:
    """Return strings, lists and tables of one line as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {toml_of(item)}" for name, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml_of(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def main() -> int:
    """Build the site and return zensical's exit code."""
    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    nav = gather(PAGES)
    file = BUILD / "zensical.toml"
    file.write_text(SETTINGS.format(nav=nav), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "--clean", "-f", str(file)], check=False
    )
    if done.returncode == 0:
        sys.stdout.write(f"{(SITE / 'index.html').relative_to(ROOT)}\n")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
