"""The simulation's engine: the same promises in memory, over a `Disk` that survives the crash of a life.

Start with `writer.py` (what becomes durable, and when), then `disk.py`. The faces of the nouns are as in
`storage/sqlite/`. No thread, no clock and no chance of its own: the same calls give the same results. May import what
storage may, without sqlite3. `MemoryStorage(disk, lease)` is the engine.
"""

from storage.memory.disk import Disk
from storage.memory.engine import MemoryStorage

__all__ = ["Disk", "MemoryStorage"]
