#!/bin/sh
# Runs a command in a root of its own; see minimal-root.ts. Needs root, in mount and pid namespaces of its own.
#
# ROOT        the new root; nothing of the host's is below it but these
# NODE, NPM   the program and the folder that it sees as /node/bin/node and /node/npm
set -e

mount --bind "$ROOT" "$ROOT"
cd "$ROOT"
mount -t proc proc proc
mount --bind /sys sys # without what is mounted below: it has no cgroups
mount --rbind /dev dev
mount -t tmpfs tmpfs tmp
mount --bind "$NODE" node/bin/node
mount -o remount,bind,ro node/bin/node
mount --bind "$NPM" node/npm
mount -o remount,bind,ro node/npm
# Not by chroot, from where nobody makes a user namespace.
pivot_root . mnt
cd /
umount --lazy /mnt
exec "$@"
