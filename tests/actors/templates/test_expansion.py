"""The sources of the contract's table, and the limits of filling in."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from hypothesis import assume, given
from hypothesis import strategies as st

from actors.templates.template import BadParameters, built_in, expand, read_parameters
from tests.actors.templates.samples import a_template

BASE = "https://clinicaltrials.gov"


def sources(name: str, **given: list[str]) -> list[tuple[str, str]]:
    template = built_in().get(name)
    assert template is not None
    return [(one.url, one.type) for one in expand(template, read_parameters(template, given), BASE)]


def test_each_competitor_gets_three_pages_and_a_blog() -> None:
    assert sources("gtm-competitor-watch", domain=["acme.com", "b.example"]) == [
        ("https://acme.com/pricing", "html"),
        ("https://acme.com/careers", "html"),
        ("https://acme.com/about", "html"),
        ("https://acme.com/blog", "feed"),
        ("https://b.example/pricing", "html"),
        ("https://b.example/careers", "html"),
        ("https://b.example/about", "html"),
        ("https://b.example/blog", "feed"),
    ]


def test_the_swedish_public_sector_has_five_pages_on_five_hosts() -> None:
    found = sources("swedish-public-sector")
    assert [kind for _, kind in found] == ["html"] * 5
    assert len({urlsplit(url).hostname for url, _ in found}) == 5
    assert all(url.startswith("https://www.") for url, _ in found)


def test_each_condition_gets_a_feed_of_the_registry() -> None:
    assert sources("clinical-trials-watch", condition=["type 2 diabetes", "AT&T?"]) == [
        (f"{BASE}/api/rss?cond=type%202%20diabetes&dateField=StudyFirstPostDate", "feed"),
        (f"{BASE}/api/rss?cond=AT%26T%3F&dateField=StudyFirstPostDate", "feed"),
    ]


def test_the_registry_is_a_setting_with_or_without_a_slash_at_its_end() -> None:
    template = built_in().get("clinical-trials-watch")
    assert template is not None
    for base in ("http://127.0.0.1:9000/trials", "http://127.0.0.1:9000/trials/"):
        (one,) = expand(template, {"condition": ("x",)}, base)
        assert one.url == "http://127.0.0.1:9000/trials/api/rss?cond=x&dateField=StudyFirstPostDate"


def test_sources_carry_their_tags_and_last_the_templates_own() -> None:
    template = built_in().get("gtm-competitor-watch")
    assert template is not None
    first = expand(template, {"domain": ("acme.com",)}, BASE)[0]
    assert first.tags == ("page:pricing", "company:acme.com", "template:gtm-competitor-watch")
    plain = a_template('[[sources]]\nurl = "https://a.example/"\ntype = "html"\ntags = ["mine", "mine"]')
    assert expand(plain, {}, BASE)[0].tags == ("label:mine", "template:own")


def test_several_parameters_make_every_pair_and_each_url_once() -> None:
    template = a_template(
        '[[parameters]]\nkey = "site"\ntype = "domain"\ndescription = "d"\nexample = "a.example"\nmax = 2',
        '[[parameters]]\nkey = "word"\ntype = "string"\ndescription = "d"\nexample = "x"\nmax = 2',
        '[[sources]]\nurl = "https://{site}/?q={word}"\ntype = "html"',
        '[[sources]]\nurl = "https://{site}/"\ntype = "html"',
    )
    found = expand(template, {"site": ("a.example", "b.example"), "word": ("x", "y")}, BASE)
    assert [one.url.removeprefix("https://") for one in found] == [
        "a.example/?q=x",
        "a.example/",
        "a.example/?q=y",
        "b.example/?q=x",
        "b.example/",
        "b.example/?q=y",
    ]


@given(st.text(min_size=1, max_size=60))
def test_a_string_stays_inside_the_part_of_the_url_that_it_fills(text: str) -> None:
    template = built_in().get("clinical-trials-watch")
    assert template is not None
    try:
        values = read_parameters(template, {"condition": [text]})
    except BadParameters:
        assume(False)
    (one,) = expand(template, values, BASE)
    split = urlsplit(one.url)
    assert (split.scheme, split.netloc, split.path, split.fragment) == ("https", "clinicaltrials.gov", "/api/rss", "")
    assert parse_qs(split.query) == {"cond": list(values["condition"]), "dateField": ["StudyFirstPostDate"]}
