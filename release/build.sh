#!/bin/sh
# Freezes the program by sanderling.spec: dist/directory/sanderling/ (what packages and images contain), dist/sanderling, one
# file that unpacks itself, and on x86-64 dist/sanderling-universal, the same with the C library inside.
# Two builds of one commit are equal byte for byte, wherever the checkout is.
# VENV: an environment with requirements/build.txt. OUT: where dist/ and build/ go.
set -eu
TOP=$(cd "$(dirname -- "$0")/.." && pwd)
OUT=${OUT:-$TOP}
venv=${VENV:-$TOP/.venv-build}
cd "$TOP"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
PYTHONHASHSEED=0
PYINSTALLER_CONFIG_DIR=$OUT/build/cache # of its own: two builds at once clear each other's
PYTHONPATH=$TOP
export TOP OUT SOURCE_DATE_EPOCH PYTHONHASHSEED PYINSTALLER_CONFIG_DIR PYTHONPATH
mkdir -p "$OUT/build" "$OUT/dist"
rm -rf "$OUT/build/named" "$OUT/build/cleaned" "$OUT/dist/directory" && mkdir "$OUT/build/named" "$OUT/dist/directory"
build=$(git rev-parse --short=12 HEAD)$(test -z "$(git status --porcelain --untracked-files=no)" || echo -changed)
echo "BUILD = \"$build\"" >"$OUT/build/named/sanderling_build.py"

"$venv/bin/python" -P -m PyInstaller --noconfirm --clean --log-level WARN \
    --workpath "$OUT/build/frozen" --distpath "$OUT/build/made" release/sanderling.spec
cp -a "$OUT/build/made/sanderling" "$OUT/dist/directory/sanderling"
find "$OUT/dist/directory" -type f -name '*.so*' -exec chmod 644 {} + # a library is no program
find "$OUT/dist/directory" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
cp "$OUT/build/made/one-file" "$OUT/dist/sanderling"
# What an earlier build has left is not of this one, and its sums would stand beside these.
rm -rf "$OUT"/dist/sanderling-* "$OUT"/dist/sanderling_* "$OUT/dist/sanderling.cdx.json" "$OUT/dist/image"
if [ -x "$venv/bin/staticx" ]; then
    PATH=$venv/bin:$PATH "$venv/bin/python" -P release/universal.py \
        "$OUT/dist/sanderling" "$OUT/dist/sanderling-universal" "$SOURCE_DATE_EPOCH"
fi
(cd "$OUT/dist" && sha256sum sanderling* >SHA256SUMS && cat SHA256SUMS)
"$OUT/dist/sanderling" version
