"""Our own texts around a message's content, in the reader's language. Pure.

This module knows no language: the composition root supplies one (`MessageLanguages`), as rooms import one way. A page's
text stays as it is. A worker that fills in a template gets the texts with the notification (`MessageTexts`), so it
reads no catalogue.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple


class MessageTexts(NamedTuple):
    """The texts of a message. separator: between the thousands of a whole number."""

    event: str = "%(count)s event"
    events: str = "%(count)s events"
    event_of: str = "%(count)s event of %(host)s"
    events_of: str = "%(count)s events of %(host)s"
    events_of_sites: str = "%(count)s events of %(sites)s sites"
    more_line: str = "… and %(count)s more line"
    more_lines: str = "… and %(count)s more lines"
    more_event: str = "… and %(count)s more event"
    more_events: str = "… and %(count)s more events"
    all_events: str = "All events"
    page: str = "Open"
    alert: str = "Alert: %(name)s"
    about: str = "Event"
    why: str = "Why"
    mute: str = "Mute"
    nameless: str = "Something new"
    template_failed: str = "The message template of this destination failed: %(reason)s"
    separator: str = ","

    def left_out(self, count: int, *, events: bool) -> str:
        """Return the line about omitted lines or events.

        >>> MessageTexts().left_out(1200, events=False), MessageTexts().left_out(1, events=True)
        ('… and 1,200 more lines', '… and 1 more event')
        """
        singular, plural = (self.more_event, self.more_events) if events else (self.more_line, self.more_lines)
        return (singular if count == 1 else plural) % {"count": self._number(count)}

    def title_of(self, count: int, hosts: list[str]) -> str:
        """Return the title of a message of several events.

        >>> MessageTexts().title_of(2, ["a.test"]), MessageTexts().title_of(3, ["a.test", "b.test"])
        ('2 events of a.test', '3 events of 2 sites')
        """
        singular, plural = (self.event_of, self.events_of) if len(hosts) == 1 else (self.event, self.events)
        text = self.events_of_sites if len(hosts) > 1 else singular if count == 1 else plural
        return text % {"count": self._number(count), "host": "".join(hosts[:1]), "sites": self._number(len(hosts))}

    def _number(self, value: int) -> str:
        return f"{value:,}".replace(",", self.separator)


class MessageLanguage(NamedTuple):
    """One reader's language. translate: translates a text or a sentence of ours, or returns it unchanged."""

    texts: MessageTexts = MessageTexts()
    translate: Callable[[str], str] = str


ENGLISH: Final = MessageLanguage()


class MessageLanguages(NamedTuple):
    """The languages of messages. codes: those that a destination may choose. default: for those without a choice.
    translate, separator: given a code, a text of ours in that language, and its thousands separator.
    """

    codes: tuple[str, ...] = ("en",)
    default: str = "en"
    translate: Callable[[str, str], str] = lambda code, text: text
    separator: Callable[[str], str] = lambda code: ","

    def language(self, code: str) -> MessageLanguage:
        code = code if code in self.codes else self.default

        def say(text: str) -> str:
            return self.translate(code, text)

        texts = MessageTexts(*map(say, MessageTexts()))._replace(separator=self.separator(code))
        return MessageLanguage(texts, say)


ENGLISH_ONLY: Final = MessageLanguages()  # english, and no other language
