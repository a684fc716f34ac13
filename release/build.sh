#!/bin/sh
# Freezes the program: dist/directory/sanderling/ (what packages and images contain), then dist/sanderling, one file that
# unpacks itself and carries the directory's launcher, so that `sanderling install` can lay the directory out.
# Two passes of one recipe; on one machine two builds of one commit are equal byte for byte.
# VENV: an environment with requirements/build.txt. OUT: where dist/ and build/ go.
set -eu
# shellcheck disable=SC2086 # the list of exclusions is to be split
top=$(cd "$(dirname -- "$0")/.." && pwd)
out=${OUT:-$top}
venv=${VENV:-$top/.venv-build}
cd "$top"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
PYTHONHASHSEED=0
PYINSTALLER_CONFIG_DIR=$out/build/cache # of its own: two builds at once clear each other's
PYTHONPATH=$top
export SOURCE_DATE_EPOCH PYTHONHASHSEED PYINSTALLER_CONFIG_DIR PYTHONPATH
mkdir -p "$out/build" "$out/dist"
rm -rf "$out/build/named" && mkdir "$out/build/named"
build=$(git rev-parse --short=12 HEAD)$(test -z "$(git status --porcelain --untracked-files=no)" || echo -changed)
echo "BUILD = \"$build\"" >"$out/build/named/sanderling_build.py"

# The console's library shows the traceback of a crash of its own in colours, for which it takes one of 500 languages.
lexers=$("$venv/bin/python" -c 'import pkgutil, pygments.lexers as all
for found in pkgutil.iter_modules(all.__path__):
    if found.name not in ("_mapping", "python", "special"):
        print("--exclude-module", "pygments.lexers." + found.name)')

freeze() { # freeze NAME SHAPE [more]: into dist/NAME
    name=$1
    shift
    "$venv/bin/python" -P -m PyInstaller "$@" --noconfirm --clean --strip --log-level WARN --name sanderling \
        --paths "$top" --paths "$out/build/named" --hidden-import sanderling_build \
        --workpath "$out/build/$name" --specpath "$out/build/$name" --distpath "$out/build/$name/made" \
        --collect-submodules supervision --collect-submodules storage --collect-submodules actors \
        --collect-submodules api --collect-submodules sanderling \
        --collect-data actors --collect-data api --collect-data sanderling --add-data "$top/docs:docs" \
        --collect-data justext --collect-data tzdata --hidden-import tzdata \
        --collect-submodules hypercorn --copy-metadata trio \
        --exclude-module tkinter --exclude-module setuptools --exclude-module pkg_resources \
        --exclude-module _distutils_hack --exclude-module lib2to3 --exclude-module test --exclude-module readline \
        --exclude-module distutils --exclude-module pydoc_data \
        --exclude-module lxml.objectify --exclude-module lxml.isoschematron $lexers \
        "$top/release/entry.py"
}

freeze directory --onedir
rm -rf "$out/dist/directory" && mkdir "$out/dist/directory"
cp -a "$out/build/directory/made/sanderling" "$out/dist/directory/sanderling"
find "$out/dist/directory" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$out/build/launcher"
cp "$out/dist/directory/sanderling/sanderling" "$out/build/launcher/sanderling"
freeze file --onefile --add-data "$out/build/launcher/sanderling:launcher"
cp "$out/build/file/made/sanderling" "$out/dist/sanderling"
(cd "$out/dist" && sha256sum sanderling >SHA256SUMS)
"$out/dist/sanderling" version
