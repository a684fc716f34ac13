#!/bin/sh
# Makes wheel and sdist in dist/, then tries the wheel as a stranger has it: in an environment of its own with what
# requirements/run.txt pins, an empty home, and no checkout in sight. The wheel is made of the sdist. Then the same for
# the Python client.
set -eu
top=$(cd "$(dirname -- "$0")/.." && pwd)
python=$top/.venv/bin/python
dist=${OUT:-$top}/dist
scratch=$(mktemp -d)
serving=
list=$top/sanderling/licences.json # for `sanderling licences`; a checkout makes its own
trap '[ -z "$serving" ] || kill "$serving"; rm -rf "$scratch" "$list"' EXIT
mkdir -p "$dist"
rm -f "$dist"/sanderling-*.whl "$dist"/sanderling-*.tar.gz
(cd "$top" && "$python" -m release.licences.making "$list")
"$python" -m build --no-isolation -o "$dist" "$top" >"$scratch/said" 2>&1 || {
    cat "$scratch/said"
    exit 1
}
"$python" -m venv --without-pip "$scratch/venv"
"$python" -m uv pip install -q --python "$scratch/venv/bin/python" --require-hashes -r "$top/requirements/run.txt"
"$python" -m uv pip install -q --python "$scratch/venv/bin/python" --no-deps "$dist"/sanderling-*.whl
mkdir "$scratch/home"
sanderling() { (cd / && env -i PATH=/usr/bin:/bin HOME="$scratch/home" "$scratch/venv/bin/sanderling" "$@"); }
sanderling --version
sanderling help start >/dev/null
sanderling licences unicode-cldr | grep -q "UNICODE LICENSE" || { echo "the wheel lacks the texts of licences"; exit 1; }
sanderling check >"$scratch/said" 2>&1 || {
    cat "$scratch/said"
    exit 1
}
(cd / && exec env -i PATH=/usr/bin:/bin HOME="$scratch/home" "$scratch/venv/bin/sanderling" serve --port 0) >"$scratch/log" 2>&1 &
serving=$!
waited=0
until url=$(grep -o '"url": "[^"]*"' "$scratch/log" | cut -d'"' -f4) && [ -n "$url" ]; do
    waited=$((waited + 1))
    [ "$waited" -le 60 ] && kill -0 "$serving" || { cat "$scratch/log"; exit 1; }
    sleep 0.5
done
curl -fsS -m 10 "$url/healthz"
echo
[ -f "$scratch/home/.local/share/sanderling/sanderling.db" ] || { echo "the data are not in the home's data folder"; exit 1; }
kill "$serving"
wait "$serving" || { echo "the service ended with $?"; exit 1; }
serving=
# The client is a package of its own, and nothing of the program comes with it.
rm -f "$dist"/sanderling_client-*
"$python" -m build --no-isolation -o "$dist" "$top/clients/python" >"$scratch/said" 2>&1 || {
    cat "$scratch/said"
    exit 1
}
"$python" -m venv --without-pip "$scratch/client"
"$python" -m uv pip install -q --python "$scratch/client/bin/python" --require-hashes -r "$top/requirements/run.txt"
"$python" -m uv pip install -q --python "$scratch/client/bin/python" --no-deps "$dist"/sanderling_client-*.whl
(cd / && "$scratch/client/bin/python" -c "import sanderling_client, sanderling_client.records as r; r.Event")
echo "wheel, sdist and client: well"
