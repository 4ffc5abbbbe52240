#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The reports of our scripts to CI, on trees of a few lines: which file clang complains of, and how
# many lines were run.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

complain() {
	echo "$*: $(cat "$work/out")"
	failures=$((failures + 1))
}

# expect STATUS LAST-LINE COMMAND...
expect() {
	wanted=$1 line=$2
	shift 2
	status=0
	"$@" >"$work/out" 2>&1 || status=$?
	[ "$status" -eq "$wanted" ] || complain "$*: exit $status, not $wanted"
	[ "$(tail -n 1 "$work/out")" = "$line" ] || complain "$*: not '$line'"
}

if command -v clang >/dev/null; then
	mkdir "$work/build"
	# A header that the build makes, as meson has it made.
	cat >"$work/build/build.ninja" <<-'END'
		rule CUSTOM_COMMAND
		  command = echo 'int good(int a);' >$out
		build made.h: CUSTOM_COMMAND
		build other.txt: CUSTOM_COMMAND
	END
	printf '#include "build/made.h"\nint good(int a) { return a; }\n' >"$work/good.c"
	echo 'int bad(int a); int bad(int a) { int unused; return a; }' >"$work/bad.c"
	# entries NAME...: a build of these files
	entries() {
		printf '[' >"$work/build/compile_commands.json"
		between=
		for name; do
			printf '%s{"directory": "%s", "file": "../%s", "command": "clang -Wall -Werror -MD -MQ x.o -MF x.d -o x.o -c ../%s"}' \
				"$between" "$work/build" "$name" "$name" >>"$work/build/compile_commands.json"
			between=,
		done
		echo ']' >>"$work/build/compile_commands.json"
	}
	entries good.c
	expect 0 '1 passed, 0 failed, 0 skipped' "$top/tests/lib/clang-check.py" "$work/build"
	[ -e "$work/build/made.h" ] || complain "it has not made the header"
	[ -z "$(find "$work/build" -name '*.o' -o -name '*.d' -o -name other.txt)" ] || complain "it has made files"
	entries good.c bad.c
	expect 1 '0 passed, 1 failed, 0 skipped' "$top/tests/lib/clang-check.py" "$work/build"
	grep -q 'bad.c.*unused' "$work/out" || complain "it does not say what is bad"
	entries
	expect 1 '0 passed, 1 failed, 0 skipped' "$top/tests/lib/clang-check.py" "$work/build"
else
	echo "clang is not installed: what it says is not tried"
fi

# Two programs of one source with four lines that have code, of which each runs three, together all;
# and one that is compiled and never run, with two.
mkdir -p "$work/tree/src/part" "$work/tree/src/external/x" "$work/cover"
cat >"$work/tree/src/part/half.c" <<'END'
int main(int argc, char **argv)
{
	if (argc > 1)
		return argv[1][0] == '-';
	return 0;
}
END
cat >"$work/tree/src/part/never.c" <<'END'
int never(void);
int never(void)
{
	return 1;
}
END
cp "$work/tree/src/part/never.c" "$work/tree/src/external/x/"
compile() {
	(cd "$work/cover" && cc --coverage -O0 "$@")
}
compile -c -o never.o ../tree/src/part/never.c
compile -c -o external.o ../tree/src/external/x/never.c
compile -o one ../tree/src/part/half.c
compile -o two ../tree/src/part/half.c
"$work/cover/one"
coverage=$top/tests/lib/coverage.py
expect 0 'coverage: 50.0 % of the lines of src and ui, 3 of 6' "$coverage" "$work/cover" "$work/tree"
grep -q '^  50.0 % *3 of *6 lines  src/part$' "$work/out" || complain "the folder is not said"
"$work/cover/two" word
expect 0 'coverage: 66.7 % of the lines of src and ui, 4 of 6' "$coverage" --least 66 "$work/cover" "$work/tree"
expect 1 'coverage: 66.7 % of the lines of src and ui, 4 of 6' "$coverage" --least 85 --files "$work/cover" "$work/tree"
grep -q '^   0.0 % *0 of *2 lines  src/part/never.c$' "$work/out" || complain "the file is not said"
! grep -q half.c "$work/out" || complain "a file is said that has all its lines"
mkdir "$work/none"
expect 1 "coverage: $work/none was built without -Db_coverage=true" "$coverage" "$work/none" "$work/tree"
[ "$failures" -eq 0 ]
