#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Without /sys, without /proc, or with very few open files, kontend prints one sentence that helps, or
# measures with what the system has; it leaves no files or processes.
#
#     test-bare.sh KONTEND
set -eu

kontend=$(realpath "$1")
# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
need_mounts
cd "$dir"

# said NAME RC WORDS: the words are in err
said() {
	echo "$1: exit $2: $(cat err)"
	if [ "$2" = 0 ]; then
		[ -z "$3" ] || complain "$1: it says nothing"
		return
	fi
	[ "$2" = 1 ] || complain "$1: exit $2"
	[ "$(wc -l <err)" = 1 ] || complain "$1: not one sentence"
	grep -q "${3:-ulimit -n}" err || complain "$1: not what helps"
	[ ! -e f.data ] || complain "$1: a file is left"
}

for verb in report "record -q -o f.data"; do
	for at in sys proc; do
		rc=0
		# shellcheck disable=SC2016,SC2086 # expanded inside; words
		timeout 100 "$own_mounts" sh -euc 'mount -t tmpfs none "/$1"; shift; exec "$@"' sh \
			$at "$kontend" $verb --duration 100ms >out 2>err || rc=$?
		said "no /$at" $rc "run 'mount -t ${at}.* /$at'"
	done
	for files in 8 12 16 20 32 48 64; do
		rc=0
		(
			# shellcheck disable=SC3045 # every shell here has it
			ulimit -n "$files"
			# shellcheck disable=SC2086 # words
			exec timeout 100 "$kontend" $verb --duration 100ms
		) >out 2>err || rc=$?
		said "$files files" $rc ""
		rm -f f.data
	done
done
exit $status
