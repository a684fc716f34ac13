"""All machines of a world that the service fetches from or delivers to."""

from __future__ import annotations

import trio

from tests.simulation.chances import chance
from tests.simulation.network import SimListener, SimNetwork
from tests.simulation.origins.collector import Collector
from tests.simulation.origins.feeds import Feed
from tests.simulation.origins.lists import ItemPage, ListPage, item_url
from tests.simulation.origins.pages import Page
from tests.simulation.origins.push import Pusher
from tests.simulation.origins.receiver import Receiver
from tests.simulation.origins.scenes import Elsewhere, ScenePage
from tests.simulation.origins.server import Machine as Server
from tests.simulation.origins.server import Part, Redirect
from tests.simulation.origins.sessions import Gate, GatedPart
from tests.simulation.program import COLLECTOR, HOOK, OriginPlan, Program, host_of, machine_of
from tests.simulation.serving import serve_http
from tests.simulation.trace import Trace


class Origins:
    """The sources' machines by name, and the WebSocket servers."""

    def __init__(
        self, program: Program, network: SimNetwork, trace: Trace, hook: Receiver, collector: Collector | None
    ) -> None:
        self._program, self._network, self._trace, self._hook = program, network, trace, hook
        self._collector = collector
        self.servers: dict[str, Server] = {}
        self.pushers: dict[str, Pusher] = {}
        self.gates: dict[str, Gate] = {}
        """Of the sources with sessions, by URL."""

    async def start(self, nursery: trio.Nursery) -> None:
        """Serve every source, the receiver, and the collector of spans if there is one."""
        for plan in self._program.origins:
            if plan.tier == "push":
                host = self._network.add(plan.host)
                gate = self.gates.setdefault(plan.url, Gate(host)) if plan.session else None
                push = self.pushers[plan.machine] = Pusher(host, self._trace, plan, gate)
                nursery.start_soon(push.serve, await self._listeners(plan.host))
            elif plan.style == "list":
                self._put_list(plan)
            elif plan.scenes:
                page = ScenePage(plan)
                self._server(plan.host).parts |= {plan.path: page, page.elsewhere: Elsewhere(plan)}
            else:
                make = Feed if plan.tier == "feed" else Page
                part = make(plan, chance(self._program.seed, f"part/{plan.name}"))
                self._server(plan.host).parts[plan.path] = self._gated(plan, part)
                if plan.shell and isinstance(part, Page):
                    self._network.scripts[plan.address] = part.filled
                self._lead(plan)
        for name, server in self.servers.items():
            nursery.start_soon(serve_http, server.respond, await self._listeners(name))
        nursery.start_soon(serve_http, self._hook.respond, await self._network.side(HOOK).listen("", 443))
        if self._collector is not None:
            listeners = await self._network.side(COLLECTOR).listen("", 443)
            nursery.start_soon(serve_http, self._collector.respond, listeners)

    def _put_list(self, plan: OriginPlan) -> None:
        """Serve a list and the pages of its items; those on its own host need the session, too."""
        self._server(plan.host).parts[plan.path] = self._gated(plan, ListPage(plan))
        for number in range(len(plan.texts)):
            page = ItemPage(plan, number)
            host = host_of(item_url(plan, number))
            here = self._gated(plan, page) if host == plan.host else page
            self._server(host).parts[page.path] = here

    def _gated(self, plan: OriginPlan, part: Part) -> Part:
        """Return a part, behind its site's gate if that requires a session."""
        if not plan.session:
            return part
        gate = self.gates.setdefault(plan.url, Gate(self._server(plan.host).host))
        return GatedPart(gate, part)

    async def _listeners(self, host: str) -> list[SimListener]:
        side = self._network.side(host)
        return [*await side.listen("", 80), *await side.listen("", 443)]

    def _server(self, host: str) -> Server:
        """Return the machine behind a name; a twin of a known one is that one."""
        name = machine_of(host)
        server = self.servers.get(name)
        if server is None:
            robots = self._program.robots_of(name)
            server = self.servers[name] = Server(self._network.add(name), self._trace, robots)
        self._network.alias(host, server.host)
        return server

    def _lead(self, plan: OriginPlan) -> None:
        """Let the addresses that lead to a source redirect, each with another status."""
        for number, url in enumerate(plan.via):
            there = plan.via[number + 1] if number + 1 < len(plan.via) else plan.address
            host = host_of(url)
            path = url.partition(host)[2]
            self._server(host).parts[path] = Redirect((301, 302, 307, 308)[(number + len(path)) % 4], there)
