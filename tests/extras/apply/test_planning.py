from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from extras.apply.planning import Plan, as_json, lines_of, too_many
from storage.records.destination import Secret
from tests.api.house import House
from tests.extras.apply.folder import Service, files

ONE = """
[sources.tickets]
url = "https://shore.test/tickets"
[alerts.prices]
query = "price"
sources = ["tickets"]
destinations = ["hook"]
[destinations.hook]
url = "https://hook.test/in"
"""
SECRET = "whsec_bm90IGEgcmVhbCBzZWNyZXQsIGJ1dCBvZiBpdHMgc2l6ZQ=="
HEADERS = """
[sources.tickets]
url = "https://shore.test/tickets"
headers = { env = "HEADERS" }
"""


def text(plan: Plan) -> str:
    return "\n".join(lines_of(plan))


async def of(service: Service, kind: str, **known: Any) -> Any:
    (record,) = [
        one
        for one in await service.ask("GET", f"/v1/{kind}")
        if all(one[name] == value for name, value in known.items())
    ]
    return record


# --- managed records -------------------------------------------------------------------------------------------------


async def test_unmanaged_objects_are_adopted_on_request_only(service: Service, tmp_path: Path) -> None:
    mine = await service.ask("POST", "/v1/sources", json={"url": "https://shore.test/tickets", "tags": ["mine"]})
    folder = files(tmp_path / "f", all=ONE)
    plan = await service.plan(folder)
    assert plan.faults == [
        "sources.tickets: https://shore.test/tickets exists already, and no files manage it: --adopt takes it over"
    ]
    done, _ = await service.apply(folder, adopt=True)
    assert [one.became for one in done] == ["taken over", "made", "made"]
    record = await service.ask("GET", f"/v1/sources/{mine['id']}")
    assert (record["tags"], record["managed"]["name"]) == ([], "tickets")
    assert (await service.plan(folder)).empty


async def test_files_of_another_workspace_keep_their_objects(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "a", all=ONE))
    other = files(tmp_path / "b", all='workspace = "other"\n[sources.x]\nurl = "https://shore.test/tickets"\n')
    for options in ({}, {"adopt": True}):
        plan = await service.plan(other, **options)
        assert plan.faults == ["sources.x: exists already, and the files of shop manage it as tickets"]
    await service.apply(files(tmp_path / "b", all='workspace = "other"\n[sources.x]\nurl = "https://shore.test/y"\n'))
    assert (await service.plan(tmp_path / "a")).empty
    assert len(await service.ask("GET", "/v1/sources")) == 2


async def test_a_renamed_thing_is_the_same_thing(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "f", all=ONE))
    before = await of(service, "alerts", name="prices")
    renamed = ONE.replace("tickets]", "shore]").replace('["tickets"]', '["shore"]').replace("alerts.prices", "alerts.p")
    plan = await service.plan(folder := files(tmp_path / "f", all=renamed))
    assert [(act.verb, act.name, act.was) for act in plan.acts] == [
        ("change", "shore", "tickets"),
        ("change", "p", "prices"),
        ("change", "p/hook", "prices/hook"),
    ]
    await service.apply(folder)
    after = await of(service, "alerts", name="p")
    assert (after["id"], after["managed"]["name"]) == (before["id"], "p")


async def test_two_things_with_one_mark_become_one_again(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=ONE)
    await service.apply(folder)
    record = await of(service, "alerts", name="prices")
    twin = {name: record[name] for name in ("filter_query", "name", "source_ids", "managed")}
    await service.ask("POST", "/v1/alerts", json=twin)
    done, _ = await service.apply(folder)
    assert [(one.act.verb, one.act.kind) for one in done] == [("delete", "alerts")]
    assert (await service.plan(folder)).empty and len(await service.ask("GET", "/v1/alerts")) == 1


async def test_two_names_for_one_url_are_refused(service: Service, tmp_path: Path) -> None:
    twice = '[sources.a]\nurl = "https://shore.test/"\n[sources.b]\nurl = "HTTPS://shore.test"\n'
    plan = await service.plan(files(tmp_path / "f", all=twice))
    assert plan.faults == ["sources.b: has the URL of a: the service watches it once"]


async def test_an_alert_may_be_over_a_source_that_is_there_by_its_url(service: Service, tmp_path: Path) -> None:
    other = await service.ask("POST", "/v1/sources", json={"url": "https://shore.test/other"})
    over = '[alerts.prices]\nquery = "price"\nsources = ["HTTPS://shore.test/other"]\n'
    folder = files(tmp_path / "f", all=over)
    await service.apply(folder)
    assert (await of(service, "alerts"))["source_ids"] == [other["id"]]
    assert (await service.plan(folder)).empty
    plan = await service.plan(files(tmp_path / "f", all=over.replace("other", "nowhere")))
    assert plan.faults == [
        "alerts.prices: no source watches HTTPS://shore.test/nowhere: add it to these files, or take it out"
    ]


async def test_a_tag_that_the_service_gave_itself_stays(service: Service, house: House, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=ONE)
    await service.apply(folder)
    await service.ask("POST", "/v1/templates/swedish-public-sector/instantiate", json={"params": {}})
    assert (await service.plan(folder)).empty


# --- drift -----------------------------------------------------------------------------------------------------------


async def test_drift_names_author_and_time_and_a_change_of_files_does_not(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "f", all=ONE))
    record = await of(service, "alerts", name="prices")
    changed = await service.ask("PATCH", f"/v1/alerts/{record['id']}", json={"filter_query": "plan", "language": "sv"})
    folder = files(tmp_path / "f", all=ONE.replace('query = "price"', 'query = "offer"\nmatch = "added"'))
    at = changed["updated_at"]
    plan = await service.plan(folder)
    assert text(plan) == (
        "~ alerts.prices\n"
        f"    query     plan -> offer   changed at the service by test at {at}, and in the files as well\n"
        f"    language  sv -> en   changed at the service by test at {at}\n"
        "    match     change -> added\n"
        "\n"
        "0 to make, 1 to change, 0 to delete."
    )
    causes = {one["field"]: one["cause"] for one in as_json(plan)["acts"][0]["changes"]}
    assert causes == {"query": "both", "language": "service", "match": "files"}
    await service.apply(folder)
    assert (await service.plan(folder)).empty


async def test_a_replaced_source_is_no_drift_of_the_alerts_over_it(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "f", all=ONE))
    plan = await service.plan(files(tmp_path / "f", all=ONE.replace("shore.test/tickets", "shore.test/new")))
    (act,) = [act for act in plan.acts if act.kind == "alerts"]
    assert [(change.field, change.cause) for change in act.changes] == [("sources", "files")]
    assert [(act.verb, act.name, act.replaces) for act in plan.acts if act.kind == "sources"] == [
        ("make", "tickets", "tickets"),
        ("delete", "tickets", "tickets"),
    ]


async def test_an_edit_before_the_plan_runs_is_not_overwritten(service: Service, tmp_path: Path) -> None:
    from extras.apply.acting import Actor, ActResult

    await service.apply(files(tmp_path / "f", all=ONE))
    record = await of(service, "alerts", name="prices")
    plan = await service.plan(files(tmp_path / "f", all=ONE.replace('"price"', '"offer"')))
    await service.ask("PATCH", f"/v1/alerts/{record['id']}", json={"language": "sv"})
    done: list[ActResult] = []
    await Actor(service.client(), plan, done.append).run()
    assert [(one.became, one.says) for one in done] == [
        ("refused", "somebody has changed it since the plan was made: run the same command again")
    ]
    assert (await of(service, "alerts"))["filter_query"] == "price"


# --- deletions -------------------------------------------------------------------------------------------------------


async def test_more_deletions_than_a_quarter_have_to_be_meant(service: Service, tmp_path: Path) -> None:
    some = "\n".join(f'[sources.s{number}]\nurl = "https://shore.test/{number}"' for number in range(8))
    await service.apply(files(tmp_path / "f", all=some))
    three = "\n".join(f'[sources.s{number}]\nurl = "https://shore.test/{number}"' for number in range(5))
    assert too_many(await service.plan(files(tmp_path / "f", all=three))) == ""
    four = "\n".join(f'[sources.s{number}]\nurl = "https://shore.test/{number}"' for number in range(4))
    assert too_many(await service.plan(files(tmp_path / "f", all=four))) == (
        "4 of the 8 things that these files manage would be deleted"
    )
    none = await service.plan(files(tmp_path / "f"))
    assert too_many(none) == "all things that these files manage would be deleted"
    kept = await service.plan(files(tmp_path / "f"), delete=False)
    assert too_many(kept) == "" and kept.empty
    assert text(kept).splitlines()[0] == "  sources.s7: no file has it any more; it stays (--no-delete)"


# --- secrets ---------------------------------------------------------------------------------------------------------


async def test_a_secret_that_changed_is_known_without_being_shown(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=HEADERS)
    service.variables = {"HEADERS": "Cookie: id=very-secret"}
    await service.apply(folder)
    assert (await service.plan(folder)).empty
    service.variables = {"HEADERS": "Cookie: id=more-secret"}
    plan = await service.plan(folder)
    assert text(plan).splitlines()[:2] == ["~ sources.tickets", "    headers  another secret than at the service"]
    assert "secret" not in (said := f"{as_json(plan)}").replace("'secret': True", "") and "Cookie" not in said
    await service.apply(folder)
    assert (await service.plan(folder)).empty


async def test_a_secret_that_is_not_there_is_not_compared_unless_it_is_needed(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=HEADERS)
    plan = await service.plan(folder)
    assert plan.faults == ["sources.tickets: headers: $HEADERS is not set; a new source needs it"]
    service.variables = {"HEADERS": "Cookie: id=1"}
    await service.apply(folder)
    service.variables = {}
    plan = await service.plan(folder)
    assert plan.empty and plan.notes == ["sources.tickets: headers is not compared: $HEADERS is not set"]


async def test_a_secret_that_no_file_names_any_more_is_taken_away(service: Service, tmp_path: Path) -> None:
    service.variables = {"HEADERS": "Cookie: id=1"}
    await service.apply(files(tmp_path / "f", all=HEADERS))
    folder = files(tmp_path / "f", all='[sources.tickets]\nurl = "https://shore.test/tickets"\n')
    assert "headers  a secret that is taken away" in text(await service.plan(folder))
    await service.apply(folder)
    assert (await of(service, "sources"))["has_headers"] is False
    assert (await service.plan(folder)).empty


async def test_a_credential_in_a_file_is_warned_about_and_not_shown(service: Service, tmp_path: Path) -> None:
    chat = ONE.replace(
        'url = "https://hook.test/in"', 'kind = "slack"\nurl = "https://hooks.slack.com/services/T0/B0/X"'
    )
    folder = files(tmp_path / "f", all=chat)
    plan = await service.plan(folder)
    assert plan.notes == [
        'destinations.hook.url is a secret, and is written in all.toml: better say where it is, as { env = "NAME" }'
    ]
    assert "T0/B0" not in text(plan) and "T0/B0" not in f"{as_json(plan)}"
    await service.apply(folder)
    assert (await service.plan(folder)).empty
    moved = await service.plan(files(tmp_path / "f", all=chat.replace("/X", "/Y")))
    assert [(change.field, change.secret) for change in moved.acts[0].changes] == [("url", True)]


async def test_the_secret_of_a_webhook_may_be_given_and_turned(service: Service, tmp_path: Path) -> None:
    own = ONE + 'secret = { env = "SECRET" }\n'
    folder = files(tmp_path / "f", all=own)
    service.variables = {"SECRET": SECRET}
    done, _ = await service.apply(folder)
    assert [one.says for one in done] == ["", "", ""]
    assert (await service.plan(folder)).empty
    service.variables = {"SECRET": SECRET.replace("bm90", "bm91")}
    (act,) = (await service.plan(folder)).acts
    assert [(change.field, change.secret) for change in act.changes] == [("secret", True)]


async def test_an_object_without_its_secret_gets_it_and_goes_on(service: Service, house: House, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=ONE + 'secret = { env = "SECRET" }\n')
    service.variables = {"SECRET": SECRET}
    await service.apply(folder)
    (kept,) = await house.storage.alerts.destinations()
    imported = {"secrets": (Secret("whsec_that_nobody_knows"),), "enabled": False, "was_enabled": True}
    await house.storage.alerts.edit_destination(kept.id, lambda old: replace(old, **imported))
    assert (await of(service, "destinations"))["needs_secret"] is True
    assert (await service.plan(files(tmp_path / "f", all=ONE))).notes == [
        "destinations.prices/hook: nothing is sent to it yet: it needs a secret, or the recipient has not agreed"
    ]
    files(tmp_path / "f", all=ONE + 'secret = { env = "SECRET" }\n')
    await service.apply(folder)
    record = await of(service, "destinations")
    assert (record["needs_secret"], record["enabled"]) == (False, True)
    assert (await service.plan(folder)).empty


async def test_a_secret_that_the_service_makes_is_not_printed(service: Service, tmp_path: Path) -> None:
    done, _ = await service.apply(files(tmp_path / "f", all=ONE))
    assert done[-1].says == "the service created its signing secret; rotate it to see one"


# --- options of destinations -----------------------------------------------------------------------------------------


async def test_options_are_compared_one_by_one(service: Service, tmp_path: Path) -> None:
    phone = ONE.replace('url = "https://hook.test/in"', 'kind = "ntfy"\noptions = { topic = "one", priority = "5" }')
    await service.apply(files(tmp_path / "f", all=phone))
    folder = files(tmp_path / "f", all=phone.replace(', priority = "5"', "").replace('"one"', '"two"'))
    (act,) = (await service.plan(folder)).acts
    assert {(change.field, change.before, change.after) for change in act.changes} == {
        ("options.topic", "one", "two"),
        ("options.priority", "5", None),
    }
    await service.apply(folder)
    assert (await of(service, "destinations"))["options"] == {"topic": "two"}
    assert (await service.plan(folder)).empty


async def test_another_kind_of_destination_is_another_destination(service: Service, tmp_path: Path) -> None:
    await service.apply(files(tmp_path / "f", all=ONE))
    folder = files(
        tmp_path / "f", all=ONE.replace('url = "https://hook.test/in"', 'kind = "ntfy"\noptions = { topic = "x" }')
    )
    plan = await service.plan(folder)
    assert [(act.verb, act.replaces) for act in plan.acts] == [("make", "prices/hook"), ("delete", "prices/hook")]
    await service.apply(folder)
    assert (await service.plan(folder)).empty


@pytest.mark.parametrize("on", [True, False])
async def test_colours_are_for_terminals(service: Service, tmp_path: Path, *, on: bool) -> None:
    plan = await service.plan(files(tmp_path / "f", all=ONE))
    assert ("\x1b[32m+" in "\n".join(lines_of(plan, colour=on))) is on


async def test_the_files_alone_decide_destinations_with_any_defaults_of_tags(service: Service, tmp_path: Path) -> None:
    folder = files(tmp_path / "f", all=ONE)
    await service.apply(folder)
    hook = await of(service, "destinations")
    await service.ask("PUT", "/v1/tags/label:shop", json={"destinations": [hook["id"]]})
    over = '[alerts.shop]\nquery = "sale"\ntags = ["shop"]\n'
    await service.apply(folder := files(tmp_path / "f", all=ONE + over))
    assert len(await service.ask("GET", "/v1/destinations")) == 1
    by_hand = await service.ask("POST", "/v1/alerts", json={"filter_query": "x", "tags": ["shop"]})
    (copied,) = await service.ask("GET", f"/v1/alerts/{by_hand['id']}/destinations")
    assert copied["managed"] is None and (await service.plan(folder)).empty
