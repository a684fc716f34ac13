#!/bin/sh
# Tries what build.sh made, in both forms, as strangers' machines are: a root with the C library and nothing else, temporary
# folders that can't be used, a signal. Needs root, or user namespaces. GLIBC_AT_MOST: the newest version that may be asked for.
set -eu
top=$(cd "$(dirname -- "$0")/.." && pwd)
dist=${OUT:-$top}/dist
file=$dist/sanderling
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

bytes=$(stat -c %s "$file")
echo "size: $((bytes / 1000000)) MB, directory $(du -sm "$directory" | cut -f1) MiB"
[ "$bytes" -le 40000000 ] || failed "the file has $bytes bytes"

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

# Exit codes and signals pass through the loader.
code=0
SANDERLING_PORT=never "$file" settings >/dev/null 2>&1 || code=$?
[ "$code" = 64 ] || failed "a wrong setting: exit code $code instead of 64"
for program in "$file" "$directory/sanderling"; do
    : >"$scratch/log"
    "$program" serve --port 0 --data "$scratch/data" 2>"$scratch/log" &
    pid=$!
    for _ in $(seq 300); do
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
