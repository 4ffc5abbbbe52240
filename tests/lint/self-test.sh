#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Shows that each lint script finds what it is for: in a small clean tree it is silent, and each
# violation, put into that tree alone, makes it exit 1 and name the file and line.
# Called as: self-test.sh LINT... (every script of the suite, so that none goes untested).
set -eu
lint_dir=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree" "$tree.out"' EXIT
failures=0
tried=' '

clean_tree() {
	rm -rf "$tree"
	mkdir -p "$tree/src/util" "$tree/src/model" "$tree/src/query" "$tree/src/decode" \
		"$tree/src/source" "$tree/src/report" "$tree/ui" "$tree/include/kontend" "$tree/tests" "$tree/man"
	cp "$lint_dir/../../.clang-format" "$tree/"
	spdx='SPDX-License-Identifier: GPL-2.0-only'
	for name in util/mem model/model query/query decode/trace source/perf report/report; do
		module=${name#*/}
		printf '// %s\n#include "kontend/%s.h"\n' "$spdx" "$module" >"$tree/src/$name.c"
		printf '/* %s */\nint %s_verb(int n);\n' "$spdx" "$module" \
			>"$tree/include/kontend/$module.h"
	done
	for name in term app; do
		printf '// %s\n#include "kontend/%s.h"\n' "$spdx" "$name" >"$tree/ui/$name.c"
		printf '/* %s */\nint %s_verb(int n);\n' "$spdx" "$name" \
			>"$tree/include/kontend/$name.h"
	done
	printf '// %s\n#include "kontend/app.h"\n' "$spdx" >"$tree/src/main.c"
	printf '#!/bin/sh\n# %s\necho hello\n' "$spdx" >"$tree/tests/good.sh"
	{
		printf '.\\" %s\n' "$spdx"
		printf '.Dd January 1, 2024\n.Dt KONTEND 1\n.Os\n.Sh NAME\n.Nm kontend\n'
		printf '.Nd a profiler\n.Sh SYNOPSIS\n.Nm\n.Sh DESCRIPTION\nText.\n'
	} >"$tree/man/kontend.1"
}

complain() {
	echo "$*"
	failures=$((failures + 1))
}

run_lint() {
	status=0
	"$lint_dir/$1.sh" "$tree" >"$tree.out" 2>&1 || status=$?
}

# expect LINT FILE TEXT: appends TEXT (as printf takes it) to FILE and expects a finding in FILE.
# shellcheck disable=SC2059 # the text is a format
expect() {
	clean_tree
	printf "$3" >>"$tree/$2"
	run_lint "$1"
	if [ "$status" -eq 77 ]; then
		return
	elif [ "$status" -ne 1 ] || ! grep -q "$2" "$tree.out"; then
		complain "$1: exit $status and no finding in $2 for: $3"
	fi
	tried="$tried$1 "
}

# The opposite: what looks like a violation and is none.
# shellcheck disable=SC2059
accept() {
	clean_tree
	printf "$3" >>"$tree/$2"
	run_lint "$1"
	[ "$status" -eq 0 ] || [ "$status" -eq 77 ] ||
		complain "$1: exit $status for the harmless $2: $3: $(cat "$tree.out")"
}

repeat() {
	awk -v n="$1" -v line="$2" 'BEGIN { while (n-- > 0) printf "%s\\n", line }'
}

expect_all() {
	expect libraries ui/app.c '#include <curses.h>\n'
	expect libraries src/model/model.c '#include <perf/evlist.h>\n'
	expect libraries src/decode/trace.c '#include <internal/evsel.h>\n'
	expect libraries src/source/perf.c '#include <event-parse.h>\n'
	expect libraries src/util/mem.c '#include <elfutils/libdw.h>\n'
	accept libraries ui/term.c '#include <curses.h>\n'
	accept libraries src/decode/trace.c '#include <event-parse.h>\n'

	expect layers src/util/mem.c '#include "kontend/model.h"\n'
	expect layers src/decode/trace.c '#include "kontend/query.h"\n'
	expect layers src/model/model.c '#include "kontend/query.h"\n'
	expect layers src/report/report.c '#include "kontend/term.h"\n'
	expect layers ui/term.c '#include "kontend/app.h"\n'
	expect layers include/kontend/mem.h '#include "kontend/trace.h"\n'
	accept layers src/query/query.c '#include "kontend/model.h"\n'
	accept layers src/main.c '#include "kontend/term.h"\n'
	accept layers src/report/report.c '#include "kontend/query.h"\n'

	expect calls src/model/model.c 'x = malloc(3);\n'
	expect calls ui/app.c '\tfree(x);\n'
	expect calls src/decode/trace.c '\tprintf(x);\n'
	expect calls src/model/model.c '\tfprintf(stderr, x);\n'
	expect calls src/source/perf.c '\texit(1);\n'
	accept calls src/util/mem.c 'x = malloc(3);\n'
	accept calls src/main.c '\texit(1);\n'
	accept calls src/source/perf.c '\t_exit(1);\n\ts->ops->free(s);\n\tmem_free(x);\n'
	accept calls src/source/perf.c '/* free(x)\n exit(1) */ // printf(1)\nx = "exit(1)";\n'

	expect size src/util/mem.c "$(repeat 700 'int x;')"
	expect size include/kontend/mem.h "$(repeat 150 'int x;')"
	expect size src/util/mem.c "{\n$(repeat 61 '	x();')}\n"
	expect size src/util/mem.c '\t\t// 2345678901234567890123456789012345678901234567890123456789012345678901234567890123456\n'
	accept size src/util/mem.c "{\n$(repeat 60 '	x();')}\n"

	expect text src/util/mem.c '// TO''DO: later\n'
	expect text src/new.c '// nothing\n'
	expect text tests/new.sh '#!/bin/sh\n'
	accept text src/util/mem.c '// a template: /tmp/x-XXXXXX\n'

	expect names include/kontend/mem.h 'void *memory_get(void);\n'
	expect names include/kontend/mem.h 'static inline int get(int x)\n'
	accept names include/kontend/mem.h 'struct block {\n\tint x;\n};\nvoid block_put(void);\n'
	accept names include/kontend/mem.h '/*\nint other(void);\n*/\nvoid *mem_get(int (*f)(int));\n'
	accept man man/kontend.1 '.Ql a ,\n.Ql \\&No b .\n.Pq Ql x Ns Ar Y ;\n'

	expect format src/util/mem.c 'int  x( void );\n'
	expect shell tests/good.sh 'unused=1\n'
	expect man man/kontend.1 '.Fl\n.Xx\n'
	expect musl src/util/mem.c '#include <sys/resource.h>\n__rlimit_resource_t x;\n'
	expect musl src/util/mem.c '#include <sys/uio.h>\nint f(void) { return pwritev2(0); }\n'
	expect man man/kontend.1 '.Ql No space left on device .\n'
	expect man man/kontend.1 '.Ql .\nof the kernel\n'
	expect man man/kontend.1 '.Pq Ql bpf , Ql probe\n'
	expect man man/kontend.1 '.Ql 3.21s , 41.2ms .\n'
}

expect_all
for lint in "$@"; do
	clean_tree
	run_lint "$lint"
	case $status in
	0) ;;
	77) echo "$lint: $(cat "$tree.out")" && continue ;;
	*) complain "$lint: finds fault with a clean tree: $(cat "$tree.out")" ;;
	esac
	case $tried in
	*" $lint "*) ;;
	*) complain "$lint: never seen to fail" ;;
	esac
done
[ "$failures" -eq 0 ]
