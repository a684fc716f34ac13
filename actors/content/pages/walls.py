"""Pages in place of the real one: login and consent walls, queues, challenges, errors with status 200, empty shells.

Each rule needs two signs, words and a page with little else, because pages also write *about* errors and logins. The
words of 38 languages are in the list `stand_ins`; a heading counts if it says little else.

An empty shell needs two signs as well: scripts, and a page that waits for them (an empty element that they fill, a
`noscript` that asks for JavaScript, or no text at all). A page with its own text is no shell. Nor is a wall: a browser
would not get past it, and is not meant to.

No sign decides alone. Titles, canonical links and languages change with a page too, and words about errors and logins
occur in pages about errors and logins.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from actors.content.bodies import markup
from actors.content.bodies.markup import Element
from actors.content.bodies.text import normalise
from actors.content.messages import StandIn
from actors.content.pages.blocks import Blocks
from actors.content.pages.traits import ASIDE, FURNITURE, HEADING, TOP
from actors.content.wording.words import word_lists, words_in

LITTLE = 150  # words of content below which a page may be a wall, an error or a stub
WORDS = word_lists("stand_ins")
_UNSPACED = frozenset({"ja", "zh", "th"})  # languages written without spaces between words
KINDS = ("error", "unavailable", "maintenance", "login", "redirect", "challenge", "loading", "consent")

_MOST_TITLE, _MOST_ADDRESS, _SHELL_WORDS = 1_000, 2_000, 30
_MANY_SCRIPTS, _LONGEST_REFRESH = 5, 10
_REFRESH = re.compile(r"(\d{1,6})(?:\.\d{0,6})?(?:\s?[;,](.*))?", re.S)
_TARGET = re.compile(r"^url\s?=\s?", re.I)
SHELL_IDS = frozenset("root app __next __nuxt svelte application app-root main-app react-root".split())  # noqa: SIM905
_SEPARATORS = re.compile(r"\s+[|•·–—\-~»«:/>]+\s+|\s*[|•·»«]\s*|:\s+")
_WORD = re.compile(r"[^\s.,;:!?|·•–—\-\"'()\[\]{}«»…]+")
"""Not `\\w`: it lacks the vowel signs of Indian scripts."""
_SAME_TITLE = 1 / 3
# Straight quotes; no soft hyphens; Persian's zero-width non-joiner as a space; no dot of a Turkish capital I.
_SPELLING = str.maketrans(
    {**dict.fromkeys("\u2018\u2019\u02bc", "'"), "\u200c": " ", **dict.fromkeys("\u00ad\u200b\u0307")}
)


class Evidence(Struct, frozen=True):
    """A page's statements about itself, apart from its content; empty if missing. title: of the `title` element,
    normalised. canonical: path and query of the canonical link, without the host. refresh_after: seconds until the page
    forwards to `refresh_to` ("" if it reloads itself), None without a refresh. language: as declared, in lower case.
    shell: hardly any text, and scripts to fill it.
    """

    title: str = ""
    canonical: str = ""
    refresh_after: int | None = None
    refresh_to: str = ""
    language: str = ""
    shell: bool = False

    @property
    def leads_away(self) -> bool:
        return bool(self.refresh_to) and self.refresh_after is not None and self.refresh_after <= _LONGEST_REFRESH


NO_EVIDENCE = Evidence()


def evidence_of(root: Element, blocks: Blocks) -> Evidence:
    title = next((element for element in root.iter("title") if element.getparent().tag != "svg"), None)
    after, target = _refresh(root)
    links = (link.get("href") for link in root.iter("link") if "canonical" in (link.get("rel") or "").lower().split())
    return Evidence(
        title=normalise(" ".join((title.text or "").split()))[:_MOST_TITLE] if title is not None else "",
        canonical=next((path_of(href) for href in links if href), ""),
        refresh_after=after,
        refresh_to=target,
        language=(root.get("lang") or root.get("xml:lang") or "").strip().lower()[:35],
        shell=_is_shell(root, blocks),
    )


def path_of(address: str) -> str:
    """Return path and query of an address in one spelling: no host, fragment, closing slash or needless escapes.

    >>> path_of("https://Shore.example/a%7Eb/?x=1#top"), path_of("https://shore.example")
    ('/a~b?x=1', '/')
    """
    try:
        parts = urlsplit(address.strip()[:_MOST_ADDRESS])
    except ValueError:
        return ""
    path = quote(unquote(parts.path, errors="replace"), safe="/~:@!$&'()*+,;=-._").rstrip("/")
    path = path if path.startswith("/") else f"/{path}"
    return f"{path}?{parts.query}" if parts.query else path


def _refresh(root: Element) -> tuple[int | None, str]:
    for meta in root.iter("meta"):
        is_refresh = (meta.get("http-equiv") or "").strip().lower() == "refresh"
        if is_refresh and next(meta.iterancestors("noscript"), None) is None:  # browsers with scripts obey it
            # Fold white space first, to keep the expressions fast.
            found = _REFRESH.fullmatch(" ".join((meta.get("content") or "")[:_MOST_ADDRESS].split()))
            if found:
                return int(found[1]), _TARGET.sub("", (found[2] or "").strip()).strip(" \"'")
    return None, ""


def _is_shell(root: Element, blocks: Blocks) -> bool:
    """Whether a page is an empty shell: hardly any words, and many scripts, or some and an element that waits."""
    if len(blocks.texts) > _SHELL_WORDS or sum(map(words_in, blocks.texts)) > _SHELL_WORDS:
        return False
    scripts = sum(1 for _ in root.iter("script"))
    ids = ((element.get("id") or "").strip().lower() for element in root.iter("div", "main", "section", "body"))
    return scripts >= _MANY_SCRIPTS or (scripts > 0 and any(id in SHELL_IDS for id in ids))


def kind_of(text: str) -> str:
    """Return the kind of page whose title or few words contain this text; "" if it names none."""
    return _kind(_folded(text[:300]))


def asks_for_consent(text: str) -> bool:
    """Whether `kind_of` returns "consent"; most texts need only one search."""
    folded = _folded(text[:300])
    return _patterns_for(folded)["consent"].search(folded) is not None and _kind(folded) == "consent"


def kind_of_head(text: str) -> str:
    """Return the kind that a part of a title or heading names with few other words; "" if none does."""
    folded = _folded(text[:300])
    return next((kind for part in _SEPARATORS.split(folded) if (kind := _kind(part, folded))), "")


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().translate(_SPELLING).split())


def _phrases(kind: str, languages: Iterable[str]) -> list[str]:
    found = {phrase for name in languages for phrase in WORDS[name][kind].split("|")}
    # The longest first: an alternation takes the first match.
    return sorted((_folded(phrase) for phrase in found), key=lambda phrase: (-len(phrase), phrase))


def _pattern(kind: str, *, ascii_only: bool = False) -> re.Pattern[str]:
    spaced = [
        rf"{re.escape(phrase[:-1])}\w*" if phrase.endswith("*") else rf"{re.escape(phrase)}(?!\w)"
        for phrase in _phrases(kind, (name for name in WORDS if name not in _UNSPACED))
        if phrase.isascii() or not ascii_only
    ]
    if ascii_only:
        return re.compile(rf"(?<!\w)(?:{'|'.join(spaced)})")
    unspaced = map(re.escape, _phrases(kind, (name for name in WORDS if name in _UNSPACED)))
    return re.compile(rf"(?<!\w)(?:{'|'.join(spaced)})|{'|'.join(unspaced)}")


_PATTERNS = {kind: _pattern(kind) for kind in KINDS}
_ASCII_PATTERNS = {kind: _pattern(kind, ascii_only=True) for kind in KINDS}
"""For ASCII text, which cannot contain half of the phrases, each otherwise tried at every word."""
_CODE = re.compile(r"(?:(?:http|error|erreur|fehler|fejl|virhe)\W{0,3})*(?:40\d|41\d|429|451|50\d|52\d)[^\w$€£¥%]*")
_MOST_BESIDE = 3  # extra words that a part of a title may have around the phrase: "Oops! Page not found"


def _kind(text: str, head: str = "") -> str:
    """Return the kind of a folded text; part of a `head` must contain little else."""
    if not text:
        return ""
    if _CODE.fullmatch(text) and _word_count(head) - _word_count(text) <= _MOST_BESIDE:
        return "error"
    for kind, pattern in _patterns_for(text).items():
        if found := pattern.search(text):
            words = _word_count(found[0])
            if not head or _word_count(text) - words <= min(_MOST_BESIDE, words):
                return kind
    return ""


def _patterns_for(text: str) -> Mapping[str, re.Pattern[str]]:
    return _ASCII_PATTERNS if text.isascii() else _PATTERNS


def _word_count(text: str) -> int:
    return sum(map(words_in, _WORD.findall(text)))


def titles_differ(old: str, new: str) -> bool:
    """Whether two titles belong to two pages; False if one is empty.

    Ignores the parts they share between bars and dashes (the site's name); with less than a third of the other words in
    common, they belong to two pages. Scripts without spaces are compared by pairs of characters.

    >>> titles_differ("Prices | Shore", "Log in | Shore"), titles_differ("Prices 2026 | Shore", "Prices 2027 | Shore")
    (True, False)
    """
    first, second = _parts(old), _parts(new)
    if not first or not second or first == second:
        return False
    shared = set(first) & set(second)
    one, other = (_bag(part for part in side if part not in shared) for side in (first, second))
    if not one or not other:
        # One is the other plus a site's name, or only the site's name: the title of the home page.
        longer = first if one else second
        return not shared or longer[0] not in shared
    return len(one & other) < _SAME_TITLE * len(one | other)


def _parts(title: str) -> list[str]:
    return [part for part in (" ".join(_WORD.findall(text)) for text in _SEPARATORS.split(_folded(title))) if part]


def parts_of_title(title: str) -> list[str]:
    return [part.strip() for part in _SEPARATORS.split(title) if part.strip()]


def titles_of(title: str) -> frozenset[str]:
    return frozenset(normalise(part) for part in (title, *_SEPARATORS.split(title)) if part.strip())


def _bag(parts: Iterable[str]) -> set[str]:
    words = {word: words_in(word) > 1 for word in " ".join(parts).split()}
    return {part for word, is_long in words.items() for part in (map("".join, pairwise(word)) if is_long else [word])}


_VERY_LITTLE, _FIRST = 60, 3
_EMPTY = StandIn("empty", "empty page: no visible text")
_CHALLENGED = StandIn("challenge", "challenge page: it asks whether you are human")
_QUEUED = StandIn("queue", "queue page: the site lets visitors in one by one")
_NEEDS_SCRIPT = StandIn("script", "needs JavaScript: the page has no text without it")
_CONSENTING = StandIn("consent", "consent wall")
_LOGGING_IN = StandIn("login", "login wall")

_CHALLENGE, _QUEUE, _ERROR, _CONSENT, _LOGIN, _SCRIPT = (
    re.compile(word_lists("parts")["walls"][name], re.I)
    for name in ("challenge", "queue", "error", "consent", "login", "script")
)


def trouble_of(root: Element, title: str, blocks: Blocks) -> StandIn | None:
    """Return the wall or error in the page's place, None if it is the page."""
    if not blocks.texts:
        return _EMPTY
    if (words := _words(blocks)) >= LITTLE:
        return None
    rows = list(zip(blocks.texts, blocks.traits, strict=True))
    content = [text for text, trait in rows if not trait & ASIDE]
    heads = [title, *(text for text, trait in rows if trait & HEADING)][:4]
    top = next((text for text, trait in rows if trait & TOP), "")
    everything = " ".join([title, *content])[:4000]
    tiny = words < _VERY_LITTLE
    if any(map(_CHALLENGE.search, heads)) or (tiny and _CHALLENGE.search(everything)):
        return _CHALLENGED
    if _QUEUE.search(everything):
        return _QUEUED
    if error := next(filter(_ERROR.search, heads + content[:3] if tiny and not top else heads), None):
        return _error(error)
    if _CONSENT.search(everything):
        return _CONSENTING
    if any(field.get("type") == "password" for field in root.iter("input")) or _is_login(title) or _is_login(top):
        return _LOGGING_IN
    if tiny and _SCRIPT.search(everything):
        return _NEEDS_SCRIPT
    return _by_words(root, blocks, (title, top), content[:_FIRST] if tiny and not top else [], tiny)


def _error(words: str) -> StandIn:
    return StandIn("error", f"error text with status 200: {words[:80]!r}")


def is_ample(blocks: Blocks) -> bool:
    return _words(blocks) >= LITTLE


def _words(blocks: Blocks) -> int:
    """Count the words outside furniture, up to the number that decides."""
    words = 0
    for text, trait in zip(blocks.texts, blocks.traits, strict=True):
        words += 0 if trait & FURNITURE else len(text.split())
        if words >= LITTLE:
            break
    return words


def _by_words(root: Element, blocks: Blocks, heads: Sequence[str], first: Sequence[str], tiny: bool) -> StandIn | None:
    """Detect a stand-in by words of other languages in its title, its h1 or its first words. No logins: "Anmeldung" is
    also the word for joining a course, and a password field is sign enough.
    """
    kinds = {kind: text for text in (*first, *heads) if (kind := kind_of_head(text))}
    if (said := kinds.get("error") or (kinds.get("maintenance") if tiny else None)) is not None:
        return _error(said)
    if "challenge" in kinds:
        return _CHALLENGED
    if "consent" in kinds:
        return _CONSENTING
    seen = evidence_of(root, blocks)
    if seen.leads_away and any(kind_of(text) == "redirect" for text in (*first, *heads)):
        return StandIn("redirect", f"it leads to another page: {seen.refresh_to[:80]}")
    return _NEEDS_SCRIPT if "loading" in kinds and seen.shell else None


def _is_login(head: str) -> bool:
    return len(head.split()) <= 8 and _LOGIN.search(head) is not None


FEW = 60  # minimum words of a page with its own text
NEXT_TO_NONE = 5  # maximum words of a page whose request for JavaScript counts; with more, its text may be complete
_LEAST_SCRIPT, _MOST_WAITING, _LOOKED_AT = 20, 8, 400
_JAVASCRIPT = re.compile(r"java\s?-?script", re.IGNORECASE)
_SCRIPTS = frozenset({"", "module", "text/javascript", "application/javascript", "text/babel"})
_MARKS = frozenset({"ng-app", "ng-version", "data-reactroot", "data-v-app", "data-server-rendered"})
_SHOWS = frozenset({"form", "table", "input"})


def shell_of(root: Element, trouble: StandIn | None, blocks: Blocks) -> str:
    """Describe the sign that a page is empty without its scripts, else "". trouble: from `trouble_of`."""
    if (trouble is not None and trouble.kind not in {"script", "empty"}) or not any(map(_runs, root.iter("script"))):
        return ""
    if trouble is not None and trouble.kind == "script":
        return "it says that it needs JavaScript"
    words = _words(blocks)
    if words >= FEW:
        return ""
    mounts = list(_mounts(root))
    waiting = next((mount for mount in mounts if _is_empty(mount)), None)
    if waiting is not None:
        own = (waiting.get("id") or "").strip()[:40]
        return f"<{waiting.tag[:40]}{own and f' id={own}'}> is empty until its scripts run"
    if not blocks.texts:
        return "it has scripts and no text"
    asks = (_JAVASCRIPT.search(" ".join(noscript.itertext())[:2_000]) for noscript in root.iter("noscript"))
    if not mounts and words <= NEXT_TO_NONE and any(asks):
        return "it asks for JavaScript, and has next to no text without it"
    return ""


def _runs(script: Element) -> bool:
    """Whether a script element is a program, and not data or the line of a counter."""
    kind = (script.get("type") or "").strip().lower()
    return kind in _SCRIPTS and (bool(script.get("src")) or len(script.text or "") >= _LEAST_SCRIPT)


def _mounts(root: Element) -> Iterator[Element]:
    """Yield the elements that scripts fill, by the names that frameworks use."""
    for element in root.iter():
        name = element.tag
        if not isinstance(name, str) or name in markup.UNSEEN or name in {"html", "body"}:
            continue
        is_app = name.endswith(("-app", "-root")) or name.startswith("app-")
        own = (element.get("id") or "").strip().lower()
        if is_app or own in SHELL_IDS or not _MARKS.isdisjoint(element.keys()):
            yield element


def _is_empty(mount: Element) -> bool:
    if next(mount.iter(*_SHOWS), None) is not None:
        return False
    text = " ".join(" ".join(markup.lines(mount)).split())[:_LOOKED_AT]
    return not text or (len(text.split()) <= _MOST_WAITING and kind_of(text) == "loading")
