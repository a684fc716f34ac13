from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.api.dashboard.browser import Browser
from tests.api.house import House, running
from tests.extras.people.oidc.identity_provider import SECRET, Provider, a_house
from tests.support.memory_network import MemoryNetwork


@dataclass
class Harbour:
    """A service with an issuer, and a browser."""

    house: House
    provider: Provider
    network: MemoryNetwork
    browser: Browser

    async def sign_in(self, next: str = "/") -> str:
        """Go from the sign-in page to the issuer and back; return the text of the last page."""
        await self.browser.get(f"/sign-in/oidc?next={next}", follow=False)
        return await self.come_back(self.provider.back(self.browser.answer.headers["Location"]))

    async def come_back(self, address: str) -> str:
        await self.browser.get(address)
        return self.browser.text

    def why(self) -> str:
        """Return the reason of the last refusal in the log."""
        return str([fields["why"] for name, fields in self.house.logs if name == "dashboard.sign_in_refused"][-1])

    async def sessions(self) -> int:
        return len(await self.house.storage.people.sessions())


MakeHarbour = Callable[..., AbstractAsyncContextManager[Harbour]]


@pytest.fixture
def harbours(autojump_clock: object, tmp_path: Path) -> MakeHarbour:
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n", "utf-8")

    @asynccontextmanager
    async def made(**settings: Any) -> AsyncIterator[Harbour]:
        async with trio.open_nursery() as nursery:
            house, provider, network = a_house(nursery, str(secret), **settings)
            async with running(house):
                browser = Browser(house)
                async with browser.client:
                    yield Harbour(house, provider, network, browser)
            nursery.cancel_scope.cancel()

    return made


@pytest.fixture
async def harbour(harbours: MakeHarbour) -> AsyncIterator[Harbour]:
    async with harbours() as made:
        yield made
