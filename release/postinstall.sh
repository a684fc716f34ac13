#!/bin/sh
# After the package's files are there. dpkg says "configure" and the version before, rpm how many versions there are now.
set -e
if ! getent passwd sanderling >/dev/null; then
    useradd --system --user-group --no-create-home --home-dir /var/lib/sanderling --shell /usr/sbin/nologin sanderling
fi
mkdir -p /var/lib/sanderling
chown sanderling:sanderling /var/lib/sanderling
chmod 0700 /var/lib/sanderling
chgrp sanderling /etc/sanderling/sanderling.env
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    if { [ "$1" = configure ] && [ -z "$2" ]; } || [ "$1" = 1 ]; then
        systemctl enable --now sanderling.service
        echo "Set the dashboard's password: runuser -u sanderling -- sanderling setup-link --data /var/lib/sanderling"
    else
        systemctl try-restart sanderling.service
    fi
fi
