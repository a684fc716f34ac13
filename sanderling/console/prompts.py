"""Questions at the foot of the screen: a line to be typed, and whether something is really meant."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Input

from sanderling.console.lines import Lines, key
from sanderling.console.text import fit


class Ask(ModalScreen[str | None]):
    """Asks for a line; gives None when that is given up."""

    BINDINGS: ClassVar[list[BindingType]] = [key("escape", "give_up", "back", "leave it as it is")]

    def __init__(self, label: str, value: str, hint: str) -> None:
        super().__init__()
        self._label, self._value, self._hint = label, value, hint

    def compose(self) -> ComposeResult:
        """Make the label and the field."""
        with Horizontal(id="ask"):
            yield Lines(lambda width, _: [[(fit(self._label, width), "bold")]], id="label")
            yield Input(self._value, placeholder=self._hint, compact=True, select_on_focus=False, id="field")

    def on_mount(self) -> None:
        """Give the label the room that it needs."""
        self.query_one("#label").styles.width = len(self._label)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip())

    def action_give_up(self) -> None:
        self.dismiss(None)


class Confirm(ModalScreen[bool]):
    """Asks once; only `y` means yes, every other key no."""

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        says = "y yes, else no "
        yield Lines(
            lambda width, _: [
                [(fit(f" {self._question}", width - len(says) - 1) + " ", "bold reverse"), (says, "reverse")]
            ],
            id="confirm",
        )

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.dismiss(event.key == "y")
