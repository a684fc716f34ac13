"""The table of ways to have the program. Pure.

What is in `install`, `serve` and `remove` stands in the way's page, in a block of commands: a test compares.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal["folder", "system"]
_DATA: Final = ".local/share/sanderling"
_WHEEL: Final = ("sanderling-*.whl",)
_IN_IMAGE: Final = "buildah run --isolation chroot"


class Way(NamedTuple):
    """A way. Its commands run in the place, where `dist` is what `make` has made, if it `needs` some of it.

    before: what such a machine has already. tool: a program that it must have, or the way is not gone. command: how
    the program is called once it is there; serve: how it is served, where that is not `command serve`, with a place for
    its flags, and one for settings where it does not see those of the place. data: the folder that is named to it, ""
    where it chooses itself. kept: what is left by the word of its page, below the home or the place, to be deleted.
    warned: what `doctor` rightly warns of in this way alone.
    """

    name: str
    command: str
    install: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    serve: str = ""
    page: str = "docs/install.md"
    kind: Kind = "folder"
    data: str = ""
    kept: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    tool: str = ""
    warned: tuple[str, ...] = ()


WAYS: Final = (
    Way(
        "checkout",
        "bin/sanderling",
        before=("git clone -q {top} .",),
        serve='make run ARGS="{flags}"',
        remove=("make clean", "find . -mindepth 1 -delete"),
        page="README.md",
    ),
    Way("file", "./dist/sanderling", kept=("data",), needs=("sanderling",)),
    Way("universal file", "./dist/sanderling-universal", kept=("data",), needs=("sanderling-universal",)),
    Way(
        "file, installed",
        "$HOME/.local/bin/sanderling",
        install=("./dist/sanderling install --user{unmanaged}",),
        remove=("sanderling uninstall --user --purge",),
        data="$HOME/.local/share/sanderling",
        needs=("sanderling",),
    ),
    Way(
        ".deb",
        "sudo runuser -u sanderling -- sanderling",
        install=("sudo apt install ./dist/sanderling_*.deb",),
        remove=("sudo apt purge sanderling",),
        kind="system",
        data="/var/lib/sanderling",
        needs=("sanderling_*.deb",),
    ),
    Way(
        "pip",
        "sanderling/bin/sanderling",
        install=("python3 -m venv sanderling", "sanderling/bin/pip install dist/sanderling-*.whl"),
        remove=("rm -r sanderling",),
        kept=(_DATA,),
        needs=_WHEEL,
    ),
    Way(
        "pipx",
        "sanderling",
        install=("pipx install dist/sanderling-*.whl",),
        remove=("pipx uninstall sanderling",),
        before=("python3 -m venv $TOOLS", "$TOOLS/bin/pip install -q pipx"),
        kept=(_DATA,),
        needs=_WHEEL,
    ),
    Way(
        "uv",
        "sanderling",
        install=("uv tool install dist/sanderling-*.whl",),
        remove=("uv tool uninstall sanderling",),
        before=("python3 -m venv $TOOLS", "$TOOLS/bin/pip install -q uv"),
        kept=(_DATA,),
        needs=_WHEEL,
    ),
    Way(
        "image",
        f"{_IN_IMAGE} sanderling -- sanderling",
        install=(
            "buildah build --isolation chroot --format docker -t sanderling dist/image",
            "buildah from --name sanderling sanderling",
        ),
        serve=f"{_IN_IMAGE} {{settings}}sanderling -- sanderling serve {{flags}}",
        remove=("buildah rm sanderling", "buildah rmi sanderling"),
        needs=("image",),
        tool="buildah",
        warned=("open", "tls"),  # as many open files as the machine gives; it listens to whoever the container lets in
    ),
)
