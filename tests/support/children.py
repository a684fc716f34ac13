from __future__ import annotations

from trio.abc import ReceiveStream


async def first_line(said: ReceiveStream) -> str:
    """Return the first line of a child's output, without its newline; a write may arrive in pieces."""
    line = b""
    while not line.endswith(b"\n"):
        piece = await said.receive_some(1)
        assert piece, f"ended after {line!r}"
        line += piece
    return line.decode().removesuffix("\n")
