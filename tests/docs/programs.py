"""A table of where each code block of the documents runs. A row covers a page and language, or one block of these.

A row names the test that runs the block as printed, or gives the reason why none can, and the test in its place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from tests.docs.blocks import Block

PROSE: Final = ("text",)
"""Languages of blocks that are output, not programs."""
BESIDE_ONE_SERVICE: Final = "tests/docs/test_commands_run.py"
REQUESTS: Final = "tests/docs/test_requests.py"
PRINTED: Final = "tests/docs/test_settings_printed.py"


class Row(NamedTuple):
    """begins: the block's beginning; "" for all blocks of this language on the page without their own row."""

    page: str
    language: str
    begins: str
    where: str

    def fits(self, block: Block) -> bool:
        return (self.page, self.language) == (block.page, block.language) and block.text.startswith(self.begins)

    @property
    def test(self) -> str:
        """The test file that runs it; "" where none can."""
        return self.where if self.where.startswith("tests/") else ""


def _run(where: str, language: str, *pages: str) -> Iterator[Row]:
    for page in pages:
        yield Row(page if page.endswith(".md") else f"docs/{page}.md", language, "", where)


_RUN = (
    *_run("tests/docs/test_readme.py", "sh", "README.md"),
    *_run("tests/docs/test_start.py", "sh", "start"),
    *_run("tests/api/contract/test_guide.py", "sh", "api"),
    *_run("tests/api/contract/test_guide.py", "python", "api"),
    *_run("tests/api/contract/test_guide.py", "js", "api"),
    *_run("tests/docs/test_backup_page.py", "console", "backup"),
    *_run("tests/clients/test_page.py", "python", "clients", "clients/python/README.md"),
    *_run("tests/clients/test_page.py", "js", "clients"),
    *_run("tests/clients/test_page.py", "ts", "clients/typescript/README.md"),
    *_run("tests/docs/test_configuration_page.py", "toml", "configuration"),
    *_run("tests/docs/test_configuration_page.py", "sh", "configuration"),
    *_run("tests/docs/test_message_templates.py", "jinja", "message-templates"),
    *_run("tests/actors/destination_kinds/messengers/test_files.py", "toml", "messengers"),
    *_run("tests/actors/templates/test_reading.py", "toml", "templates"),
    *_run("tests/e2e/test_proxies.py", "nginx", "proxies"),
    *_run("tests/e2e/test_proxies.py", "caddy", "proxies"),
    *_run("tests/e2e/test_balancers.py", "haproxy", "several-nodes"),
    *_run("tests/e2e/test_balancers.py", "nginx", "several-nodes"),
    *_run("tests/e2e/test_balancers.py", "caddy", "several-nodes"),
    *_run("tests/clients/receiver/test_receivers.py", "python", "receivers"),
    *_run("tests/clients/receiver/test_receivers.py", "php", "receivers"),
    *_run("tests/clients/receiver/test_receivers.py", "js", "receivers", "receiver-programs"),
    *_run("tests/clients/receiver/test_receivers.py", "go", "receivers", "receiver-programs"),
    *_run("tests/clients/receiver/test_by_hand.py", "sh", "testing-receivers"),
    *_run("tests/clients/receiver/test_by_hand.py", "python", "testing-receivers"),
    *_run("tests/docs/test_made.py", "sh", "testing"),
    *_run(REQUESTS, "http", "alerts", "deliveries"),
    *_run(REQUESTS, "sh", "changing", "history", "mail", "messengers", "templates", "web-push"),
    *_run(REQUESTS, "python", "operating"),
    *_run(BESIDE_ONE_SERVICE, "console", "alerts", "operating", "testing-receivers", "watching"),
    *_run(BESIDE_ONE_SERVICE, "sh", "coverage", "feeds-out", "jobs", "security-access", "watching"),
    *_run(BESIDE_ONE_SERVICE, "http", "jobs"),
    *_run(BESIDE_ONE_SERVICE, "json", "agents"),
    *_run(PRINTED, "toml", "operating", "people", "proxies", "rendered-pages", "standby", "traces"),
    *_run(PRINTED, "ini", "install", "mail", "rendered-pages", "standby"),
    *_run(PRINTED, "json", "testing-receivers", "watching-values"),
    *_run(PRINTED, "yaml", "metrics", "traces"),
)
_ONE_BY_ONE = (
    Row(
        "README.md",
        "sh",
        "make run",
        "it makes an environment of its own: `make newcomers` goes this way, CI goes make test",
    ),
    Row(
        "docs/api.md",
        "sh",
        "curl -s http",
        "the generators are run with flags that have them make less: tests/api/generators",
    ),
    Row("docs/api.md", "sh", "npx openapi-typescript", "tests/api/generators/test_typescript_and_linters.py"),
    Row("docs/feeds-out.md", "sh", "curl", REQUESTS),
    Row("docs/testing-receivers.md", "sh", "BIN=", REQUESTS),
    Row("docs/agents.md", "json", '{"mcpServers": {"sanderling": {"url"', REQUESTS),
    Row("docs/moving.md", "console", "$ sanderling import --dry-run changedetection", "tests/docs/test_moving_page.py"),
    Row("docs/moving.md", "console", "$ sanderling export", "tests/docs/test_moving_whole.py"),
    Row(
        "docs/moving.md",
        "sh",
        "ssh",
        "it asks another machine; tests/e2e/test_postgres.py moves an instance to and fro",
    ),
    Row("docs/console.md", "console", "", "it takes the whole terminal: tests/sanderling/console/test_terminal.py"),
    Row("docs/people.md", "caddy", "", "it needs Authelia: tests/extras/people/test_proxy.py sends its headers"),
    Row("docs/people.md", "sh", "", "its people must have joined: tests/extras/people/test_commands.py"),
    Row("docs/install.md", "sh", "openssl", "tests/release/test_by_hand.py"),
    Row(
        "docs/install.md",
        "sh",
        "",
        "it changes the machine: `make newcomers` goes each way, tests/release/test_newcomers.py compares",
    ),
    Row("docs/postgresql.md", "sql", "", "tests/docs/test_postgresql_page.py"),
    Row(
        "docs/postgresql.md",
        "console",
        "",
        "it names a database of the reader's: tests/e2e/test_postgres.py does it to one of its own",
    ),
    Row("docs/several-nodes.md", "yaml", "", "it is for Kubernetes: tests/e2e/test_balancers.py asks the same paths"),
    Row(
        "docs/several-nodes.md",
        "sh",
        "",
        "it installs packages or starts containers: tests/e2e/test_nodes_behind_a_balancer.py has its files",
    ),
    Row(
        "docs/postgresql.md",
        "sh",
        "",
        "it names a database of the reader's: tests/e2e/test_postgres.py does it to one of its own",
    ),
    Row(
        "docs/rendered-pages.md",
        "sh",
        "",
        "it installs browsers and a unit: tests/extras/install and tests/extras/browser have what comes of it",
    ),
    Row(
        "docs/standby.md",
        "sh",
        "",
        "it serves until it is stopped, in two places: tests/e2e/test_standby.py does it to folders of its own",
    ),
    Row(
        "docs/upgrade.md",
        "sh",
        "",
        "it stops the service of the machine: tests/storage/sqlite/upkeep tests the copy and the way back",
    ),
    Row(
        "docs/upgrade.md",
        "console",
        "",
        "it needs data of an earlier schema: tests/sanderling/operations/backup/test_migrate.py",
    ),
)
ROWS: Final = (*_ONE_BY_ONE, *_RUN)


def row_of(block: Block) -> Row | None:
    """Return the row of a block: its own before that of its page."""
    found = [row for row in ROWS if row.fits(block)]
    return max(found, key=lambda row: len(row.begins), default=None)
