"""The languages of mails and messages to destinations: those of the pages, and the service's own."""

from __future__ import annotations

from actors.notification.speech import Speech
from api.dashboard.language.catalogues import languages
from api.dashboard.language.sentences import translated_lines
from api.dashboard.language.speaking import say_as, speaking


def speech_of(default: str) -> Speech:
    """Return the translator for messages. default: the language code of those who chose none."""
    return Speech(tuple(languages()), default, _said, _separator)


def _said(code: str, text: str) -> str:
    with speaking(code):
        return translated_lines(text)


def _separator(code: str) -> str:
    with speaking(code):
        return say_as("figures", ",")
