"""The bill of materials (CycloneDX 1.6): what is frozen in, each part with its version, licence and sums.

A package's sum is that of the archive it was installed from; that of a native part, of the library as it is shipped.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from release.licences.parts import Part
from release.licences.table import FORMS, NATIVE
from sanderling import __version__

OWN = "sanderling"
Archives = Mapping[str, tuple[str, str]]
"""By package, the archive that it was installed from, and the SHA-256 of that."""


def software_bill(parts: Sequence[Part], epoch: int, archives: Archives, folder: Path | None = None) -> str:
    """Return the document. `folder` is the directory form, with the libraries as they are shipped."""
    components = [_component(part, archives, _files(part, folder)) for part in parts if part.name != OWN]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                "type": "application",
                "name": OWN,
                "version": __version__,
                "bom-ref": OWN,
                "licenses": [{"license": {"id": "MIT"}}],
            },
        },
        "components": components,
        "dependencies": [*_dependencies(parts)],
    }
    return json.dumps(document, indent=2) + "\n"


def shipped(parts: Sequence[Part], folder: Path) -> list[Part]:
    """Return the parts that are in the directory form: packages by their metadata, and what is inside of them."""
    metadata = {path.name for path in (folder / "_internal").glob("*.dist-info")}
    absent = {part.name for part in parts if part.is_package and part.texts[0].place.split("/")[0] not in metadata}
    return [part for part in parts if part.inside not in absent and not (part.is_package and part.name in absent)]


def reference(part: Part) -> str:
    """Return what names a part in the document: unlike its package URL, once."""
    if part.name == OWN:
        return OWN
    return f"{part.inside}/{part.name}" if part.inside else f"{'pypi' if part.is_package else 'native'}/{part.name}"


def _component(part: Part, archives: Archives, files: Mapping[str, Path]) -> dict[str, Any]:
    version = part.version or _packaged(files)
    kind = "pypi" if part.is_package else "generic"
    said: dict[str, Any] = {
        "type": "data" if part.name == "unicode-cldr" else "library",
        "bom-ref": reference(part),
        "name": part.name,
        **({"version": version} if version else {}),
        "purl": f"pkg:{kind}/{part.name}" + (f"@{version}" if version else ""),
        "licenses": [_licence(part.expression)],
    }
    about: list[tuple[str, str]] = []
    sums = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    if part.name in archives and part.is_package:
        archive, digest = archives[part.name]
        said["hashes"] = [{"alg": "SHA-256", "content": digest}]
        about.append(("sanderling:archive", archive))
    elif len(sums) == 1:
        said["hashes"] = [{"alg": "SHA-256", "content": digest} for digest in sums.values()]
    about += [(f"sanderling:file:{name}", f"sha256:{digest}") for name, digest in sums.items()]
    about += [("sanderling:inside", part.inside)] if part.inside else []
    about += [("sanderling:only-in", FORMS[form]) for form in part.forms]
    about += [("sanderling:licence-text", text.place) for text in part.texts]
    return said | {"properties": [{"name": name, "value": value} for name, value in about]}


def _licence(expression: str) -> dict[str, Any]:
    """Return a licence as CycloneDX has it: one of SPDX's list by its id, anything else as an expression."""
    if " " in expression or expression.startswith("LicenseRef-"):
        return {"expression": expression}
    return {"license": {"id": expression}}


def _dependencies(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    """Yield what each part has inside of it; the program has all that is in no package."""
    for part in parts:
        inner = [reference(each) for each in parts if each.inside == part.name]
        if part.name == OWN:
            inner += [reference(each) for each in parts if not each.inside and each.name != OWN]
        if inner and (part.is_package or part.name == OWN):
            yield {"ref": reference(part), "dependsOn": sorted(inner)}


def _files(part: Part, folder: Path | None) -> dict[str, Path]:
    """Return the libraries of the directory form that are this part, by name."""
    rows = [row for row in NATIVE if (row.name, row.inside) == (part.name, part.inside)]
    starts = tuple(start for row in rows for start in row.libraries)
    if folder is None or not starts:
        return {}
    return {path.name: path for path in sorted((folder / "_internal").glob("lib*.so*")) if path.name.startswith(starts)}


def _packaged(files: Mapping[str, Path]) -> str:
    """Return the version that Debian's packages have of a library of this name, without Debian's own part; or ""."""
    for name in files:
        try:
            owners = subprocess.run(["dpkg", "-S", f"*/{name}"], capture_output=True, text=True, check=True).stdout
            package = owners.split(": ")[0].split(",")[0]
            asking = ["dpkg-query", "-W", "-f=${Version}", package]
            version = subprocess.run(asking, capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return ""
        return re.sub(r"^\d+:|-[^-]*$", "", version)
    return ""
