#!/bin/sh
# Before the package's files go: dpkg says "remove" or "upgrade", rpm how many versions will be left.
set -e
if { [ "$1" = remove ] || [ "$1" = 0 ]; } && [ -d /run/systemd/system ]; then
    systemctl disable --now sanderling.service || true
fi
