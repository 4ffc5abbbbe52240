#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# ./bootstrap on machines that this one is not: no apt, packages missing, no root. Each is played
# by a folder of links to a few commands that is the whole PATH. Nothing is installed or built.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
	echo "$*"
	cat "$work/out"
	failures=$((failures + 1))
}

# machine COMMAND...: a copy of the tree's bootstrap and a PATH with only these commands
machine() {
	rm -rf "${work:?}/bin" "$work/tree"
	mkdir -p "$work/bin" "$work/tree"
	cp "$top/bootstrap" "$work/tree/"
	for command in sh dirname cat grep awk id uname "$@"; do
		ln -s "$(command -v "$command")" "$work/bin/$command"
	done
}

# fake COMMAND: a command that prints its name and arguments to $work/calls, then standard input
fake() {
	{
		printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n' "$1" "$work"
		cat
	} >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# run STATUS ARGUMENT...: what bootstrap answers; its PATH ends in /usr/sbin:/sbin by itself
run() {
	wanted=$1
	shift
	status=0
	: >"$work/calls"
	# shellcheck disable=SC2086 # a command and its arguments, or nothing
	$as env -i PATH="$work/bin" LINUX_SOURCE="$source" "$work/tree/bootstrap" "$@" >"$work/out" 2>&1 \
		</dev/null || status=$?
	[ "$status" -eq "$wanted" ] || complain "bootstrap $*: exit $status, expected $wanted"
}

says() {
	grep -qE -e "$1" "$work/out" || complain "not said: $1"
}

source=/dev/null
as=

machine
run 0 --help
says '^usage: ./bootstrap run'
run 129
run 129 fly
says 'unknown argument: fly'
run 1 run --prefix

# No apt: the names for other package managers, and a clear end.
run 1 run
says 'with dnf: .*libtraceevent-devel'
says 'with pacman: .*libtraceevent'
says 'no apt here'

# apt, and nothing installed.
machine
fake apt-get </dev/null
fake dpkg-query </dev/null
run 1 run --no-install
says 'missing packages: .*meson.*libncurses-dev.*libtraceevent-dev'
! grep -q apt-get "$work/calls" || complain "--no-install called apt-get"
! grep -q mandoc "$work/out" || complain "run asks for what only tests need"
run 1 test --no-install
says 'missing packages: .*mandoc'

# The kernel's source is missing, or there by another name.
if ! ls /usr/src/linux-source-* >/dev/null 2>&1; then
	source=
	run 1 run --no-install
	says 'missing packages: .*linux-source'
fi
source=/dev/null
run 1 run --no-install
! grep -q linux-source "$work/out" || complain "LINUX_SOURCE is not believed"

# An archive that knows none of the packages: the list is renewed once, then a clear end.
machine wc tr
fake dpkg-query </dev/null
fake apt-cache </dev/null
fake apt-get <<'END'
[ "$1" = update ] || exit 100
END
fake sudo <<'END'
exec "$@"
END
ln -s "$(command -v env)" "$work/bin/env"
run 1 run
says 'apt-get could not install'
says "apt's sources have no .*meson.*; on Ubuntu they need to have universe"
[ "$(grep -c '^apt-get update' "$work/calls")" -eq 1 ] || complain "package lists not renewed once"
grep -q '^apt-get install -y -q --no-install-recommends .*meson' "$work/calls" ||
	complain "apt-get install was not called as it should: $(cat "$work/calls")"

# Neither root nor sudo.
if [ "$(id -u)" -eq 0 ]; then
	rm "$work/bin/sudo" "$work/bin/id"
	fake id <<-'END'
	echo 1000
	END
	run 1 run
	says 'need root or sudo'
fi

# Built, but this user may not measure: a message reports that, and a recording is shown.
machine mkdir rm tail
fake meson <<'END'
[ "$1" != --version ] || echo 1.0
END
fake ninja </dev/null
mkdir -p "$work/tree/build/meson-private"
: >"$work/tree/build/meson-private/coredata.dat"
cat >"$work/tree/build/kontend" <<'END'
#!/bin/sh
case $* in
*-i*) echo "shown: $*" ;;
*) echo "kontend: Only root may read this" >&2 && exit 1 ;;
esac
END
chmod +x "$work/tree/build/kontend"
run 0 run --no-install
says 'nothing can be measured here: Only root may read this'
says 'shown: report -i .*/share/storm.data'
# The caller's request is done, or fails.
run 1 run --no-install -- --view locks
says '^kontend: Only root'

# A user whom sudo lets measure sees this machine, and sudo installs where only root may write.
if [ "$(id -u)" -eq 0 ]; then
	rm "$work/bin/id"
	fake id <<-'END'
	echo 1000
	END
	fake sudo <<-'END'
	[ "$1" = -n ] && exit "$(cat "${0%/*}/sudo.status")"
	MEASURES=yes exec "$@"
	END
	cat >"$work/tree/build/kontend" <<-'END'
	#!/bin/sh
	case $*/${MEASURES:-} in
	*-i*) echo "shown: $*" ;;
	*/yes) echo "measured: $*" ;;
	*) echo "kontend: Only root may read this" >&2 && exit 1 ;;
	esac
	END
	echo 0 >"$work/bin/sudo.status"
	run 0 run --no-install
	says 'measuring by sudo: Only root may read this'
	says 'measured: report --duration 3 --demo'
	run 0 run --no-install -- --view locks
	says 'measured: report --duration 3 --demo --view locks'
	echo 1 >"$work/bin/sudo.status"
	run 0 run --no-install
	says 'shown: report -i .*/share/storm.data'
	mkdir -p "$work/mine"
	run 0 run --no-install --prefix "$work/mine/new"
	grep -q '^meson install' "$work/calls" || complain "meson was not asked to install"
	! grep -q '^sudo meson' "$work/calls" || complain "sudo installs where the user may write"
	if command -v setpriv >/dev/null; then
		chown -R 65534 "$work"
		as="setpriv --reuid 65534 --clear-groups"
		run 0 run --no-install --prefix /usr/local
		as=
		grep -q '^sudo meson install' "$work/calls" || complain "sudo does not install"
	fi
fi

# A build without a terminal says how far it is, and all that a compiler says; "run" compiles kontend
# alone, "test" everything, and a build that has the tests keeps them.
machine mkdir rm tail
fake meson <<'END'
[ "$1" != --version ] || echo 1.0
END
fake ninja <<'END'
printf '[1/20] cc src/a.o\n[2/20] cc src/b.o\nb.c:1: warning: odd\n[note/1] of a compiler\n'
for i in 0 1 2 3 4 5 6 7 8 9; do
	! grep -q 'compiled 2 of 20' "${0%/*}/../out" || break
	sleep 1
	[ "$i" -lt 9 ] || echo 'told too late'
done
echo '[20/20] ld'
END
ln -s "$(command -v sleep)" "$work/bin/sleep"
mkdir -p "$work/tree/build/meson-private"
: >"$work/tree/build/meson-private/coredata.dat"
printf '#!/bin/sh\n' >"$work/tree/build/kontend"
chmod +x "$work/tree/build/kontend"
run 0 run --no-install
says '^bootstrap: compiled 2 of 20$'
says '^bootstrap: compiled 20 of 20$'
says '^b.c:1: warning: odd$'
says '^\[note/1\] of a compiler$'
! grep -q 'told too late' "$work/out" || complain "progress is told late"
! grep -qE 'compiled 1 of|cc src' "$work/out" || complain "each step is told"
grep -q '^ninja .* kontend$' "$work/calls" || complain "more than kontend is compiled"
grep -q -e -Dtests=false "$work/tree/build/.bootstrap" || complain "the tests are configured"
echo -Dtests=true >"$work/tree/build/.bootstrap"
run 0 run --no-install
grep -q -e -Dtests=true "$work/tree/build/.bootstrap" || complain "the tests are left out again"
fake ninja <<'END'
echo 'a.c:1: error: bad' && exit 1
END
run 1 run --no-install
says '^a.c:1: error: bad$'
says 'the build failed'

[ "$failures" -eq 0 ]
