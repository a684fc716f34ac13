"""The plan of installing: complete, the same twice, careful with other people's files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath as Path

from hypothesis import given
from hypothesis import strategies as st

from extras.install.plan import (
    Act,
    Amend,
    FoundInstallation,
    Keep,
    LayOut,
    MakeAccount,
    Note,
    Point,
    Remove,
    Run,
    Write,
    holding,
    installing,
    letting_go,
    removing,
)
from extras.install.units import BESIDE_PACKAGE, LINE, SYSTEM, browser_units, is_unedited, of_user, sealed, unit_text

VERSION = "1.2.3-abc"
UNIT = sealed(unit_text(SYSTEM))
INSTALLED = FoundInstallation(
    versions=(VERSION,),
    current=VERSION,
    command="/opt/sanderling/current/sanderling",
    unit=UNIT,
    settings=True,
    data=True,
    account=True,
)
SHELL = "/usr/bin/chromium-headless-shell"
HELD = {path: sealed(text) for path, text in browser_units(SYSTEM, SHELL).items()}
WITH_BROWSER = replace(INSTALLED, browser=HELD, settings_say=f"# mine\n{LINE}\n")
OWN_COMMAND = Point(SYSTEM.command, SYSTEM.launcher)
FOUND = st.builds(
    FoundInstallation,
    versions=st.sets(st.sampled_from([VERSION, "1.0.0-old", "0.9.0-older", ".1.1.0-half.new"])).map(sorted).map(tuple),
    current=st.sampled_from(["", VERSION, "1.0.0-old"]),
    previous=st.sampled_from(["", VERSION, "1.0.0-old", "0.9.0-older"]),
    command=st.sampled_from(["", INSTALLED.command, "/somewhere/else"]),
    unit=st.sampled_from([None, UNIT, UNIT.replace("60s", "90s")]),
    beside=st.booleans(),
    settings=st.booleans(),
    data=st.booleans(),
    account=st.booleans(),
    data_link=st.sampled_from(["", "/mnt/disk"]),
    owed=st.sampled_from(["", "restart", "first start"]),
    key=st.sampled_from(["none", "plain", "encrypted"]),
    browser=st.sampled_from([{}, HELD, {path: text.replace("=", " =") for path, text in HELD.items()}]),
    settings_say=st.sampled_from(["", "SANDERLING_BROWSER=off\n", f"{LINE}\n"]),
)


def commands(plan: tuple[Act, ...]) -> list[str]:
    return [" ".join(act.command) for act in plan if isinstance(act, Run)]


def test_the_first_installation_does_everything_in_order() -> None:
    plan = installing(SYSTEM, VERSION, FoundInstallation())
    assert [type(act).__name__ for act in plan[:8]] == [
        "LayOut",
        "MakeAccount",
        "Note",
        "Point",
        "Point",
        "MakeFolder",
        "Write",
        "Write",
    ]
    assert commands(plan) == [
        "systemctl daemon-reload",
        "systemctl enable sanderling.service",
        "systemctl restart sanderling.service",
    ]


def test_again_only_sees_that_it_runs() -> None:
    plan = installing(SYSTEM, VERSION, INSTALLED)
    assert {type(act) for act in plan} == {Keep, Run}
    assert commands(plan)[-1] == "systemctl start sanderling.service"


def test_an_upgrade_is_installed_next_to_the_old_version_and_then_linked() -> None:
    plan = installing(SYSTEM, VERSION, replace(INSTALLED, versions=("1.0.0-old",), current="1.0.0-old"))
    assert plan[:4] == (
        LayOut(Path("/opt/sanderling/1.2.3-abc")),
        Note(SYSTEM.owed, "restart"),
        Point(Path("/opt/sanderling/previous"), Path("1.0.0-old")),
        Point(Path("/opt/sanderling/current"), Path(VERSION)),
    )
    assert commands(plan)[-1] == "systemctl restart sanderling.service"
    assert not [act for act in plan if isinstance(act, Remove)], "the old one is the way back"


@given(FOUND)
def test_an_interrupted_install_restarts_when_repeated(found: FoundInstallation) -> None:
    """The note precedes the first change that the running service does not know, and goes after the restart."""
    plan = installing(SYSTEM, VERSION, found)
    new = [at for at, act in enumerate(plan) if isinstance(act, Point | Write) and act != OWN_COMMAND]
    restarts = [at for at, act in enumerate(plan) if isinstance(act, Run) and "restart" in act.command]
    notes = [(at, act.owed) for at, act in enumerate(plan) if isinstance(act, Note)]
    changes = found.current != VERSION or Write(SYSTEM.unit, sealed(unit_text(SYSTEM, key=found.key))) in plan
    assert bool(restarts) == (changes or bool(found.owed))
    if restarts:
        assert notes[-1] == (restarts[0] + 1, ""), "only when it is done"
    if changes and not found.owed:
        assert notes[0][0] < min(new) and notes[0][1] == ("restart" if found.data else "first start")
    assert len(notes) == bool(restarts) + (changes and not found.owed), "an older note stays as it is"


def test_older_ones_go_when_the_new_one_runs_and_the_one_before_stays() -> None:
    there = ("0.9.0-older", "1.0.0-old", ".1.1.0-half.new")
    plan = installing(SYSTEM, VERSION, replace(INSTALLED, versions=there, current="1.0.0-old", previous="0.9.0-older"))
    removed = [act.path.name for act in plan if isinstance(act, Remove)]
    assert removed == ["0.9.0-older", ".1.1.0-half.new"]
    assert all(isinstance(act, Remove) for act in plan[-2:]), "after the restart"


def test_the_way_back_is_installing_the_one_before() -> None:
    plan = installing(SYSTEM, "1.0.0-old", replace(INSTALLED, versions=("1.0.0-old", VERSION), previous="1.0.0-old"))
    assert plan[:3] == (
        Note(SYSTEM.owed, "restart"),
        Point(Path("/opt/sanderling/previous"), Path(VERSION)),
        Point(Path("/opt/sanderling/current"), Path("1.0.0-old")),
    )
    assert not [act for act in plan if isinstance(act, LayOut | Remove)]


@given(FOUND)
def test_the_present_and_the_previous_version_are_never_removed(found: FoundInstallation) -> None:
    removed = {act.path for act in installing(SYSTEM, VERSION, found) if isinstance(act, Remove)}
    before = found.current if found.current not in ("", VERSION) else found.previous
    assert not removed & {SYSTEM.programs / VERSION, SYSTEM.programs / before if before else None}
    assert not {path.name for path in removed} - set(found.versions)


def test_an_edited_unit_stays_and_the_new_one_is_written_next_to_it() -> None:
    plan = installing(SYSTEM, VERSION, replace(INSTALLED, unit=UNIT.replace("60s", "90s")))
    assert [act.path for act in plan if isinstance(act, Write)] == [Path(f"{SYSTEM.unit}.new")]
    assert commands(plan)[-1] == "systemctl start sanderling.service", "the same program with the same unit runs on"


def test_an_older_unedited_unit_is_replaced() -> None:
    older = sealed(unit_text(SYSTEM).replace("60s", "90s"))
    plan = installing(SYSTEM, VERSION, replace(INSTALLED, unit=older))
    assert Write(SYSTEM.unit, UNIT) in plan
    assert commands(plan)[-1] == "systemctl restart sanderling.service"


@given(FOUND)
def test_settings_and_edits_survive_in_every_state_of_the_machine(found: FoundInstallation) -> None:
    for plan in (
        installing(SYSTEM, VERSION, found),
        installing(SYSTEM, VERSION, found, browser=SHELL),
        removing(SYSTEM, found, purge=False),
        letting_go(SYSTEM, found),
    ):
        assert not [act for act in plan if isinstance(act, Write | Remove) and act.path in HELD and found.browser] or (
            found.browser == HELD
        )
        changed = {act.path for act in plan if isinstance(act, Write | Remove)}
        assert SYSTEM.settings not in changed or not found.settings
        assert SYSTEM.settings.parent not in changed and SYSTEM.data not in changed
        assert SYSTEM.unit not in changed or found.unit is None or is_unedited(found.unit)


@given(FOUND)
def test_in_a_folder_that_stands_for_a_root_no_program_of_the_system_is_run(found: FoundInstallation) -> None:
    plan = (
        *installing(SYSTEM, VERSION, found, live=False),
        *installing(SYSTEM, VERSION, found, browser=SHELL, live=False),
        *holding(BESIDE_PACKAGE, found, SHELL, live=False),
        *letting_go(SYSTEM, found, live=False),
        *removing(SYSTEM, found, purge=True, live=False),
    )
    assert not [act for act in plan if isinstance(act, Run | MakeAccount)]
    assert not [act for act in plan if getattr(act, "owner", "") or getattr(act, "group", "")]


@given(FOUND, st.booleans())
def test_each_act_is_one_line(found: FoundInstallation, purge: bool) -> None:
    plan = (*installing(SYSTEM, VERSION, found, browser=SHELL), *removing(SYSTEM, found, purge=purge))
    assert all(act.says and "\n" not in act.says for act in plan)


def test_a_users_installation_needs_no_account_and_asks_the_users_manager() -> None:
    plan = installing(of_user({}, "/users/me"), VERSION, FoundInstallation())
    assert not [act for act in plan if isinstance(act, MakeAccount) or getattr(act, "owner", "")]
    assert all(command.startswith("systemctl --user ") for command in commands(plan))
    assert all(str(act.path).startswith("/users/me/") for act in plan if isinstance(act, Write))


def test_removing_keeps_the_data_unless_a_purge_is_requested() -> None:
    kept = removing(SYSTEM, INSTALLED, purge=False)
    assert {act.path for act in kept if isinstance(act, Keep)} == {SYSTEM.data, SYSTEM.settings}
    gone = {act.path for act in removing(SYSTEM, INSTALLED, purge=True) if isinstance(act, Remove)}
    assert {SYSTEM.data, SYSTEM.settings.parent, SYSTEM.programs, SYSTEM.command, SYSTEM.unit} == gone


def test_somebody_elses_command_of_that_name_stays() -> None:
    plan = removing(SYSTEM, replace(INSTALLED, command="/somewhere/else"), purge=True)
    assert SYSTEM.command not in {act.path for act in plan if isinstance(act, Remove)}


def test_a_master_key_that_is_put_there_later_changes_the_unit_and_goes_with_a_purge_in_words() -> None:
    found = replace(INSTALLED, key="plain")
    plan = installing(SYSTEM, VERSION, found)
    (unit,) = [act for act in plan if isinstance(act, Write)]
    assert unit.text == sealed(unit_text(SYSTEM, key="plain")) != UNIT
    assert commands(plan)[-1] == "systemctl restart sanderling.service"
    assert any("master key" in act.says for act in removing(SYSTEM, found, purge=True))


def test_a_purge_removes_a_link_to_the_data_and_names_the_target() -> None:
    plan = removing(SYSTEM, replace(INSTALLED, data_link="/mnt/disk"), purge=True)
    assert Remove(SYSTEM.data, "only a link") in plan
    assert [str(act.path) for act in plan if isinstance(act, Keep)] == ["/mnt/disk"]
    dangling = removing(SYSTEM, replace(INSTALLED, data=False, data_link="../gone"), purge=True)
    assert Remove(SYSTEM.data, "only a link") in dangling


def test_a_master_key_without_settings_goes_with_a_purge_and_is_named_when_it_stays() -> None:
    found = FoundInstallation(key="encrypted")
    (gone,) = removing(SYSTEM, found, purge=True)
    assert isinstance(gone, Remove) and gone.path == SYSTEM.master_key.parent and "master key" in gone.says
    (kept,) = removing(SYSTEM, found, purge=False)
    assert isinstance(kept, Keep) and kept.path == Path("/etc/sanderling/master.key.cred")


def test_a_browser_is_held_by_two_units_a_socket_that_is_open_and_a_line_of_the_settings() -> None:
    say = "SANDERLING_BROWSER=off\n"
    plan = installing(SYSTEM, VERSION, replace(INSTALLED, settings_say=say), browser=SHELL)
    assert {act.path: act.text for act in plan if isinstance(act, Write)} == HELD
    (amended,) = [act for act in plan if isinstance(act, Amend)]
    assert (amended.before, amended.text) == (say, f"#SANDERLING_BROWSER=off\n{LINE}\n")
    assert commands(plan) == [
        "systemctl daemon-reload",
        "systemctl enable sanderling-browser.socket",
        "systemctl restart sanderling-browser.socket",
        "systemctl enable sanderling.service",
        "systemctl restart sanderling.service",
    ]
    assert [act.owed for act in plan if isinstance(act, Note)] == ["restart", ""], "also when it is cut off before"


def test_the_first_settings_have_the_line_of_a_browser_at_once() -> None:
    plan = installing(SYSTEM, VERSION, FoundInstallation(), browser=SHELL)
    (settings,) = [act for act in plan if isinstance(act, Write) and act.path == SYSTEM.settings]
    assert settings.text.endswith(f"\n{LINE}\n")


def test_a_browser_that_is_held_already_is_held_on_with_no_word_of_it() -> None:
    for browser in (SHELL, ""):
        plan = installing(SYSTEM, VERSION, WITH_BROWSER, browser=browser)
        assert {type(act) for act in plan} == {Keep, Run}
        assert commands(plan)[2] == "systemctl start sanderling-browser.socket"
    older = {path: sealed(text.replace("512", "64").partition("# Written")[0]) for path, text in HELD.items()}
    renewed = installing(SYSTEM, VERSION, replace(WITH_BROWSER, browser=older))
    assert [act.path for act in renewed if isinstance(act, Write)] == [SYSTEM.browser_service]
    assert commands(renewed)[-1] == "systemctl start sanderling.service", "the next browser is started by the new unit"


def test_another_browser_takes_the_place_of_the_one_that_is_held() -> None:
    plan = installing(SYSTEM, VERSION, WITH_BROWSER, browser="/usr/bin/chromium")
    (unit,) = [act for act in plan if isinstance(act, Write)]
    assert "browser-holder /usr/bin/chromium\n" in unit.text


def test_with_a_package_only_the_browser_is_installed() -> None:
    found = replace(INSTALLED, versions=(), current="", command="", unit=None)
    plan = holding(BESIDE_PACKAGE, found, SHELL)
    service = next(act.text for act in plan if isinstance(act, Write) and act.path == SYSTEM.browser_service)
    assert "ExecStart=/usr/bin/sanderling browser-holder" in service
    assert {type(act) for act in plan} == {Write, Amend, Run}
    assert commands(plan)[-1] == "systemctl try-restart sanderling.service"
    units = {path: sealed(text) for path, text in browser_units(BESIDE_PACKAGE, SHELL).items()}
    again = holding(BESIDE_PACKAGE, replace(found, browser=units, settings_say=LINE), SHELL)
    assert commands(again)[-1] == "systemctl start sanderling-browser.socket" and {type(act) for act in again} == {
        Keep,
        Run,
    }


def test_letting_go_of_a_browser_takes_its_units_and_its_line_and_nothing_else() -> None:
    plan = letting_go(SYSTEM, WITH_BROWSER)
    assert {act.path for act in plan if isinstance(act, Remove)} == HELD.keys()
    assert [act.text for act in plan if isinstance(act, Amend)] == ["# mine\n"]
    assert commands(plan) == [
        "systemctl try-restart sanderling.service",
        "systemctl disable --now sanderling-browser.socket",
        "systemctl daemon-reload",
    ]
    assert letting_go(SYSTEM, INSTALLED) == ()
    gone = {act.path for act in removing(SYSTEM, WITH_BROWSER, purge=False) if isinstance(act, Remove)}
    assert HELD.keys() <= gone


def test_removing_without_an_installation_does_nothing() -> None:
    assert removing(SYSTEM, FoundInstallation(), purge=True) == ()
