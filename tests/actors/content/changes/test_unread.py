"""Pages recognised by their bytes without programs, styles and comments: no reader sees these."""

from __future__ import annotations

import random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.content.bodies import markup
from actors.content.errors import ContentError
from actors.content.pages.page import OpenedPage, open_page

SOUP = """<p>|</p>|<b>|</b>|<p title="|<p title='|<a href=x |<img src="|<p hidden=|"|'|>|<|/>|</|=|&|&lt;|;| |\n|tide|
<!--|-->|--!>|<!-->|<!--->|<!|<?|--|<![CDATA[|]]>|<!DOCTYPE html "|<plaintext>|<noscript>|</noscript>|<template>|
</template>|<textarea>|</textarea>|<title>|</title>|<svg>|</svg>|<iframe>|</iframe>|<xmp>|</xmp>|<style>|</style>|
<STYLE >|</Style>|<script>|</script>|<script |<script type="a|<script '>|</script |</scripty>|<scripty>|</SCRIPT>|
<script type=application/ld+json>|<script type='application/json' id=a>|\0|</scr\0ipt>|<!-\0-|</body>|</html >|<html>|
<body|<td>|<table>|<tr>|<li>|<form>|<head>|</head>|<select>|<option>|<math>|<frameset>|å|\ufffe|</p |<di|&am|p;"""
TOKENS = [token.strip("\n") or token for token in SOUP.replace("|\n", "|").split("|")]
HIDDEN = (
    "<!-- {} -->", "<!--{}-->", "<!-- {} --><b>", "><!-- {} --><p>", "<script>{}</script>", "<style>{}</style>",
    "<script nonce='a'>{}</script>", "<script><!--{}</script>", "<SCRIPT>{}</script >",
    '<script type="application/ld+json">{}</script>', '<script type="application/json">{{"price": "4{}"}}</script>',
    "<script nonce='{}'>a</script>", "<script src={} id=a>a</script>", '<script a="b" nonce="{}">a</script>',
    "{}", "<p title='{}'>", "<textarea>{}</textarea>", "<p {}>", "<img src='a{}'>", "<b data-price=4 data-name='>{}'>",
)  # fmt: skip
CHARSETS = ("utf-8", "utf-8", "iso-8859-1", "utf-16")


def soup(chance: random.Random, most: int) -> str:
    return "".join(chance.choice(TOKENS) for _ in range(chance.randrange(most)))


def pair(chance: random.Random) -> tuple[str, str]:
    """Return two pages that differ in one part, mostly in a comment, program or style."""
    head, between, tail = (soup(chance, 7) for _ in range(3))
    shell, again = chance.choice(HIDDEN), chance.choice(HIDDEN[:7])
    one, other = (shell.format(soup(chance, 4)) if chance.random() < 0.8 else "" for _ in range(2))
    same = again.format(soup(chance, 3))
    return tuple(f"<p>Low tide</p>{head}{part}{between}{same}{tail}<p>The end</p>" for part in (one, other))  # type: ignore[return-value]


def opened(text: str, last: bytes | None, charset: str = "utf-8") -> OpenedPage | None:
    served = "text/html; charset=utf-8" if charset == "utf-8" else "text/html"
    try:
        return open_page(text.encode(charset, "replace"), served, None, (), last=last)
    except ContentError:
        return None


def is_recognised(one: str, other: str, charset: str = "utf-8") -> bool:
    """Whether two pages are taken for the same; then a whole parse must find the same in both."""
    first = opened(one, b"", charset)
    if first is None or not first.bare:
        return False
    second = opened(other, first.bare, charset)
    whole, others = opened(one, None, charset), opened(other, None, charset)
    assert whole is not None and first.rough == whole.rough and first.seen == whole.seen, one
    if second is None or second.root is not None:
        return False
    assert others is not None and others.rough == whole.rough and others.seen == whole.seen, (one, other)
    return True


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 1 << 48))
def test_pages_of_the_same_digest_have_the_same_tree(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(5):
        is_recognised(*pair(chance), chance.choice(CHARSETS))


PAGE = "<!DOCTYPE html><html><style>{style}</style></head>{comment}<body><p>Low tide</p><script>{code}</script></body>"
USUAL = {"style": "", "comment": "<!-- made at 12:04 -->", "code": "let x = 1", "tide": "Low"}


@pytest.mark.parametrize(
    "other",
    [
        {"code": "if (a < b) {}"},
        {"code": "'<p>' + \"'\""},
        {"style": "p > b {}"},
        {"comment": "<!-- made at 12:05 -->"},
    ],
)
def test_other_programs_styles_and_comments_are_recognised(other: dict[str, str]) -> None:
    assert is_recognised(PAGE.format(**USUAL), PAGE.format(**USUAL | other))
    assert is_recognised(PAGE.format(**USUAL | other), PAGE.format(**USUAL))


@pytest.mark.parametrize(
    "page",
    [
        '<p title="><!-- {} --><p>">Low tide',
        '<p title="<script>{}</script>"><script \'>low</script>Low tide',
        "<!-- a> <!-- {} --><b>Low tide</b> -->",
        "<script><!-- <script> </script> <!-- {} --><b>Low</b> tide --></script><p>End",
        '<script type="application/ld+json">{{"name": "{}"}}</script><p>Low tide',
        '<script type="application/json">{{"name": "{}", "price": "4"}}</script><p>Low tide',
        '<script type="application/ld&#43;json">{{"name": "{}"}}</script><p>Low tide',
        "<script>low</SCRIPT>{}</script><p>Low tide",
        "<script-loader>{}</script-loader><p>Low tide",
        "<title>Tide <!-- {} --></title><p>Low tide",
        "<textarea><!-- {} --></textarea><p>Low tide",
        "<p>a<!--> {} --><p>Low tide",
        "<p>a<!-- --!>{}--><p>Low tide",
        "</p <!-- --><b {}>Low tide</b>",
        "<plaintext><script>{}</script>",
        "<p {}>Low tide",
    ],
)
def test_what_may_be_read_is_not_left_out(page: str) -> None:
    assert not is_recognised(page.format("low"), page.format("high"))


def test_hostile_pages_cost_linear_time() -> None:
    for part in (
        "<script>",
        "<script a='",
        "<style ",
        "<!--",
        "<!-- -",
        "<script><!--",
        "<!-- a --><",
        "<script>a</",
        ">",
    ):
        spent = []
        for size in (1 << 15, 1 << 18):
            start = process_time()
            markup.emptied((part * (size // len(part))).encode())
            spent.append(process_time() - start)
        assert spent[1] < 40 * max(spent[0], 0.005), part
