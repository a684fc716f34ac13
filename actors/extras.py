"""The table of extras: optional capabilities that attach themselves here.

It names their modules as strings, for two reasons: the product must not depend on an extra, and must not pay for the
import of one that it does not use. A row therefore has all that the product shows of an extra before it uses it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from click import Command

    from actors.observer import Observer
    from actors.settings import ExtraSettings, Settings
    from actors.world import World
    from api.application import Application
    from api.dashboard.face import Gate
    from api.dashboard.screen import Panel, Reply, Screen, Visit
    from api.endpoint import Endpoint
    from api.route import Recorder, Route
    from sanderling.client.api import Client
    from sanderling.engines import Engine
    from sanderling.operations.doctor import Question
    from sanderling.operations.self_test import Look
    from supervision import ChildSpec


@dataclass(frozen=True, slots=True)
class Extra:
    """The rows that an extra adds to tables of the product; its package holds it as `EXTRA`. Each field is a function,
    so that the import of the package alone costs nothing: the product calls it when it builds that table.
    """

    commands: Callable[[], Sequence[Command]] = tuple
    routes: Callable[[], Mapping[str, Sequence[Route]]] = dict
    """Routes of the API by their noun."""
    endpoints: Callable[[Application], Sequence[Endpoint]] = lambda application: ()
    """Applications for requests without a key, at other paths than the API's."""
    children: Callable[[Any], Sequence[ChildSpec]] = lambda context: ()
    """Actors that start after the web, from the AppContext."""
    screens: Callable[[], Sequence[Screen]] = tuple
    panels: Callable[[], Mapping[str, Panel]] = dict
    """Parts of the product's screens by the path of the screen."""
    templates: str = ""
    """The package whose folder `templates` has those of its screens and panels."""
    kinds: Callable[[Any, Any], Sequence[Any]] = lambda languages, service: ()
    """Each DestinationKind, from a Speech and the Service or None. No room below the kinds may name their types."""
    observer: Callable[[World, Settings], Observer] | None = None
    documents: Callable[[], Callable[[bytes], Any]] | None = None
    """A reader of files: it returns their `Document`, or None if it can't read them."""
    tasks: Callable[[], Mapping[str, Callable[[bytes], bytes]]] = dict
    """Tasks of a worker by their names, each from an encoded request to an encoded answer."""
    parts: Callable[[Any], Sequence[tuple[str, ChildSpec]]] = lambda system: ()
    """Actors inside the tree of a `System`, each with the name of the sibling that it starts after."""
    engine: Callable[[Settings], Engine | None] = lambda settings: None
    """The storage, if the settings name one beside the data folder."""
    checks: Callable[[], Mapping[str, Question]] = dict
    """Checks by `sanderling doctor`, by their subject."""
    self_tests: Callable[[], Mapping[str, Look]] = dict
    """Tests of the build by `sanderling check`, by their subject."""
    ports: Callable[[Settings, Callable[..., None]], Mapping[str, Any]] = lambda settings, log: {}
    """Fields of the real World by their names, from the settings and the World's log."""
    recorder: Callable[[Application], Recorder] | None = None
    """Makes a function that runs every change by the API or the dashboard, and records it."""
    sign_in: Callable[[Visit], Awaitable[Reply]] | None = None
    """Takes the sign-in form of a person, which has an e-mail address."""
    gate: Callable[[Application], Gate | None] | None = None
    """Makes a function that checks how a request of the dashboard is signed in, beside its cookie."""
    as_files: Callable[[Client, Path, str], int] | None = None
    """Writes a service's configuration as files of a workspace into a folder, and returns an exit code."""


def members(module: str, *names: str) -> Callable[[], Sequence[Any]]:
    return lambda: [getattr(import_module(module), name) for name in names]


def member(module: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(import_module(module), name)


def calling(module: str, name: str) -> Callable[..., Any]:
    return lambda *given: getattr(import_module(module), name)(*given)  # noqa: PLW0108  # it imports late


@dataclass(frozen=True, slots=True)
class Row:
    """An extra as the product knows it before it imports it."""

    commands: Sequence[str] = ()
    """Their names; the program's help says what each does."""
    roles: Mapping[str, str] = field(default_factory=dict)
    """role of a process of this program: the module whose `main` runs it with the rest of the command line."""
    from_the_system: Mapping[str, str] = field(default_factory=dict)
    """package: the module of a system's library that it needs."""
    always: bool = False
    """It takes part in the service. The product imports its package, which imports more as the settings need it."""
    switch: str = ""
    """It takes part where this setting has a value."""
    settings: str = ""
    """The record of its settings, in its module `settings`."""


TABLE: Mapping[str, Row] = {
    "extras.agents": Row(commands=("mcp",), always=True),
    "extras.apply": Row(commands=("apply",)),
    "extras.inbox": Row(commands=("bins",), always=True),
    "extras.install": Row(commands=("install", "uninstall", "licences")),
    "extras.browser": Row(roles={"browser-holder": "extras.browser.holder"}, always=True, settings="BrowserSettings"),
    "extras.cluster": Row(
        commands=("standby",),
        from_the_system={"extras.cluster.postgres": "psycopg.pq"},
        always=True,
        settings="ClusterSettings",
    ),
    "extras.manual": Row(commands=("help",)),
    "extras.migrate": Row(commands=("export", "import")),
    "extras.office": Row(always=True),
    "extras.people": Row(commands=("people",), always=True, settings="PeopleSettings"),
    "extras.picking": Row(always=True),
    "extras.practice": Row(always=True),
    "extras.publish": Row(commands=("publications",), always=True, settings="PublishSettings"),
    "extras.receiver": Row(commands=("listen", "verify", "probe")),
    "extras.reference": Row(always=True),
    "extras.tour": Row(commands=("try",)),
    "extras.tracing": Row(switch="otlp_endpoint", settings="TracingSettings"),
    "extras.webpush": Row(always=True),
}
"""module: its row. An extra is its folder, its row here and its tests."""


def extra(module: str) -> Extra:
    found = import_module(module).EXTRA
    assert isinstance(found, Extra)
    return found


def role(name: str = "") -> Callable[[Sequence[str]], int] | None:
    """Import what runs a role of a process; None if no extra has the role."""
    found = next((row.roles[name] for row in TABLE.values() if name in row.roles), None)
    if found is None:
        return None
    start: Callable[[Sequence[str]], int] = import_module(found).main
    return start


def always_on() -> Sequence[Extra]:
    return [extra(module) for module, row in TABLE.items() if row.always]


def switched_on(settings: Settings) -> Sequence[Extra]:
    rows = [(module, row) for module, row in TABLE.items() if row.switch]
    return [extra(module) for module, row in rows if getattr(settings.of(_record(module, row)), row.switch)]


def setting_records() -> Sequence[type[ExtraSettings]]:
    return [_record(module, row) for module, row in TABLE.items() if row.settings]


def _record(module: str, row: Row) -> type[ExtraSettings]:
    found: type[ExtraSettings] = getattr(import_module(f"{module}.settings"), row.settings)
    return found
