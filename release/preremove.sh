#!/bin/sh
# Before the package's files go: dpkg says "remove" or "upgrade", rpm how many versions will be left.
set -e
if { [ "$1" = remove ] || [ "$1" = 0 ]; } && command -v systemctl >/dev/null; then
    if [ -d /run/systemd/system ]; then
        systemctl stop sanderling.service
    fi
    systemctl disable sanderling.service || true
    if [ -e /etc/systemd/system/sanderling-browser.socket ]; then # `sanderling install --browser` has made it
        /usr/lib/sanderling/sanderling uninstall --browser || true
    fi
fi
