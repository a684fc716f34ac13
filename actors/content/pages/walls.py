"""Pages in place of the real one: login and consent walls, queues, challenges, errors with status 200.

Each rule needs two signs, words and a page with little else, because pages also write *about* errors and logins. The
words of 38 languages are in `stand_in_words`; a heading counts if it says little else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from actors.content.bodies.markup import Element
from actors.content.messages.readings import StandIn
from actors.content.pages.blocks import Blocks
from actors.content.pages.evidence import LITTLE, evidence_of, kind_of, kind_of_head
from actors.content.pages.traits import ASIDE, FURNITURE, HEADING, TOP

_VERY_LITTLE = 60
_FIRST = 3
_EMPTY = StandIn("empty", "empty page: no visible text")
_CHALLENGED = StandIn("challenge", "challenge page: it asks whether a human is looking")
_QUEUED = StandIn("queue", "queue page: the site lets visitors in one by one")
_NEEDS_SCRIPT = StandIn("script", "needs JavaScript: the page has no text without it")
_CONSENTING = StandIn("consent", "consent wall")
_LOGGING_IN = StandIn("login", "login wall")


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_CHALLENGE = _any_of(
    r"just a moment|einen moment bitte|un instant|attention required!|pardon our interruption",
    r"checking (?:if the site|your browser)|verify(?:ing)? (?:that )?you are (?:a )?human|human verification",
    r"are you (?:a )?(?:human|robot)|security (?:check|checkpoint)|ddos.guard",
    r"bot (?:check|verification)|unusual traffic",
)
_QUEUE = _any_of(
    r"waiting room|you are (?:now )?in (?:the |a )?(?:queue|line)|virtual queue",
    r"warteraum|warteschlange|file d'attente",
)
_ERROR = _any_of(
    r"^\W*(?:error\W{0,3})?(?:40\d|41\d|429|451|50\d|52\d)\b(?!\s*(?:[$€£%]|ways|things|best))",
    r"page (?:can ?not|could ?n[o']t|was not|is not|isn't|not)\b.{0,12}(?:found|available|exist)",
    r"page (?:doesn't|does not) exist|(?:access|permission) (?:to this page )?(?:has been )?denied|^\W*forbidden",
    r"service (?:is )?(?:temporarily )?unavailable|bad gateway|gateway time-?out|internal server error",
    r"too many requests|something went wrong|temporarily (?:unavailable|down)|under maintenance|site maintenance",
    r"wartungsarbeiten|seite (?:wurde )?nicht gefunden|page (?:introuvable|non trouvée)",
    r"(?:seite|dienst|inhalt|angebot)\b.{0,20}\bnicht verfügbar",
    r"sidan (?:hittades inte|kunde inte hittas|finns inte)|página no encontrada|application error",
    r"site is (?:currently )?offline|domain (?:is )?for sale",
)
_CONSENT = _any_of(
    r"before you continue|bevor (?:sie|du) (?:fortfahren|fortfährst)|avant de (?:continuer|poursuivre)",
    r"innan du fortsätter",
)
_LOGIN = _any_of(
    r"\b(?:log ?in|sign ?in|log ?on|anmelden|einloggen|connexion|se connecter|logga in|iniciar sesión|accedi)\b"
)
_SCRIPT = _any_of(
    r"(?:enable|requires?|need|activate|turn on) (?:to (?:enable|activate) )?(?:javascript|cookies)",
    r"javascript (?:is )?(?:required|disabled)|javascript aktivieren|activer javascript|aktivera javascript",
)


def trouble_of(root: Element, title: str, blocks: Blocks) -> StandIn | None:
    """Return the wall or error in the page's place, None if it is the page."""
    rows = list(zip(blocks.texts, blocks.traits, strict=True))
    if not rows:
        return _EMPTY
    words = _words(blocks)
    if words >= LITTLE:
        return None
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
    """Whether a page has too many words to be a stand-in, despite other signs."""
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
    """Detect a stand-in by words of other languages in its title, its h1 or its first words.

    Logins are not included: "Anmeldung" is also the word for joining a course, and a password field is sign enough.
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
    """Whether a heading only asks to log in."""
    return len(head.split()) <= 8 and _LOGIN.search(head) is not None
