#!/bin/sh
# After the package's files are gone. The data go only when a purge is asked for (apt purge; rpm has no such thing).
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
fi
if [ "$1" = purge ]; then
    rm -rf /var/lib/sanderling /etc/sanderling
    userdel sanderling 2>/dev/null || true
fi
