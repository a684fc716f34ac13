"""The image and its example agree, and give the program the least privileges."""

from __future__ import annotations

import re
import subprocess
from ipaddress import ip_address, ip_network

import pytest
import yaml

from actors.setting_table import declared
from extras.install.units import SYSTEM, unit_text
from sanderling.environment import BESIDE, variable
from tests.e2e.fronts import CADDY
from tests.rules.source_files import ROOT

LINES = [
    line.split(maxsplit=1)
    for line in (ROOT / "release/Containerfile").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def said(word: str) -> list[str]:
    return [rest for first, rest in LINES if first == word]


def test_the_image_runs_as_user_nobody_and_has_a_health_check() -> None:
    assert said("USER") == ["10001:10001"] and LINES.index(["USER", "10001:10001"]) > LINES.index(["VOLUME", "/data"])
    assert said("COPY")[1] == "--chown=10001:10001 data/ /", "the folder in it has a mode of its own"
    assert 'mkdir -m 700 "$DIST/image/data/data"' in (ROOT / "release/package.sh").read_text("utf-8")
    assert "mkdir -m 700 /data && chown 10001:10001 /data" in (ROOT / "release/nodes/Containerfile").read_text("utf-8")
    assert said("RUN") == ['["/usr/bin/sanderling", "check"]'], "there is no shell, and what lacks a part is no image"
    assert said("HEALTHCHECK")[0].endswith('CMD ["/usr/bin/sanderling", "health"]')
    assert said("STOPSIGNAL") == ["SIGTERM"]


COMPOSED = yaml.safe_load((ROOT / "release/compose.yaml").read_text("utf-8"))
SERVICES = COMPOSED["services"]
OURS = ("sanderling", "sanderling-postgres")
NODES = yaml.safe_load((ROOT / "release/nodes/compose.yaml").read_text("utf-8"))["services"]
PAGE = (ROOT / "docs/install.md").read_text("utf-8")


@pytest.mark.parametrize("name", OURS)
def test_the_example_takes_everything_away_but_the_data_and_waits_as_long_as_the_unit(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["tmpfs"] == ["/tmp"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    (data,) = (volume.partition(":")[0] for volume in service["volumes"] if volume.endswith(f":{said('VOLUME')[0]}"))
    assert data in COMPOSED["volumes"]
    assert service["ports"] == [f"127.0.0.1:{said('EXPOSE')[0]}:{said('EXPOSE')[0]}"], "seen by this machine only"
    waits = re.search(r"TimeoutStopSec=(\S+)", unit_text(SYSTEM))
    assert waits and service["stop_grace_period"] == waits[1]


def test_each_service_of_the_example_has_a_profile_that_the_page_names() -> None:
    profiles = {name: service["profiles"] for name, service in SERVICES.items()}
    assert profiles == {
        "sanderling": ["sqlite"],
        "sanderling-postgres": ["postgres"],
        "postgres": ["postgres"],
        "proxy": ["proxy"],
        "browser": ["browser"],
    }
    assert all(f"--profile {profile}" in PAGE for (profile,) in profiles.values())


def test_the_example_names_settings_and_images_that_there_are() -> None:
    known = {variable(name) for name in declared()} | BESIDE.keys()
    named = {word for service in SERVICES.values() for word in service.get("environment", {})}
    assert {word for word in named if word.startswith("SANDERLING_")} <= known
    images = {name: service["image"] for name, service in SERVICES.items()}
    assert all(f"docker build -t {images[name]} " in PAGE for name in (*OURS, "browser"))
    assert (images["postgres"], images["proxy"]) == (NODES["postgres"]["image"], NODES["balancer"]["image"])


def test_every_volume_and_secret_of_the_example_is_declared_and_used() -> None:
    mounted = {
        place.partition(":")[0]
        for service in SERVICES.values()
        for place in service.get("volumes", ())
        if not place.startswith(".")
    }
    assert mounted == set(COMPOSED["volumes"])
    secrets = {name for service in SERVICES.values() for name in service.get("secrets", ())}
    assert secrets == set(COMPOSED["secrets"])
    assert all(f"> {secret['file']}" in PAGE for secret in COMPOSED["secrets"].values())


def test_the_database_of_the_example_is_the_one_of_several_nodes() -> None:
    assert {key: value for key, value in SERVICES["postgres"].items() if key != "profiles"} == NODES["postgres"]


def test_the_service_of_the_example_trusts_only_its_proxy() -> None:
    address = SERVICES["proxy"]["networks"]["default"]["ipv4_address"]
    assert {SERVICES[name]["environment"]["SANDERLING_TRUSTED_PROXIES"] for name in OURS} == {f"{address}/32"}
    (network,) = COMPOSED["networks"]["default"]["ipam"]["config"]
    assert ip_address(address) in ip_network(network["subnet"])


def test_the_proxy_of_the_example_is_the_one_of_the_page_on_proxies() -> None:
    text = (ROOT / "release/Caddyfile").read_text("utf-8").expandtabs(4)
    (printed,) = re.findall(r"```caddy\n(.*?)```", (ROOT / "docs/proxies.md").read_text("utf-8"), re.S)
    printed = printed.replace("sanderling.example.org {", "{$SANDERLING_BASE_URL} {")
    aliases = {alias for name in OURS for alias in SERVICES[name]["networks"]["default"]["aliases"]}
    assert aliases == {"service"}
    assert text.endswith("\n" + printed.replace("127.0.0.1:8080", "service:8080"))
    assert "./Caddyfile:/etc/caddy/Caddyfile:ro" in SERVICES["proxy"]["volumes"]
    assert "release/Caddyfile" in (ROOT / "release/package.sh").read_text("utf-8"), "it lies beside the compose file"


def test_the_browser_of_the_example_reaches_the_guarded_proxy_and_nothing_else() -> None:
    browser, network = SERVICES["browser"], COMPOSED["networks"]["browser"]
    assert browser["networks"] == ["browser"] and network["internal"] and "ports" not in browser
    assert browser["read_only"] and browser["cap_drop"] == ["ALL"] and browser["tmpfs"] == ["/tmp"]
    for service in map(SERVICES.__getitem__, OURS):
        address = service["networks"]["browser"]["ipv4_address"]
        assert ip_address(address) in ip_network(network["ipam"]["config"][0]["subnet"])
        assert service["environment"]["SANDERLING_BROWSER_PROXY_LISTEN"].rpartition(":")[0] == address
        assert service["environment"]["SANDERLING_BROWSER"] == "${SANDERLING_BROWSER:-}", "none unless .env names it"
    (named,) = re.findall(r"SANDERLING_BROWSER=(http://\S+)", PAGE)
    held = (ROOT / "release/browser/browser.sh").read_text("utf-8")
    assert named == "http://browser:9222" and "TCP-LISTEN:9222," in held
    assert "--force-webrtc-ip-handling-policy=disable_non_proxied_udp" in held, "else it gets no page"
    assert "release/browser" in (ROOT / "release/package.sh").read_text("utf-8"), "it lies beside the compose file"


@pytest.mark.real
@pytest.mark.skipif(CADDY.program is None, reason="caddy is not installed")
def test_caddy_understands_the_proxy_of_the_example() -> None:
    line = [str(CADDY.program), "adapt", "--adapter", "caddyfile", "--config", str(ROOT / "release/Caddyfile")]
    told = subprocess.run(
        line, env={"SANDERLING_BASE_URL": "https://news.example.org"}, check=True, capture_output=True, text=True
    )
    assert "service:8080" in told.stdout and "news.example.org" in told.stdout
