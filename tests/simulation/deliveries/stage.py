"""The parts of a correspondence in a run: set-up, start, waiting, gathering."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import trio

from storage.records.destination import EMAIL
from storage.sql.storage import Storage
from tests.simulation.chances import chance
from tests.simulation.clients import Caller
from tests.simulation.deliveries.mail import PostOffice
from tests.simulation.deliveries.operator import Operator
from tests.simulation.deliveries.publisher import Scribe, provision
from tests.simulation.deliveries.readers import AGAIN as READERS_LOOK
from tests.simulation.deliveries.readers import Reader, Visitor
from tests.simulation.deliveries.receivers import ReceiverHost
from tests.simulation.deliveries.services import SERVICES
from tests.simulation.delivery_ledger import Ledger
from tests.simulation.delivery_plans import Correspondence
from tests.simulation.delivery_records import KeptReader, Letters
from tests.simulation.network import SimNetwork
from tests.simulation.serving import serve_http
from tests.simulation.trace import Trace
from tests.simulation.world import POST, Life
from tests.support.in_loop import Disk


class Stage:
    """A correspondence in a run; one without a plan does nothing."""

    def __init__(
        self,
        plan: Correspondence | None,
        seed: str,
        network: SimNetwork,
        trace: Trace,
        *,
        disk: Disk,
        caller: Callable[[str], Caller],
        life: Callable[[], Life | None],
    ) -> None:
        self._plan, self._network = plan, network
        self.letters: Letters | None = None
        if plan is not None:
            self.letters = Letters(Ledger(disk), plan.hasty)
            receipts = self.letters.receipts
            mail = {each.host for each in plan.destinations if each.kind == EMAIL}
            services = {each.name: SERVICES[each.kind] for each in plan.destinations if each.kind in SERVICES}
            self._offices = [
                PostOffice(network.add(host), trace, receipts, self.letters.invitations) for host in sorted(mail)
            ]
            self._hosts = [
                ReceiverHost(network.add(host), trace, receipts, services) for host in plan.hosts if host not in mail
            ]
            self._readers = [
                Reader(
                    kept, network.add(kept.plan.host), trace, caller(kept.label), partial(self._feed, kept.plan.format)
                )
                for kept in map(KeptReader, plan.readers)
            ]
            self.letters.readers += [reader.kept for reader in self._readers]
            self._visitor = Visitor(
                caller("visitor"), partial(self._feed, "json"), chance(seed, "visitor"), self.letters.visits
            )
            self._keeper = Operator(caller("keeper"), trace, self.letters, chance(seed, "keeper"))
            self._scribe = Scribe(life, self.letters.said)

    async def provision(self, storage: Storage) -> None:
        """Add the records that exist before the first start."""
        if self._plan is not None:
            await provision(storage, self._plan.sources)

    async def start(self, nursery: trio.Nursery, ends: float) -> None:
        if self._plan is not None:
            for each in self._hosts:
                listeners = await self._network.side(each.host.name).listen("", 443)
                nursery.start_soon(serve_http, each.respond, listeners)
            for office in self._offices:
                listeners = await self._network.side(office.host.name).listen("", POST.port)
                nursery.start_soon(office.serve, listeners)
            for reader in self._readers:
                listeners = await self._network.side(reader.host.name).listen("", 443)
                nursery.start_soon(serve_http, reader.respond, listeners)
                nursery.start_soon(reader.live)
            if self._readers:
                nursery.start_soon(self._visitor.live, ends)
            nursery.start_soon(self._keeper.live, self._plan, ends)
            nursery.start_soon(self._scribe.write, self._plan.sayings)

    async def _feed(self, ending: str) -> str:
        """Return the address of the published feed in a format."""
        while True:
            feeds = await self._keeper.feeds()
            if feeds:
                return feeds[ending]
            await trio.sleep(READERS_LOOK)

    async def put_right(self) -> None:
        """Let users enable and replay everything, once no fault is left."""
        if self._plan is not None:
            await self._keeper.put_right()

    async def ask_at_last(self) -> None:
        """Let users read the records they need at the very end."""
        if self._plan is not None:
            await self._keeper.read_lines()
