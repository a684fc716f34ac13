#!/bin/sh
# Wraps what build.sh made: dist/*.deb and *.rpm with the directory form, dist/image and dist/nodes (folders to build images in),
# an SBOM, checksums. VENV, OUT and SOURCE_DATE_EPOCH as for build.sh.
set -eu
top=$(cd "$(dirname -- "$0")/.." && pwd)
out=${OUT:-$top}
venv=${VENV:-$top/.venv-build}
cd "$top"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
PYTHONPATH=$top
DIST=$out/dist
FILES=$out/build/files
VERSION=$("$DIST/directory/sanderling/sanderling" version | cut -d' ' -f2)
MTIME=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
case $(uname -m) in
x86_64) ARCH=amd64 ;;
aarch64) ARCH=arm64 ;;
*) ARCH=$(uname -m) ;;
esac
newest=$(find "$DIST/directory" -type f \( -name '*.so*' -o -name sanderling \) -exec objdump -T {} + 2>/dev/null |
    grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2)
export SOURCE_DATE_EPOCH PYTHONPATH DIST FILES VERSION MTIME ARCH

"$venv/bin/python" -P release/archives.py requirements/run.txt "$out/build/archives.json"
"$venv/bin/python" -P release/files.py "$FILES" "$SOURCE_DATE_EPOCH" "$out/build/archives.json" "$DIST/directory/sanderling"
rm -f "$DIST"/*.deb "$DIST"/*.rpm
for kind in deb rpm; do
    case $kind in
    deb) LIBC="libc6 (>= $newest)" ZLIB=zlib1g ACCOUNTS=passwd LIBPQ=libpq5 ;;
    rpm) LIBC="libc.so.6(GLIBC_$newest)(64bit)" ZLIB="libz.so.1()(64bit)" ACCOUNTS=/usr/sbin/useradd LIBPQ="libpq.so.5()(64bit)" ;; # every distribution's names
    esac
    sed -e "s|\${DIST}|$DIST|; s|\${FILES}|$FILES|; s|\${VERSION}|$VERSION|; s|\${MTIME}|$MTIME|; s|\${ARCH}|$ARCH|" \
        -e "s|\${LIBC}|$LIBC|; s|\${ZLIB}|$ZLIB|; s|\${ACCOUNTS}|$ACCOUNTS|; s|\${LIBPQ}|$LIBPQ|" release/nfpm.yaml >"$out/build/nfpm-$kind.yaml"
    "$venv/bin/nfpm" package --config "$out/build/nfpm-$kind.yaml" --packager "$kind" --target "$DIST/"
done
cp "$FILES/sanderling.cdx.json" "$DIST/"

# The image's root: the program, what it is linked to, a folder for data and one for what is passing.
root=$DIST/image/root
rm -rf "$DIST/image"
mkdir -p "$root/tmp" "$DIST/image/data" "$root/usr/lib" "$root/usr/bin" "$root/etc"
libc=$(ldd "$DIST/directory/sanderling/sanderling" | grep -o '/[^ ]*libc.so.6')
ldd "$DIST/directory/sanderling/sanderling" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
for name in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libutil.so.1 libresolv.so.2; do
    cp -L "$(dirname "$libc")/$name" "$root$(dirname "$libc")/"
done
cp -a "$DIST/directory/sanderling" "$root/usr/lib/sanderling"
ln -s ../lib/sanderling/sanderling "$root/usr/bin/sanderling"
mkdir -m 700 "$DIST/image/data/data" # nobody else reads what is in the volume that begins as this folder
echo "sanderling:x:10001:10001::/data:/none" >"$root/etc/passwd"
chmod 1777 "$root/tmp"
cp release/Containerfile release/compose.yaml release/Caddyfile "$DIST/image/"
cp -r release/browser "$DIST/image/"

# A folder to build the image for several nodes in, with what runs three of them.
rm -rf "$DIST/nodes"
cp -r release/nodes "$DIST/nodes"
cp "$DIST"/*.deb "$DIST/nodes/"

(cd "$DIST" && sha256sum sanderling sanderling-universal* *.deb *.rpm sanderling.cdx.json >SHA256SUMS && cat SHA256SUMS)
