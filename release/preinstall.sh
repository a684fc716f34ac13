#!/bin/sh
# Before the package's files are there: dpkg says "install" or "upgrade", rpm how many versions there will be.
# The program reads its modules from its file as it needs them: one that runs is stopped before an upgrade puts another file
# in its place. postinstall.sh reads the words that are left here.
set -e
mkdir -p /run
if [ "$1" = install ] || [ "$1" = 1 ]; then
    echo enable start >/run/sanderling.package
elif [ -d /run/systemd/system ] && systemctl is-active --quiet sanderling.service; then
    echo start >/run/sanderling.package
    systemctl stop sanderling.service
fi
