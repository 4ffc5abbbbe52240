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
	mkdir -p "$tree/tests" "$tree/man" "$tree/ui/app" "$tree/ui/term" "$tree/debian"
	echo 'kontend (1.0.0-1) unstable; urgency=medium' >"$tree/debian/changelog"
	cp "$lint_dir/../../.clang-format" "$tree/"
	spdx='SPDX-License-Identifier: GPL-2.0-only'
	table='<!-- modules -->\n| folder | job | includes |\n|---|---|---|\n'
	used=nothing
	allowed=
	for name in util/mem decode/trace source/perf model/model query/query report/report ui/term ui/app; do
		module=${name%/*}
		header=${name#*/}
		folder=src/$module
		[ "$module" != ui ] || folder=ui
		mkdir -p "$tree/$folder" "$tree/include/$module/kontend"
		printf '// %s\n#include "kontend/%s.h"\n' "$spdx" "$header" >"$tree/$folder/$header.c"
		[ "$name" != ui/term ] || allowed='mem query'
		# The file includes a header of each module that the table lets it use.
		[ "$name" = ui/app ] || [ -z "$allowed" ] || {
			echo
			for other in $allowed; do
				echo "#include \"kontend/$other.h\""
			done | sort
		} >>"$tree/$folder/$header.c"
		allowed="$allowed $header"
		printf '/* %s */\nint %s_verb(int n);\n' "$spdx" "$header" \
			>"$tree/include/$module/kontend/$header.h"
		case $name in
		ui/term) table="$table| \`ui\` | x | util, query |\n" ;;
		ui/app) ;;
		*)
			table="$table| \`src/$module\` | x | $used |\n"
			[ "$used" = nothing ] && used=$module || used="$used, $module"
			;;
		esac
	done
	# shellcheck disable=SC2059 # the text is a format
	printf "$table| \`src/main.c\` | x | ui |\n<!-- /modules -->\n" >"$tree/ARCHITECTURE.md"
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

# Every pair of modules that the project's own table does not have, planted: each is found.
every_pair() {
	rm -rf "$tree"
	mkdir -p "$tree"
	cp "$lint_dir/../../ARCHITECTURE.md" "$tree/"
	# shellcheck disable=SC2016 # backquotes of the document
	rows=$(sed -n '/<!-- modules -->/,/<!-- \/modules -->/s/^| `\([a-z/]*\)` |.*| \([^|]*\) |$/\1: \2/p' "$tree/ARCHITECTURE.md")
	folders=$(echo "$rows" | sed 's/:.*//')
	planted=0
	for folder in $folders; do
		module=${folder#src/}
		mkdir -p "$tree/$folder" "$tree/include/$module/kontend"
		echo >"$tree/include/$module/kontend/of-$module.h"
		for other in $folders; do
			other=${other#src/}
			echo "$rows" | grep "^$folder:" | grep -qE "[ ,]$other(,|\$)" && continue
			[ "$other" != "$module" ] || continue
			echo "#include \"kontend/of-$other.h\"" >>"$tree/$folder/$module.c"
			planted=$((planted + 1))
		done
	done
	run_lint layers
	found=$(grep -c 'does not use' "$tree.out") || true
	[ "$planted" -gt 150 ] || complain "layers: only $planted pairs are forbidden"
	[ "$found" -eq "$planted" ] ||
		complain "layers: $found of $planted forbidden includes found"
}

repeat() {
	awk -v n="$1" -v line="$2" 'BEGIN { while (n-- > 0) printf "%s\\n", line }'
}

expect_all() {
	expect libraries ui/app/app.c '#include <curses.h>\n'
	expect libraries src/model/model.c '#include <perf/evlist.h>\n'
	expect libraries src/decode/trace.c '#include <internal/evsel.h>\n'
	expect libraries src/source/perf.c '#include <event-parse.h>\n'
	expect libraries src/util/mem.c '#include <elfutils/libdw.h>\n'
	accept libraries ui/term/term.c '#include <curses.h>\n'
	accept libraries src/decode/trace.c '#include <event-parse.h>\n'

	expect layers src/util/mem.c '#include "kontend/model.h"\n'
	expect layers src/decode/trace.c '#include "kontend/query.h"\n'
	expect layers src/model/model.c '#include "kontend/query.h"\n'
	expect layers src/report/report.c '#include "kontend/term.h"\n'
	expect layers ui/term/term.c '#include "kontend/report.h"\n'
	expect layers ui/term/term.c '#include "report/internal.h"\n'
	expect layers src/main.c '#include "kontend/query.h"\n'
	expect layers include/model/kontend/model.h '#include "kontend/task.h"\n'
	expect layers src/util/mem.c '#include "kontend/nowhere.h"\n'
	# shellcheck disable=SC2016 # backquotes of the document
	expect layers ARCHITECTURE.md '<!-- modules -->\n| `src/late` | x | later |\n<!-- /modules -->\n'
	expect layers include/util/kontend/mem.h '#include "kontend/trace.h"\n'
	# shellcheck disable=SC2016 # backquotes of the document
	expect layers ARCHITECTURE.md '<!-- modules -->\n| `src/idle` | x | util |\n<!-- /modules -->\n'
	accept layers src/query/query.c '#include "kontend/model.h"\n'
	accept layers src/main.c '#include "kontend/term.h"\n'
	accept layers src/report/report.c '#include "kontend/query.h"\n'

	expect calls src/model/model.c 'x = malloc(3);\n'
	expect calls ui/app/app.c '\tfree(x);\n'
	expect calls src/decode/trace.c '\tprintf(x);\n'
	expect calls src/model/model.c '\tfprintf(stderr, x);\n'
	expect calls src/source/perf.c '\texit(1);\n'
	accept calls src/util/mem.c 'x = malloc(3);\n'
	accept calls src/main.c '\texit(1);\n'
	accept calls src/source/perf.c '\t_exit(1);\n\ts->ops->free(s);\n\tmem_free(x);\n'
	accept calls src/source/perf.c '/* free(x)\n exit(1) */ // printf(1)\nx = "exit(1)";\n'

	expect size src/util/mem.c "$(repeat 800 'int x;')"
	expect size include/util/kontend/mem.h "$(repeat 250 'int x;')"
	expect size src/util/mem.c "{\n$(repeat 61 '	x();')}\n"
	expect size src/util/mem.c '\t\t// 2345678901234567890123456789012345678901234567890123456789012345678901234567890123456\n'
	accept size src/util/mem.c "{\n$(repeat 60 '	x();')}\n"

	expect text src/util/mem.c '// TO''DO: later\n'
	expect text src/new.c '// nothing\n'
	expect text tests/new.sh '#!/bin/sh\n'
	accept text src/util/mem.c '// a template: /tmp/x-XXXXXX\n'

	expect names include/util/kontend/mem.h 'void *memory_get(void);\n'
	expect names include/util/kontend/mem.h 'static inline int get(int x)\n'
	expect names src/util/mem.c 'int is_told;\n'
	accept names src/util/mem.c '/* as told */ int is_stolder = ftell(f); g("told");\n'
	accept names include/util/kontend/mem.h 'struct block {\n\tint x;\n};\nvoid block_put(void);\n'
	accept names include/util/kontend/mem.h '/*\nint other(void);\n*/\nvoid *mem_get(int (*f)(int));\n'
	accept man man/kontend.1 '.Ql a ,\n.Ql \\&No b .\n.Pq Ql x Ns Ar Y ;\n'

	expect format src/util/mem.c 'int  x( void );\n'
	# shellcheck disable=SC2016 # backquotes of a document
	{
		expect docs ARCHITECTURE.md 'See `mem-gone.c`.\n'
		expect docs ARCHITECTURE.md 'See `util/gone.c`.\n'
		expect docs README.md 'apt install ./kontend_1.0.0_amd64.deb\n'
		accept docs README.md 'apt install ./kontend_1.0.0-1_amd64.deb\n'
		expect docs ARCHITECTURE.md 'See `src/gone*.c`.\n'
		accept docs ARCHITECTURE.md 'See `src/util/*.c`.\n'
		accept docs ARCHITECTURE.md 'See `mem.c`, `util/mem.c`, `src/NAME.c`.\n'
	}
	expect comments src/util/mem.c '/* see\n * gone.c */\n'
	expect comments src/util/mem.c 'int x; // as util/gone.h has it\n'
	expect comments include/util/kontend/mem.h '/* model/mem.c */\n'
	expect comments tests/good.sh '# tests/gone.sh does it\n'
	accept comments src/util/mem.c '/* mem.c, util/mem.c, (kontend/mem.h), fuzz-NAME.c, tests/good.sh */\n'
	accept comments src/util/mem.c '/* kernel/fork.c, include/linux/sched.h, <sys/uio.h>, \"dir/file.c:12\" */\n'
	accept comments src/util/mem.c 'x = \"gone.c\"; /* e.g. */\n'
	expect words src/util/mem.c '/* The kernel tells which. */\n'
	expect words src/util/mem.c '/* What the\n * kernel reports. */\n'
	expect words src/util/mem.c 'f("of no use");\n'
	expect words tests/good.sh '# Whoever calls this\n'
	expect words ARCHITECTURE.md 'Nobody looks.\n'
	expect words man/kontend.1 'It is read anew.\n'
	accept words src/util/mem.c '/* What does the kernel report? It tell_s(). */ x = \"stands for\";\n'
	accept words src/util/mem.c '/* tasks that wait behind others */\n'
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
every_pair
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
