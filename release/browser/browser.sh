#!/bin/sh
# Holds a browser that the service drives. Chromium debugs at its own loopback only, so socat forwards to it.
# Its sandbox needs namespaces, which most containers forbid; the container is the wall in its place, and holds nothing else.
set -eu
socat TCP-LISTEN:9222,fork,reuseaddr TCP:127.0.0.1:9223 &
exec chromium-headless-shell --no-sandbox --user-data-dir=/tmp/profile --disable-dev-shm-usage \
  --remote-debugging-port=9223 --force-webrtc-ip-handling-policy=disable_non_proxied_udp
