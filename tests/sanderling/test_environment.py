"""Settings: flags beat variables beat the file; unknown settings are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.setting_table import declared, declared_as, with_values
from actors.settings import Settings
from sanderling import __version__, environment
from sanderling.environment import BESIDE, flag, load, variable
from sanderling.exits import CommandFailed, Exit
from tests.rules.source_files import ROOT


def refusal(flags: dict[str, str], variables: dict[str, str], config: str | None = None) -> str:
    with pytest.raises(CommandFailed) as caught:
        load(flags, variables, config)
    assert caught.value.code == Exit.BAD_SETTING
    return caught.value.message


@pytest.fixture
def folder(tmp_path: Path) -> dict[str, str]:
    """An empty data folder, as a variable."""
    return {"SANDERLING_DATA": str(tmp_path)}


def test_without_anything_the_table_decides(folder: dict[str, str]) -> None:
    loaded = load({}, folder)
    assert loaded.settings == Settings(data=folder["SANDERLING_DATA"])
    assert loaded.origin("port") == "default"


def test_a_pip_installation_uses_the_systems_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: dict[str, str]
) -> None:
    (tmp_path / f"sanderling-{__version__}.dist-info").mkdir()
    (tmp_path / "sanderling").mkdir()
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "sanderling/environment.py"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    loaded = load({}, {})
    assert loaded.settings.data == str(tmp_path / "home/sanderling")
    assert loaded.origins["data"] == "this system's folder for data"
    assert load({}, folder).settings.data == folder["SANDERLING_DATA"]
    assert environment.typed("status", loaded.settings.data).startswith("sanderling status")


def test_a_flag_beats_a_variable_beats_the_file(tmp_path: Path, folder: dict[str, str]) -> None:
    (tmp_path / "sanderling.toml").write_text('port = 1\nworkers = 3\nhost = "::1"\n')
    loaded = load({"port": "3"}, folder | {"SANDERLING_PORT": "2", "SANDERLING_WORKERS": "4"})
    assert (loaded.settings.port, loaded.settings.workers, loaded.settings.host) == (3, 4, "::1")
    assert [loaded.origins[name] for name in ("port", "workers", "host")] == [
        "--port",
        "SANDERLING_WORKERS",
        str(tmp_path / "sanderling.toml"),
    ]


def test_every_setting_works_as_option_variable_and_file_entry(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for name, one in declared().items():
        with subtests.test(name):
            value = one.default
            text = ",".join(value) if isinstance(value, tuple) else str(value)
            toml = tmp_path / "other.toml"
            toml.write_text(f"{name} = {list(value) if isinstance(value, tuple) else repr(value)}\n")
            assert load({name: text}, {}).origins[name] == flag(name)
            assert load({}, {variable(name): text}).origins[name] == variable(name)
            assert load({}, {}, str(toml)).origins[name] == str(toml)
            assert one.value(load({name: text}, {}).settings) == value


def test_lists_are_separated_by_commas(folder: dict[str, str]) -> None:
    loaded = load({"allow_networks": "127.0.0.0/8, 10.0.0.0/8,"}, folder)
    assert loaded.settings.allow_networks == ("127.0.0.0/8", "10.0.0.0/8")


def test_an_unknown_variable_is_refused_with_the_nearest_name() -> None:
    assert "SANDERLING_PORT" in refusal({}, {"SANDERLING_PROT": "1"})


def test_an_unknown_key_of_the_file_is_refused_with_the_nearest_name(tmp_path: Path, folder: dict[str, str]) -> None:
    (tmp_path / "sanderling.toml").write_text("wokers = 3\n")
    assert "Did you mean workers?" in refusal({}, folder)


def test_other_variables_are_none_of_our_business(folder: dict[str, str]) -> None:
    assert load({}, folder | {"PORT": "x", "SANDERLIN": "y"} | dict.fromkeys(BESIDE, "")).settings.port == 8080


@pytest.mark.parametrize(
    ("flags", "variables", "words"),
    [
        ({"port": "x"}, {}, "--port = 'x': must be a whole number"),
        ({}, {"SANDERLING_PORT": "99999"}, "must be from 0 to 65535. (from SANDERLING_PORT)"),
        ({"sweep": "nan"}, {}, "must be a number"),
        ({"sweep": "inf"}, {}, "must be a number"),
        ({"allow_networks": "10.0.0.1/8"}, {}, "write CIDR"),
        ({"log_level": "loud"}, {}, "debug, info, warning or error"),
        ({"base_url": "ftp://x"}, {}, "http:// or https://"),
        ({"sign_looks": "yes"}, {}, "off or on"),
        ({"sign_looks": "on"}, {}, "base_url is not of https"),
        ({"sign_looks": "on", "base_url": "https://a.example/path"}, {}, "without a path"),
        ({"metrics_bind": "9464"}, {}, "write an address and a port"),
        ({"browser_proxy_listen": "10.0.0.5"}, {}, "write an address and a port"),
        ({"browser_proxy_address": "sanderling:8082"}, {}, "browser_proxy_listen is not"),
        ({"browser_proxy_listen": "0.0.0.0:8082"}, {}, "set browser_proxy_address"),
        ({"metrics_bind": "::1:9464"}, {}, "write an address and a port"),
        ({"metrics_bind": "[::1]:70000"}, {}, "write an address and a port"),
    ],
)
def test_a_bad_value_is_refused_in_words(flags: dict[str, str], variables: dict[str, str], words: str) -> None:
    assert words in refusal(flags, variables)


def test_only_host_and_port_of_a_browsers_address_are_shown() -> None:
    for address, seen in (
        ("http://10.0.0.7:9222", "http://10.0.0.7:9222"),
        ("http://10.0.0.7:9222?token=s3cret", "http://10.0.0.7:9222/..."),
        ("wss://a.example/devtools/browser/s3cret", "wss://a.example/..."),
        ("http://me:s3cret@a.example/", "http://a.example/..."),
        ("/usr/bin/chromium", "/usr/bin/chromium"),
        ("unix:/run/sanderling-browser.sock", "unix:/run/sanderling-browser.sock"),
    ):
        settings = with_values(Settings(), browser=address)
        assert declared_as("browser").shown(settings) == seen and "s3cret" not in repr(settings)
    assert "s3cret" not in refusal({"browser": "http://a:1?s3cret\n"}, {})


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("port = '1'", "must be a whole number"),
        ("port = true", "must be a whole number"),
        ("host = 1", "must be a string in quotes"),
        ("allow_networks = [1]", "must be a list of strings"),
        ("sweep = nan", "must be a number"),
        ("port = ", "is not TOML"),
        ("data = 'x'", "use --data"),
    ],
)
def test_a_bad_file_is_refused_in_words(toml: str, words: str, tmp_path: Path, folder: dict[str, str]) -> None:
    (tmp_path / "sanderling.toml").write_text(toml)
    message = refusal({}, folder)
    assert words in message
    assert str(tmp_path / "sanderling.toml") in message


def test_a_named_file_must_exist_and_may_move_the_data(tmp_path: Path) -> None:
    assert "cannot be read" in refusal({}, {}, str(tmp_path / "absent.toml"))
    (tmp_path / "here.toml").write_text("data = '/elsewhere'\n")
    assert load({}, {"SANDERLING_CONFIG": str(tmp_path / "here.toml")}).settings.data == "/elsewhere"


@pytest.mark.parametrize("name", ["base_url", "contact", "host", "tls_cert"])
def test_x5_a_setting_that_could_end_a_header_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} = .* no control characters"):
        Settings(**{name: "http://x\r\nSet-Cookie: a"})


def test_hints_name_the_program_as_it_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "None yet: `sanderling add URL`, or: sanderling keys master\n  sanderling tail\nsanderling is a bird."
    monkeypatch.chdir(ROOT)
    assert environment.hinted(text) == (
        "None yet: `bin/sanderling add URL`, or: bin/sanderling keys master\n"
        "  bin/sanderling tail\nsanderling is a bird."
    )
    monkeypatch.setattr(environment, "__file__", str(tmp_path / "sanderling/environment.py"))
    for started, name in (
        ("/opt/x y/sanderling", "'/opt/x y/sanderling'"),
        ("dist/sanderling", "dist/sanderling"),
        ("sanderling", "sanderling"),
        ("/usr/lib/python3/site-packages/sanderling/__main__.py", "sanderling"),
    ):
        monkeypatch.setattr("sys.argv", [started])
        assert environment.program() == name
    monkeypatch.setattr(environment, "which", lambda _name: "/usr/bin/sanderling")
    monkeypatch.setattr("sys.argv", ["/usr/bin/sanderling"])
    assert environment.program() == "sanderling"


def test_a_folder_with_spaces_is_one_word_of_a_hint() -> None:
    assert environment.typed("tail", "/my data").endswith("sanderling tail --data '/my data'")
