#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# own-mounts.sh COMMAND...: runs it in a mount namespace of its own, from which no mount propagates, in
# a chroot as well. There / is no mount point, so unshare cannot change its propagation. But an existing
# mount point can be made private, and the same files mounted below it are private as a whole.
set -eu

if unshare -m true 2>/dev/null; then
	exec unshare -m "$@"
fi
# shellcheck disable=SC2016 # expanded inside
exec unshare -m --propagation unchanged sh -euc '
	mount --make-private /proc
	mount --rbind / /proc/fs
	mount --make-rprivate /proc/fs
	exec chroot /proc/fs sh -euc "cd \"\$0\" && exec \"\$@\"" "$PWD" "$@"' sh "$@"
