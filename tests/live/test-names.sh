#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Names in code that has no file at its path: code that a program makes and describes in a dump, a
# program and a library that are deleted, and a program whose path means another file here.
#
#     test-names.sh KONTEND LINGER LIBRARY JIT-WORK OTHER
set -eu
kontend=$1
linger=$2
library=$3
jit=$4
other=$5

# shellcheck source=tests/lib/measure.sh
. "$(dirname "$0")/../lib/measure.sh"
need_root
# A program that waits for the end of its input ends when we end.
mkfifo "$dir/hold"
exec 9<>"$dir/hold"

fail() {
	echo "FAIL $1"
	[ ! -s "$dir/hot.csv" ] || head -8 "$dir/hot.csv"
	[ ! -s "$dir/err" ] || cat "$dir/err"
	exit 1
}

# start COMMAND...: until it is ready
start() {
	rm -f "$dir/out"
	"$@" <"$dir/hold" >"$dir/out" 2>"$dir/err" &
	work=$!
	for _ in $(seq 600); do
		! grep -q ready "$dir/out" || return 0
		kill -0 "$work" 2>/dev/null || break
		sleep 0.1
	done
	wait "$work" && status=0 || status=$?
	work=
	[ "$status" != 77 ] || return 1
	fail "$* did not start"
}

stop() {
	kill "$work" || true
	wait "$work" || true
	work=
}

# profile: of the running programs
profile() {
	"$kontend" report -q -p "$work" -F 997 -e cpu-clock --duration 0.3 --view hot --format csv
}

# expect NAME...: the profile has them; samples may be few while other programs are busy
expect() {
	for _ in $(seq 10); do
		profile >"$dir/hot.csv"
		missing=
		for name in "$@"; do
			grep -q ",$name," "$dir/hot.csv" || missing="$missing $name"
		done
		[ -n "$missing" ] || return 0
	done
	fail "not in the profile:$missing"
}

if start "$jit" "$dir"; then
	expect jit_first jit_second
	# Its bytes are in the dump: the loop is one instruction and a jump.
	for _ in $(seq 10); do
		"$kontend" report -q -p "$work" -F 997 -e cpu-clock --duration 0.3 \
			--annotate jit_second >"$dir/code" 2>&1 || true
		! grep -q 'jit-[0-9]*\.dump' "$dir/code" || break
	done
	grep -q 'jit-[0-9]*\.dump' "$dir/code" || {
		cat "$dir/code"
		fail "jit_second is not annotated"
	}
	stop
fi

mkdir "$dir/gone"
cp "$linger" "$dir/gone/linger"
cp "$library" "$dir/gone/library.so"
start "$dir/gone/linger" "$dir/gone/library.so" delete
expect linger_program linger_library
# Reading a deleted library takes one capability, which is kept when others are given up.
if setpriv --bounding-set -sys_admin,-checkpoint_restore true 2>"$dir/err" &&
	setpriv --bounding-set -sys_admin "$kontend" report -q --duration 0.05 >"$dir/out" 2>"$dir/err"; then
	root=$kontend
	kontend="$dir/kontend"
	printf '#!/bin/sh\nexec setpriv --bounding-set -sys_admin "%s" "$@"\n' "$root" >"$kontend"
	chmod +x "$kontend"
	expect linger_program linger_library
	sed -i 's/-sys_admin/-sys_admin,-checkpoint_restore/' "$kontend"
	expect linger_program
	! grep -q ',linger_library,' "$dir/hot.csv" ||
		fail "a deleted library was read without CAP_CHECKPOINT_RESTORE"
	kontend=$root
else
	echo "not tried: without CAP_SYS_ADMIN: $(cat "$dir/err")"
fi
# Another file of the name is not what runs.
cp "$other" "$dir/gone/linger"
expect linger_program linger_library
stop

# A mount namespace of its own, in which the paths have other files.
if ! "$own_mounts" true 2>"$dir/err"; then
	echo "no mount namespaces here: programs in those are not tried"
	exit 0
fi
mkdir "$dir/there" "$dir/inside"
cp "$linger" "$dir/inside/linger"
cp "$library" "$dir/inside/library.so"
cp "$other" "$dir/there/linger"
# shellcheck disable=SC2016 # for the other shell
start "$own_mounts" sh -c 'mount --bind "$1/inside" "$1/there" && exec "$1/there/linger" "$1/there/library.so"' \
	sh "$dir"
expect linger_program linger_library
! grep -q spin_inner "$dir/hot.csv" || fail "the names are of another file"
stop
