"""Every screen in a typical state. `python -m tests.sanderling.console.scenes` writes the golden texts again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.sanderling.console.fake_service import FakeService, event, source_id
from tests.sanderling.console.terminal import Terminal, on_terminal

SIZES = ((80, 24), (120, 40), (200, 60))
GOLDEN = Path(__file__).parent / "golden"
HOSTILE = "Sale \x1b[2J\x07\u202eevil\u2066 日本語のとても長い題名 שלום עולם e\u0301 👩\u200d💻 \n\t end"


def golden(name: str, size: tuple[int, int]) -> Path:
    return GOLDEN / f"{name}-{size[0]}x{size[1]}.txt"


def _service() -> FakeService:
    service = FakeService()
    service.names[1] = "https://shop.test/p"
    service.errors[f"sources/{source_id(2)}"] = HOSTILE
    service.lines = [
        {
            "number": number,
            "ts": f"2026-04-21T12:00:{10 + number}.000Z",
            "level": ("info", "warning", "error")[number % 3],
            "event": ("look", "actor.crashed", "loop.held")[number % 3],
            "actor": f"sources/{source_id(1)}",
            "fields": {"why": HOSTILE},
        }
        for number in range(1, 6)
    ]
    return service


async def visit(terminal: Terminal, keep: Callable[[str, list[str]], None]) -> None:
    """Go through all screens, and pass each to `keep`."""
    shop = f"sources/{source_id(1)}"
    await terminal.wait_for("└─ site3.test")
    await terminal.press("j", "j", "j")
    terminal.service.states[f"sources/{source_id(3)}"] = "quarantined"
    await terminal.tick(("event", event(1, "Hello")), ("event", event(2, HOSTILE)))
    await terminal.wait_for("Hello", "*")
    keep("tree", terminal.lines())
    await terminal.press("t", "S", "S")
    await terminal.wait_for("by error")
    keep("list", terminal.lines())
    await terminal.press("t", *["S"] * 8)
    await terminal.wait_for("tree, worst first", "└─ site3.test")
    await terminal.press("g", "j", "j", "j", "r")
    keep("confirm", terminal.lines())
    await terminal.press("n", "slash")
    await terminal.type("state:re")
    await terminal.wait_for("filter state:re")
    keep("filter", terminal.lines())
    await terminal.press("escape")
    await terminal.wait_for("└─ site3.test")
    await terminal.press("g", "j", "j", "j", "question_mark")
    keep("help", terminal.lines())
    await terminal.press("escape", "enter")
    await terminal.wait_for("health 0.12")
    await terminal.wait_until(lambda: bool(getattr(terminal.app.screen, "events", ())))
    await terminal.tick()
    keep("part", terminal.lines())
    await terminal.press("G")
    keep("part-end", terminal.lines())
    await terminal.press("L")
    await terminal.wait_for(f"log of {shop}", "lines 5")
    keep("log", terminal.lines())
    await terminal.press("escape", "escape", "d")
    await terminal.wait_for("calm.test")
    keep("deliveries", terminal.lines())
    await terminal.press("enter")
    await terminal.wait_for("newest attempts: 6")
    keep("attempts", terminal.lines())
    await terminal.press("escape", "escape", "x")
    await terminal.wait_until(lambda: bool(getattr(terminal.app.screen, "answer", None)))
    await terminal.pilot.pause()
    keep("why", terminal.lines())
    await terminal.press("escape")
    terminal.service.cut()
    await terminal.wait_for("connection refused")
    await terminal.grow_old(725)
    keep("lost", terminal.lines())


def played(size: tuple[int, int]) -> dict[str, list[str]]:
    """Return the screens at a size, by name."""
    found: dict[str, list[str]] = {}

    async def play(terminal: Terminal) -> None:
        await visit(terminal, found.__setitem__)

    on_terminal(play, size, _service(), flat=False)
    return found


def as_text(lines: list[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"


if __name__ == "__main__":
    for each in SIZES:
        for scene, shown in played(each).items():
            golden(scene, each).write_text(as_text(shown), "utf-8")
