"""Write the generated files of both clients."""

from __future__ import annotations

import os
from pathlib import Path

from api.openapi.document import ROUTES, described, document
from clients.generate import python, typescript
from clients.generate.model import read

CLIENTS = Path(__file__).parents[1]
BASE_URL = "http://127.0.0.1:8080"


def files() -> dict[Path, str]:
    """Return what the generated files should hold."""
    api = read(document(described(ROUTES, BASE_URL), BASE_URL))
    package, source = CLIENTS / "python/src/sanderling_client", CLIENTS / "typescript/src"
    return {
        package / "records.py": python.records(api),
        package / "operations.py": python.operations(api),
        package / "refusals.py": python.refusals(api),
        source / "records.ts": typescript.records(api),
        source / "operations.ts": typescript.operations(api),
    }


def main() -> None:
    """Write those that changed, each in one step: the workers of a test run do it at once."""
    for path, text in files().items():
        if not path.exists() or path.read_text("utf-8") != text:
            part = path.with_suffix(f".{os.getpid()}.part")
            part.write_text(text, "utf-8")
            part.replace(path)


if __name__ == "__main__":
    main()
