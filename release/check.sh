#!/bin/sh
# Tries what build.sh made, in each form, as strangers' machines are: a root with the C library and nothing else, an empty one,
# temporary folders that can't be used, a signal; and looks at every byte for traces of this machine.
# Needs root, or user namespaces. GLIBC_AT_MOST: the newest version that may be asked for. VENV, OUT: as for build.sh.
set -eu
top=$(cd "$(dirname -- "$0")/.." && pwd)
out=${OUT:-$top}
venv=${VENV:-$top/.venv-build}
dist=$out/dist
file=$dist/sanderling
universal=$dist/sanderling-universal
directory=$dist/directory/sanderling
at_most=${GLIBC_AT_MOST:-2.35}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
as_root=
if [ "$(id -u)" != 0 ]; then as_root="unshare --user --map-root-user --mount"; fi
failed() {
    echo "failed: $*" >&2
    exit 1
}

for program in "$file" "$universal"; do
    [ -e "$program" ] || continue # the universal one is there on x86-64 only
    bytes=$(stat -c %s "$program")
    echo "size of ${program##*/}: $((bytes / 1000000)).$((bytes / 100000 % 10)) MB"
    [ "$bytes" -le 40000000 ] || failed "$program has $bytes bytes"
done
echo "directory: $(du -sm "$directory" | cut -f1) MiB"
(cd "$top" && PYTHONPATH=$top "$venv/bin/python" -P -m release.inside "$file" "$directory" "$top" "$out" "$venv")

newest=$(find "$directory" -type f \( -name '*.so*' -o -name sanderling \) -exec objdump -T {} + 2>/dev/null |
    grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2)
echo "highest symbol: GLIBC_$newest"
[ "$(printf '%s\n' "$newest" "$at_most" | sort -V | tail -n 1)" = "$at_most" ] || failed "GLIBC_$newest, above $at_most"

# A root without Python, without anything: the program and what its loader is linked to.
root=$scratch/root
mkdir -p "$root/tmp" "$root/app"
ldd "$file" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    cp -L "$library" "$root$library"
done
for name in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libutil.so.1; do # the C library's own parts
    cp -L "$(dirname "$(ldd "$file" | grep -o '/[^ ]*libc.so.6')")/$name" "$root/$(dirname "$(ldd "$file" | grep -o '/[^ ]*libc.so.6')")/"
done
cp "$file" "$root/app/file"
cp -a "$directory" "$root/app/directory"
for program in /app/file /app/directory/sanderling; do
    $as_root env -i TMPDIR=/tmp "$(command -v chroot)" "$root" "$program" check >"$scratch/said" 2>&1 || {
        cat "$scratch/said"
        failed "check of $program in a bare root"
    }
    echo "check of $program in a bare root: well"
done

if ldconfig -p | grep -q 'libpq\.so\.5'; then # the C driver loads the system's
    "$file" check | grep -q 'driver in c' || failed "PostgreSQL's driver is not the one in C"
fi
find "$directory" -name 'libpq*' | grep -q . && failed "a libpq is inside"

# Every part that is listed has its text inside.
"$file" licences --all >"$scratch/said" || failed "$file prints no licences"
"$file" licences >"$scratch/said"
for part in sanderling trio libxml2 libsodium sqlite openssl python pyinstaller unicode-cldr; do
    grep -q "^$part " "$scratch/said" || failed "$file lists no licence of $part"
done
echo "licences: $(($(wc -l <"$scratch/said") - 1)) parts, each with its text"

# An empty root: no C library, no shell, nothing but what the kernel gives.
if [ -e "$universal" ]; then
    empty=$scratch/empty
    mkdir -p "$empty/tmp" "$empty/proc"
    cp "$universal" "$empty/sanderling"
    # shellcheck disable=SC2016 # $0 and $1 are the inner shell's
    $as_root unshare --mount --pid --fork sh -c \
        'mount -t proc proc "$0/proc" && exec env -i TMPDIR=/tmp "$1" "$0" /sanderling check' \
        "$empty" "$(command -v chroot)" >"$scratch/said" 2>&1 || {
        cat "$scratch/said"
        failed "check of the universal file in an empty root"
    }
    echo "check of the universal file in an empty root: well"
fi

# Exit codes and signals pass through the loaders.
for program in "$file" "$universal" "$directory/sanderling"; do
    [ -e "$program" ] || continue
    code=0
    SANDERLING_PORT=never "$program" settings >/dev/null 2>&1 || code=$?
    [ "$code" = 64 ] || failed "a wrong setting: $program ended with $code instead of 64"
    : >"$scratch/log"
    "$program" serve --port 0 --data "$scratch/data" 2>"$scratch/log" &
    pid=$!
    for _ in $(seq 1200); do
        grep -q serve.ready "$scratch/log" && break
        sleep 0.1
    done
    kill -TERM "$pid"
    code=0
    wait "$pid" || code=$?
    [ "$code" = 0 ] || failed "$program ended with $code after SIGTERM: $(cat "$scratch/log")"
done
echo "exit codes and SIGTERM: well"

# Temporary folders that can't be used: no run, and the words that docs/install.md explains.
tells() { # tells WORDS WHAT COMMAND: the command fails with these words
    words=$1 what=$2 code=0
    shift 2
    $as_root unshare --mount "$@" >"$scratch/said" 2>&1 || code=$?
    [ "$code" != 0 ] || failed "$what temporary folder: it ran"
    echo "$what temporary folder: exit code $code: $(head -c 200 "$scratch/said" | tr '\n' ' ')"
    grep -q "$words" "$scratch/said" || failed "$what temporary folder: not the words that docs/install.md explains"
}
mkdir "$scratch/tmp"
on="mount -t tmpfs none $scratch/tmp -o"
tells "failed to map segment" noexec sh -c "$on noexec,size=200m && TMPDIR=$scratch/tmp exec $file version"
tells "Failed to extract" full sh -c "$on size=8m && TMPDIR=$scratch/tmp exec $file version"
tells "Could not create temporary directory" read-only \
    sh -c "mount --bind $root $root && mount -o remount,bind,ro $root && exec $(command -v chroot) $root /app/file version"
