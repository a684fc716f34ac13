"""The calls of the API that pages print as indented lines are taken as they are printed."""

from __future__ import annotations

import re
import shlex

import pytest

from actors.destination_kinds.email.kind import Mail
from actors.destination_kinds.email.server import MailServer
from actors.destination_kinds.messengers.catalogue import built_in
from actors.destination_kinds.table import kinds_of
from tests.api.house import make_house, running
from tests.docs.test_commands_run import ROOT

PAGES = ("mail", "messengers", "web-push")


async def _no_login() -> None:
    return None


def calls(page: str) -> list[list[str]]:
    """Return the words of each call of a page, its lines joined."""
    text = (ROOT / f"docs/{page}.md").read_text("utf-8")
    found = re.findall(r"^    curl (?:.*\\\n)*.*\n", text, re.MULTILINE)
    # A body may go on over lines without a backslash, inside of its quotes.
    whole = [text[text.index(call) :].partition("\n\n")[0] for call in found]
    return [shlex.split(call.replace("\\\n", " ")) for call in whole]


@pytest.mark.parametrize("page", PAGES)
async def test_a_call_is_answered_as_its_page_lets_one_expect(autojump_clock: object, page: str) -> None:
    house = make_house()
    mail = Mail(MailServer("mail.test", 587, "starttls", "watch@sanderling.test"), _no_login, "http://sanderling.test")
    kinds = house.context.kinds | {"email": kinds_of(built_in(), mail)["email"]}
    object.__setattr__(house.context, "kinds", kinds)
    async with running(house), await house.client() as client:
        alert = (await client.post("/v1/alerts", json={"filter_query": "", "name": "prices"})).json()["id"]
        made = calls(page)
        assert made, "the page prints none"
        for words in made:
            assert words[:3] == ["curl", "-X", "POST"] and "X-API-Key: $KEY" in words
            path = words[3].replace("$URL", "").replace("$ALERT", alert)
            headers = {"Content-Type": "application/json"}
            answer = await client.post(path, content=words[words.index("-d") + 1], headers=headers)
            assert answer.status_code == 201, answer.text
