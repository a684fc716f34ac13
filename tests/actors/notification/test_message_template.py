"""Message templates: the language, every limit, and page text that stays inert in every dialect."""

from __future__ import annotations

import itertools
import re
from typing import Any

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from actors.content.errors import ContentError
from actors.notification.dialects import DIALECTS, MEASURES, DialectName, TextLimits, Unit, one_line
from actors.notification.fitting import plain_of
from actors.notification.headline import Notification, digest_of, notification_of
from actors.notification.message_template import (
    MOST_OUT,
    NAMES,
    OF_EVENTS,
    OF_MESSAGES,
    SAMPLES,
    WriteRequest,
    check,
    render,
)
from tests.actors.notification.test_notification import MARKUP, NASTY, a_diff, an_event, seen

PLAIN = TextLimits(text=4000, dialect="plain")


def made(template: str, told: Notification | None = None, limits: TextLimits = PLAIN, title: str = "") -> str:
    written = render(WriteRequest(template, title, told or notification_of("0190", an_event()), limits))
    return written.title if title else written.text


def refused(template: str, told: Notification | None = None, limits: TextLimits = PLAIN) -> str:
    with pytest.raises(ContentError) as caught:
        made(template, told, limits)
    return caught.value.reason


def test_a_template_renders_its_values() -> None:
    diff = a_diff(("29 kr", "31 kr"), added=("A night ferry",), removed=("The old bridge",))
    told = notification_of("0190", an_event(diff=diff, tags=["prices", "ferry"]))
    template = """
        {% for line in changed %}
        {{ line.place }}: {{ line.before }} -> {{ line.after }}
        {% endfor %}
        {% if "ferry" in tags %}New: {{ added | join(" / ") | upper }}{% endif %}
        Gone: {{ removed[0] }} at {{ host }}, {{ count }}
        {{ link }} {{ tags }}"""
    lines = [line.strip() for line in made(template, told).splitlines()]
    assert lines == [
        "Fares › Adult: 29 kr -> 31 kr",
        "New: A NIGHT FERRY",
        "Gone: The old bridge at news.test, 1",
        "https://news.test/1?a=(b)&c=[d] prices, ferry",
    ]


def test_changes_come_by_kind_without_those_of_another_version() -> None:
    price = {"kind": "price", "label": "Adult", "before": {"text": "29 kr"}, "after": {"text": "31 kr\x1b[2J"}}
    template = "{% for one in kinds %}{{ one.kind }} {{ one.label }}: {{ one.before }} > {{ one.after }};{% endfor %}"
    told = notification_of("0190", an_event(changes=[price, {"kind": "added", "after": {"text": "A night ferry"}}]))
    assert made(template, told) == "price Adult: 29 kr > 31 kr[2J;added :  > A night ferry;"
    assert made(f"x{template}", notification_of("0190", an_event(changes=[{"kind": 5}, 7]))) == "x"
    assert made(f"x{template}", notification_of("0190", an_event())) == "x"


def test_a_digest_has_a_list_of_its_events_and_the_values_of_the_first() -> None:
    told = digest_of("x", [an_event(id=str(at), title=f"Title {at}") for at in range(3)], 7)
    template = "{{ count }}: {% for event in events %}{{ loop.index }} {{ event.title }}; {% endfor %}{{ summary }}"
    assert made(template, told) == "7: 1 Title 0; 2 Title 1; 3 Title 2; From 29 to 31"
    assert made("{{ events | map(attribute='title') | join('+') }}", told) == "Title 0+Title 1+Title 2"
    assert made("{{ title }}", told) == "7 events of news.test"


def test_each_name_can_be_written_of_each_specimen_or_has_parts(subtests: pytest.Subtests) -> None:
    for name in sorted(NAMES):
        with subtests.test(name):
            for specimen in SAMPLES:
                if name in ("events", "changed", "kinds"):
                    part = "title" if name == "events" else "after"
                    text = made(f"x{{% for each in {name} %}}{{{{ each.{part} }}}}{{% endfor %}}", specimen)
                else:
                    text = made(f"x{{{{ {name} }}}}", specimen)
                assert text.startswith("x") and (len(text) > 1 or specimen is not SAMPLES[0] or name == "notice")


def test_there_are_twenty_two_names() -> None:
    assert len(OF_EVENTS) + len(OF_MESSAGES) == len(NAMES) == 22


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ tilte }}", "there is no value named tilte; there are: added, "),
        ("a\n\n{{ title.__class__ }}", "line 3: there is no value named __class__"),
        ("{{ title['__class__'] }}", "it makes no text"),
        ("{{ title | attr('__class__') }}", "No filter named 'attr'"),
        ("{{ title.upper() }}", "line 1: calls are not a part of message templates"),
        ("{{ range(9) }}", "calls are not"),
        ("{{ title * 9 }}", "the operator * is not"),
        ("{{ 9 ** 9 }}", "the operator ** is not"),
        ("{{ '%0999d' % 9 }}", "the operator % is not"),
        ("{{ title | format(9) }}", "No filter named 'format'"),
        ("{{ title | safe }}", "No filter named 'safe'"),
        ("{{ title | center(999999) }}", "No filter named 'center'"),
        ("{% macro m() %}{% endmacro %}", "macros are not"),
        ("{% include 'x' %}", "include is not"),
        ("{% import 'x' as y %}", "import is not"),
        ("{% extends 'x' %}", "extends is not"),
        ("{% block b %}{% endblock %}", "blocks are not"),
        ("{% filter upper %}x{% endfilter %}", "filter blocks are not"),
        ("{% set a %}x{% endset %}{{ a }}", "set with a block is not"),
        ("{{ {'a': 1} }}", "dictionaries are not"),
        ("{% for a in events %}{{ a }}{% endfor %}", "name one of its parts"),
        ("{{ events }}", "name one of its parts"),
        ("{% if %}", "line 1: "),
        ("one\n{{ title", "line 2: "),
        ("{{ 1 / 0 }}", "it can't be filled in: division by zero"),
        ("{{ title - 1 }}", "it can't be filled in"),
        ("{{ summary + 1 }}", "it can't be filled in"),
        ("{# nothing #}", "it makes no text"),
        ("   \n ", "it makes no text"),
        ("{{ (" + "(" * 5000 + "1" + ")" * 5001 + " }}", ""),
        ("{{ " + "-" * 5000 + "1 }}", ""),
        ("{% for a in tags recursive %}{{ loop(a) }}{% endfor %}", "calls are not"),
        ("{% autoescape false %}{{ title }}{% endautoescape %}", "autoescape is not"),
        ("{{ title is filter }}", "No test named 'filter'"),
        ("{{ self }}", "there is no value named self"),
        (
            "{{ 'x' | replace('x', 'y' | replace('y', '0123456789' | join('" + "z" * 5000 + "'))) }}",
            "it makes more than 4,000 characters",
        ),
    ],
)
def test_unsupported_syntax_is_refused_with_a_sentence(template: str, says: str) -> None:
    assert says in refused(template)


DOUBLING = "{% set a = 'x' %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}"
LONG = "{% set a = 'x' %}" + "{% set a = a ~ a %}" * 13
NESTING = "{% set a = [title] %}" + "{% set a = [a, a] %}" * 40


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{ [title] | map(attribute='format') | join }}", "there is no value named format"),
        ("{{ events | map(attribute='title.__class__') | join }}", "there is no value named __class__"),
        ("{{ events | sort(attribute=tags[0]) | length }}", "there is no value named an expression"),
        ("{{ '1e999' | float | int }}", "a number is too large"),
        ("{{ 1e999 }}", "a number is too large"),
        ("{{ 1e308 + 1e308 }}", "a number is too large"),
        (DOUBLING, "a value becomes too long"),
        (DOUBLING.replace("~", "+"), "a value becomes too long"),
        ("{% set a = [title] %}" + "{% set a = a + a %}" * 40 + "{{ a | length }}", "a value becomes too long"),
        (NESTING + "{{ a }}", "a value becomes too long"),
        (NESTING + "{{ a | upper }}", "a value becomes too long"),
        (NESTING + "{{ [a] | join }}", "a value becomes too long"),
        ("{% set a = 'x' * 1 %}", "the operator * is not"),
        (LONG + "{{ a | replace('x', a) }}", "a value becomes too long"),
        (LONG + "{{ a | replace('x', a) | replace('x', a) | replace('x', a) }}", "a value becomes too long"),
    ],
)
def test_unbounded_growth_and_python_access_are_refused_with_a_sentence(template: str, says: str) -> None:
    assert says in refused(template)


@pytest.mark.parametrize(
    "template",
    [
        "x{{ tags | sort(false, false, 'format') | join(',', 'format') }}",
        "x{{ tags | map(attribute='title') | join }}{{ tags | join(',', 'count') }}",
        "x{{ [tags | map('upper')] | join }}{{ tags | unique ~ '' }}{{ [tags | reverse] | join }}",
    ],
)
def test_no_function_and_no_address_of_the_worker_becomes_text(template: str) -> None:
    assert " at 0x" not in made(template)


def test_a_value_that_is_not_there_writes_nothing() -> None:
    assert made("[{{ notice }}{{ author }}{{ removed[0] }}{{ changed[0].after }}]") == "[]"
    assert made("{{ changed[0].after | default('none') }}, {{ author | default('nobody', true) }}") == "none, nobody"


def test_a_line_with_only_a_tag_disappears_and_a_tag_next_to_text_keeps_its_line() -> None:
    template = "one\n  {% if count %}\n{# a note #}\ntwo{% if host %}!{% endif %}\n{% endif %}\nthree"
    assert made(template) == "one\ntwo!\nthree"
    assert "line 4: there is no value named oops" in refused("{% if count %}\n\n{% endif %}\n{{ title.oops }}")


MARKED = (
    "{{ title }} {{ summary }} {{ content }} {{ link }}",
    "{{ text }}",
    "{{ [title, summary] | join(' ') }} {{ difference }}{{ link }}",
    "{{ title | replace('&', '&') }} {{ (title ~ ' ') ~ summary }} {{ link }}",
    "{{ title | truncate(4000) }}{% set more = content %} {{ more | trim }} {{ link }}",
)


def test_markup_of_a_page_is_shown_and_does_nothing(subtests: pytest.Subtests) -> None:
    for name, text, template in itertools.product(sorted(DIALECTS), MARKUP, MARKED):
        with subtests.test(name, text=ascii(text), template=template):
            shown_and_inert(name, text, template)


def shown_and_inert(name: DialectName, text: str, template: str) -> None:
    told = notification_of("0190", an_event(title=text, summary=text, content=text))
    written = made(template, told, TextLimits(text=60_000, dialect=name, titled=True))
    if "set" not in template:
        assert one_line(text) in " ".join(seen(name, written).split())
    assert "\u202e" not in written and "\r" not in written
    if name == "markdown":
        html = MarkdownIt("commonmark").enable(["strikethrough", "table"]).render(written)
        assert set(re.findall("(?:href|src)=.([^/]*//[^/]*)", html)) <= {"https://news.test"}
        assert set(re.findall(r"<(\w+)", html)) <= {"p", "strong", "a"}, html
        assert not re.search(r"@\w", written) and "<@" not in written
    if name == "slack":
        assert set(re.findall("<([^|>]*)", written)) <= {"https://news.test/1?a=%28b%29&amp;c=%5Bd%5D"}
    if name in ("html", "telegram", "card"):
        assert set(re.findall(r"<(\w+)", written)) <= {"strong", "b", "a", "br"}
        assert set(re.findall("href=.([^/]*//[^/]*)", written)) <= {"https://news.test"}


@pytest.mark.parametrize("name", ["markdown", "slack"])
@pytest.mark.parametrize("template", ["{{ title }}{{ summary }}", "{{ title[:3] }}{{ summary[:8] }}"])
def test_a_mention_split_over_two_values_has_no_effect(name: DialectName, template: str) -> None:
    for title, summary, called in (("a @", "everyone", "@everyone"), ("a <", "@123>", "<@"), ("a &", "lt;", "&lt;")):
        told = notification_of("0190", an_event(title=title, summary=summary))
        written = made(template, told, TextLimits(text=4000, dialect=name))
        assert called not in written or (name == "slack" and called == "&lt;"), written


def test_the_plain_text_of_an_html_template_has_no_tags() -> None:
    told = notification_of("0190", an_event(title="<i>1 < 2</i>"))
    limits = TextLimits(text=4000, dialect="html")
    written = made("<b>{{ title }}</b>\n&amp; more", told, limits)
    assert plain_of(told._replace(written=written), limits) == "<i>1 < 2</i>\n& more"


def test_text_already_marked_up_becomes_plain_when_altered() -> None:
    told = notification_of("0190", an_event(title="<b>Fares</b>"))
    limits = TextLimits(text=4000, dialect="html", titled=True)
    assert "<strong>" in made("{{ text }}", told, limits)
    for template in ("{{ text | lower }}", "{{ text ~ title }}", "{{ text[:9000] }}", "{{ text + title }}"):
        assert "<" not in made(template, told, limits), template
    assert made("<b>{{ title }}</b>", told, limits) == "<b>&lt;b&gt;Fares&lt;/b&gt;</b>"


PIECES = st.sampled_from(
    [
        *(f"{{{{ {name} }}}}" for name in sorted(NAMES - {"events", "changed"})),
        "{{ title | upper }}",
        "{{ content | truncate(20) }}",
        "{{ added | join('; ') }}",
        "{{ (title ~ summary) | replace('a', 'b') }}",
        "{% for line in changed %}{{ line.before }}/{{ line.after }}{{ line.place }}\n{% endfor %}",
        "{% for event in events %}{{ event.title }}: {{ event.difference }}\n{% endfor %}",
        "{{ title[2:9] }}",
        " and ",
        "\n",
    ]
)


@given(
    name=st.sampled_from(sorted(DIALECTS)),
    unit=st.sampled_from(sorted(MEASURES)),
    most=st.integers(300, 9000),
    pieces=st.lists(PIECES, min_size=1, max_size=8),
    title=NASTY,
    content=st.lists(NASTY, max_size=8).map("\n".join),
    lines=st.lists(st.tuples(NASTY, NASTY), max_size=6),
    repeated=st.sampled_from([1, 1, 40]),
)
def test_a_message_of_any_page_is_short_and_without_its_markup(
    name: DialectName,
    unit: Unit,
    most: int,
    pieces: list[str],
    title: str,
    content: str,
    lines: list[tuple[str, str]],
    repeated: int,
) -> None:
    changes: dict[str, Any] = {"title": title * repeated, "content": content * repeated, "url": "https://news.test/1"}
    if lines:
        changes["diff"] = a_diff(*lines * repeated)
    told = notification_of("0190", an_event(**changes))
    try:
        text = made("x" + "".join(pieces), told, TextLimits(dialect=name, unit=unit, text=most))
    except ContentError as error:
        assert "more than" in error.reason
        return
    assert MEASURES[unit](text) <= most and len(text.encode()) <= MOST_OUT
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)
    if name in ("html", "telegram", "card"):
        found = lxml.html.fragment_fromstring(text, create_parent="div")
        assert {element.tag for element in found.iter()} <= {"div", "strong", "b", "i", "s", "del", "a", "br", "ins"}
        assert all(set(element.attrib) <= {"href"} for element in found.iter())


def test_a_long_message_is_rebuilt_from_shorter_values() -> None:
    told = notification_of("0190", an_event(content="word " * 50_000, summary="S " * 2000))
    text = made("A: {{ content }} / {{ summary }}", told, TextLimits(dialect="plain", text=1000))
    assert 300 < len(text) <= 1000 and "…" in text and text.startswith("A: word word")
    assert len(made("{{ content }}", told, TextLimits(dialect="plain", text=60_000)).encode()) <= MOST_OUT
    events = [an_event(id=str(at), title=f"Title {at} " + "long " * 30) for at in range(200)]
    loop = "{% for event in events %}- {{ event.title }} {{ event.link }}\n{% endfor %}"
    shown = made(loop, digest_of("x", events, 200), TextLimits(dialect="plain", text=2000))
    assert len(shown) <= 2000 and shown.count("\n") >= 2
    assert "more than 100 characters" in refused("x" * 101, limits=TextLimits(dialect="plain", text=100))
    assert "more than 8 KiB" in refused("x" * 9000, limits=TextLimits(dialect="plain", text=100_000))


def test_a_title_is_one_line_of_plain_words_and_cut() -> None:
    told = notification_of("0190", an_event(title="a\r\nBcc: all@evil.test <b>"))
    assert made("", told, title="[{{ host }}]\n{{ title }}") == "[news.test] a Bcc: all@evil.test <b>"
    assert (
        len(made("", told, TextLimits(text=4000, dialect="html", title=20), title="{{ content }}{{ content }}")) <= 20
    )
    with pytest.raises(ContentError, match="the title is empty"):
        made("", told, title="{{ author }}")


def test_a_template_is_tried_on_an_event_a_notice_and_a_digest() -> None:
    check("{{ title }}", "{{ title }}", PLAIN)
    with pytest.raises(ContentError, match="it makes no text"):
        check("{{ content }}", "", PLAIN)  # a notice has none
    with pytest.raises(ContentError, match="it can't be filled in"):
        check("{{ title }}{% if count > 1 %}{{ 1 / 0 }}{% endif %}", "", PLAIN)


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("a{{ '\\ud800' }}b", "a?b"),  # half a surrogate pair, which UTF-8 cannot hold
        ("a\x1b[31mb{{ '\\u202e' }}c", "a[31mbc"),
        ("{{ title|truncate(1e999) }}", None),
    ],
)
def test_escapes_in_literals_are_inert_or_refused_with_a_sentence(template: str, made: str | None) -> None:
    limits = TextLimits(text=1000)
    if made is None:
        with pytest.raises(ContentError, match="can't be filled in"):
            check(template, "", limits)
    else:
        check(template, "", limits)
        assert render(WriteRequest(template, "", SAMPLES[0], limits)).text == made


@pytest.mark.parametrize(
    "template",
    ["@{{ title }}", "a\n@{% if count %}{{ title }}{% endif %}", "{{ '@' ~ title }}", "{% set a = '@' %}{{ a }}x"],
)
def test_an_at_sign_before_a_value_is_refused_when_it_is_saved(template: str) -> None:
    with pytest.raises(ContentError, match=r"line [12]: an @ right before a value"):
        check(template, "", TextLimits(text=1000))


@pytest.mark.parametrize(
    "template", ["@here {{ title }}", "{{ title }} @", "me@example.com {{ title }}", "@ {{ title }}"]
)
def test_an_at_sign_of_ones_own_stays(template: str) -> None:
    check(template, "", TextLimits(text=1000))
    assert "@" in render(WriteRequest(template, "", SAMPLES[0], TextLimits(text=1000))).text
