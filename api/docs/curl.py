"""An operation's request as a shell command."""

from __future__ import annotations

import json
import shlex
from typing import Any


def command(server: str, method: str, path: str, operation: dict[str, Any]) -> str:
    """Return the curl command of an operation with its first examples. It takes the key from the variable `key`.

    >>> print(command("http://x", "delete", "/v1/a/{id}", {"parameters": [{"name": "id", "in": "path", "example": 7}],
    ...     "security": [{"bearer": []}]}))
    curl -X DELETE http://x/v1/a/7 \\
         -H "Authorization: Bearer $key"
    """
    for parameter in operation["parameters"]:
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", str(parameter["example"]))
    words = ["curl"]
    if "text/event-stream" in operation.get("responses", {}).get("200", {}).get("content", {}):
        words.append("-N")
    if method not in ("get", "post") or (method == "post" and "requestBody" not in operation):
        words += ["-X", method.upper()]
    lines = [" ".join([*words, shlex.quote(server + path)])]
    if operation["security"]:
        lines.append('-H "Authorization: Bearer $key"')
    if "requestBody" in operation:
        ((media, content),) = operation["requestBody"]["content"].items()
        body = next(iter(content["examples"].values()))["value"]
        lines += [f"-H 'Content-Type: {media}'", f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]
    return " \\\n     ".join(lines)
