#!/bin/sh
# After the package's files are there, or an upgrade has come to nothing.
set -e
if ! getent passwd sanderling >/dev/null; then
    useradd --system --user-group --no-create-home --home-dir /var/lib/sanderling --shell /usr/sbin/nologin sanderling
fi
mkdir -p /var/lib/sanderling
chown sanderling:sanderling /var/lib/sanderling
chmod 0700 /var/lib/sanderling
if [ -e /etc/sanderling/sanderling.env ]; then
    chgrp sanderling /etc/sanderling/sanderling.env
fi
wanted=$(cat /run/sanderling.package 2>/dev/null || true)
rm -f /run/sanderling.package
case $wanted in *enable*)
    if command -v systemctl >/dev/null; then # also where none runs: in an image that is being made
        systemctl enable sanderling.service
    fi
    echo "Set the dashboard's password: runuser -u sanderling -- sanderling setup-link --data /var/lib/sanderling"
    ;;
esac
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    case $wanted in *start*)
        systemctl start sanderling.service || # older data, a wrong setting: the package is whole, what it says is in the log
            echo "The service did not start; it says why: journalctl -u sanderling" >&2
        ;;
    esac
fi
