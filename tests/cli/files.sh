#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Recordings as input: report, script, export and diff. Needs no privilege.
# Called as: files.sh KONTEND MAKE-RECORDING
# shellcheck disable=SC2016,SC2317 # expanded by the shells that are started; called through others
make=$(realpath "$2")
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
"$make" "$work"
canned=$work/canned.data
chmod 644 "$work"/*.data

expect 0 '' "$kontend" report -i "$canned"
prints 'vm_mmap_pgoff'
prints '^# quality: lost 3 '
expect 0 '' "$kontend" report -i "$canned" -j --view all
cp "$work/out" "$work/report.json"
prints '"kind": "perf.data"'

# Lines are the events that the report counts; from a pipe, too.
expect 0 '' "$kontend" script -i "$canned" --quiet
prints '^ +1\.001000000 \[000\] mm/5214 +begin +rwsem:W +0xffff888012345678 WRITE +- +munmap +__vm_munmap$'
prints '^ +2\.699999999 .* lost +3 records$'
lines=$(grep -cE ' (begin|end|failed) ' "$work/out")
grep -q "\"events\": $lines," "$work/report.json" || complain "script: $lines events"
cp "$work/out" "$work/lines"
expect 0 '' sh -c '"$1" script --quiet -i - <"$2"' sh "$kontend" "$canned"
cmp "$work/out" "$work/lines" || complain "script: other lines from standard input"
expect 0 'records were lost, dropped or not readable' \
	sh -c '"$1" script -i "$2" >/dev/null' sh "$kontend" "$canned"
expect 0 '' "$kontend" script -j --quiet -i "$work/perf.data"
[ "$(grep -cE '"event": "(begin|end|failed)"' "$work/out")" -eq "$lines" ] ||
	complain "script: perf's file has other events"
expect 0 '' sh -c '"$1" script -qi "$2" | head -n 1' sh "$kontend" "$canned"
run sh -c '{ "$1" script -qi "$2"; echo $? >"$3"; } | true' sh "$kontend" "$canned" "$work/rc"
case $(cat "$work/rc") in 0 | 141) ;; *) complain "script: exit $(cat "$work/rc")" ;; esac
[ ! -s "$work/err" ] || complain "script: said $(cat "$work/err") to a reader that has gone"

# What would triggers have caught? As many waits as there are of that length, the longest among them.
expect 0 '' "$kontend" report -i "$canned" --trigger 'wait>1ms' --cooldown 1ms -n 0
prints '^# incidents, by time: [1-9]'
prints 'wait [0-9.]+ms +wait>1ms'
expect 0 '' "$kontend" report -qi "$canned" --trigger 'wait>1ms type:nothing' --trigger 'lost>0' -j
prints '"fired": "lost 3"'
[ "$(grep -c '"fired":' "$work/out")" -eq 1 ] || complain "report --trigger: not one incident"
expect 0 '' "$kontend" report -qi "$canned" --trigger 'wait>1ms' --format csv --fields fired,name
[ "$(head -n 1 "$work/out")" = 'fired,name' ] || complain "report --trigger: no CSV"
expect 129 "column 10: filter term 'foo': say what it is of" \
	"$kontend" report -i "$canned" --trigger 'wait>1ms foo'
expect 129 '.--view incidents: give --trigger, too' "$kontend" report -i "$canned" --view incidents

# Sums agree, whatever the format.
expect 0 '' "$kontend" export -q -i "$canned"
folded=$(awk '!/still waiting/ { s += $NF } END { printf "%.0f", s }' "$work/out")
grep -q "\"total_ns\": $folded," "$work/report.json" || complain "export: folded $folded ns"
expect 0 '' "$kontend" export -i "$canned" --format openmetrics
prints '^kontend_lock_wait_seconds_count\{type="rwsem",mode="W",world="kernel"\} 30$'
[ "$(tail -n 1 "$work/out")" = '# EOF' ] || complain "export: no EOF"
expect 0 '' "$kontend" export -i "$canned" --format openmetrics -n 1
[ "$(grep -c '^kontend_caller_wait_seconds_total' "$work/out")" -eq 1 ] || complain "export -n 1"
expect 0 '' "$kontend" export -i "$canned" --format firefox -o "$work/trace.json"
if command -v python3 >/dev/null; then
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/trace.json" ||
		complain "export: no JSON"
fi

expect 0 '' "$kontend" export -q -i "$canned" --format flamegraph -o "$work/graph.svg"
if command -v python3 >/dev/null; then
	python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$work/graph.svg" ||
		complain "export: no XML"
fi
# The heat map has all waits that have ended; two flame graphs as one have what each has.
for weight in '' '--weight wait'; do
	# shellcheck disable=SC2086 # nothing, or two words
	expect 0 '' "$kontend" export -q -i "$canned" --format heatmap $weight -o "$work/heat.svg"
	if command -v python3 >/dev/null; then
		python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$work/heat.svg" ||
			complain "export --format heatmap $weight: no XML"
	fi
done
expect 129 'its colours are numbers of waits' "$kontend" export -i "$canned" --format heatmap --weight samples
expect 129 'does not go with --format heatmap' "$kontend" export -i "$canned" --format heatmap --zoom cpu=0
expect 0 '' "$kontend" report -q -i "$canned" --view heat --format csv
[ "$(awk -F , 'NR > 1 { n += $4 } END { print n }' "$work/out")" -eq \
	"$(sed -n 's/^  "contended": \([0-9]*\),$/\1/p;s/^      "contended": \([0-9]*\),$/\1/p' "$work/report.json" | head -n 1)" ] ||
	complain "report --view heat: $(cat "$work/out")"
# Waits by their lengths: all of them are in two parts, and a table has what the map has.
parts=0
for lengths in 0,1ms 1ms,1h; do
	expect 0 '' "$kontend" report -q -i "$canned" -j --view heat,locks --lengths $lengths
	parts=$((parts + $(sed -n 's/^ *"waits": \([0-9]*\),$/\1/p' "$work/out" | tail -n 1)))
done
[ "$parts" = "$(sed -n 's/^ *"contended": \([0-9]*\),$/\1/p' "$work/report.json" | head -n 1)" ] ||
	complain "report --lengths: $parts waits"
expect 129 'give two times' "$kontend" report -i "$canned" --lengths 5ms
expect 129 'the shorter one first' "$kontend" report -i "$canned" --lengths 5ms,1ms
for sides in "$canned $canned" "--compare 25%,50% $canned"; do
	# shellcheck disable=SC2086 # words
	expect 0 '' "$kontend" diff -q --format flamegraph -o "$work/diff.svg" $sides
	grep -q '>more in B<' "$work/diff.svg" || complain "diff --format flamegraph $sides"
done
expect 0 '' "$kontend" diff -q --format folded "$canned" "$canned"
awk '$NF != $(NF - 1) { n++ } END { exit !NR || n }' "$work/out" || complain 'diff --format folded: sides differ'
expect 0 '' "$kontend" export -q -i "$canned" --format folded
both=$(awk '{ n += $NF } END { printf "%.0f", n }' "$work/out")
expect 0 '' "$kontend" diff -q --format folded "$canned" "$canned"
[ "$(awk '{ n += $NF } END { printf "%.0f", n }' "$work/out")" = "$both" ] || complain 'diff --format folded: sums'
expect 1 'there are no samples' "$kontend" diff --format flamegraph --weight samples "$canned" "$canned"
expect 129 'is about tables' "$kontend" diff --format folded --by lock "$canned" "$canned"
expect 0 '' "$kontend" diff -q -j --weight wait "$canned" "$canned"
[ "$(sed -n 's/.*"b_self": \([0-9]*\),.*/\1/p' "$work/out" | awk '{ n += $1 } END { printf "%.0f", n }')" = "$both" ] ||
	complain 'diff -j --weight wait: sums'
run "$kontend" diff -q -j --weight wait "$canned" -- "$work/other.data"
[ "$rc" = 0 ] || complain "diff -j --weight wait of groups: exit $rc"
prints '"schema": "kontend.compared/1"'
prints '"chains": \{'
prints '"weight": "wait"'
# Two parts of the waits: together they have all, and each has its own.
expect 0 '' "$kontend" diff -q --format folded --side type=rwsem --side '!type=rwsem' "$canned"
[ "$(awk '{ n += $NF + $(NF - 1) } END { printf "%.0f", n }' "$work/out")" = "$both" ] || complain 'diff --side: sums'
awk '/rwsem/ { n += $NF } !/rwsem/ { n += $(NF - 1) } END { exit n > 0 }' "$work/out" || complain 'diff --side: sides'
expect 0 '' "$kontend" diff -q --side type=rwsem --side '!type=rwsem' "$canned"
prints '^# A: .*canned.data, waits with type=rwsem: '
expect 0 '' "$kontend" diff -q -j --weight wait --side pid=5214 --side comm:nosuch "$canned"
prints '"only": "pid=5214"'
expect 129 'is given twice' "$kontend" diff --side type=rwsem "$canned"
expect 129 'leave out' "$kontend" diff --side type=rwsem --side type=mutex "$canned" "$work/other.data"
expect 129 'exclude each other' "$kontend" diff --side type=rwsem --side type=mutex --compare 1s,2s "$canned"
expect 129 'say what it is of' "$kontend" diff --side rwsem --side type=mutex "$canned"
expect 129 'for two recordings, not' "$kontend" diff --side type=rwsem --side type=mutex "$canned" -- "$canned"
expect 129 'is for --format flamegraph, folded and json' "$kontend" diff --weight wait "$canned" "$canned"
expect 0 '' "$kontend" export -q -i "$canned" --zoom comm=mm
[ "$(grep -c '^mm;' "$work/out")" -eq "$(grep -c . "$work/out")" ] || complain "export --zoom comm=mm"
expect 1 'nothing is sampled' "$kontend" export -i "$canned" --weight samples
# Blame: the parts of the picture add up to all waiting; the unknown part is listed.
run "$kontend" report -q -i "$canned" --view blame --format json
waited=$(sed -n 's/.*"waited_ns": \([0-9]*\).*/\1/p' "$work/out" | head -n 1)
grep -q '"strongest": \[' "$work/out" || complain 'report --view blame: no knots'
expect 0 '' "$kontend" export -q -i "$canned" --weight blame
[ "$(awk '{ n += $NF } END { printf "%.0f", n }' "$work/out")" = "$waited" ] || complain 'export --weight blame'
expect 0 '' "$kontend" export -q -i "$canned" --format flamegraph --weight blame -o "$work/blame.svg"
grep -q 'above who held them' "$work/blame.svg" || complain 'a graph of blame'
expect 1 'is of no CPU' "$kontend" export -i "$canned" --weight blame --zoom cpu=0
expect 1 'min-wait says nothing of it' "$kontend" export -i "$canned" --weight blame --min-wait 1ms
expect 0 '' "$kontend" report -i "$canned" --view flame --weight blame --zoom cpu=0
grep -q '^# flame graph by blame: not known: ' "$work/out" || complain 'report --weight blame'
expect 0 '' "$kontend" report -i "$canned" --view hot --zoom cpu=0
expect 129 'is for --view hot' "$kontend" report -i "$canned" --zoom cpu=0
expect 0 '' "$kontend" report -i "$canned" --view flame --weight wait --format csv --percent-limit 50
[ "$(wc -l <"$work/out")" -gt 2 ] || complain 'report --view flame'
awk -F , 'NR > 1 && $1 < 50 { exit 1 }' "$work/out" || complain 'report --percent-limit'
expect 129 'is for --view flame' "$kontend" report -i "$canned" --weight wait
expect 129 'is for --view hot, flame' "$kontend" report -i "$canned" --percent-limit 1
expect 129 'give a number' "$kontend" report -i "$canned" --view hot --percent-limit 101
expect 129 'no KEY=VALUE' "$kontend" export -i "$canned" --zoom mm
expect 129 'does not go with --format firefox' "$kontend" export -i "$canned" --format firefox --weight wait
expect 129 "^kontend: --format 'chrome' is gone: give perfetto, whose viewer" "$kontend" export -i "$canned" --format chrome

# A configuration: not that of the user who runs the tests, groups of one's own, errors in it, and none.
run "$kontend" doctor
grep -q '^configuration: .* (there is none)$' "$work/out" || complain "reads $(grep '^configuration' "$work/out")"
printf '[groups]\nours = pipe_*\n' >"$work/config"
expect 0 '' "$kontend" report -i "$canned" --view hot -j --config "$work/config"
prints '"ours": 0'
expect 0 '' "$kontend" report -i "$canned" --view hot --zoom group=ours --config "$work/config"
expect 129 "'ours' is no group" "$kontend" report -i "$canned" --view hot --zoom group=ours
expect 129 'Cannot read the configuration' "$kontend" report -i "$canned" --config "$work/none"
# The file at the usual place must belong to the user: no wait for a FIFO, no file of other users.
mkdir -p "$work/found/kontend"
for what in fifo other link; do
	rm -f "$work/found/kontend/config"
	why='belongs to another user'
	if [ $what = fifo ]; then
		mkfifo "$work/found/kontend/config"
		why='is not a regular file'
	elif [ "$(id -u)" != 0 ]; then
		continue
	elif [ $what = other ]; then
		printf '[groups]\nours\n' >"$work/found/kontend/config"
		chown 12345 "$work/found/kontend/config"
	else
		ln -s "$work/config" "$work/found/kontend/config"
		chown -h 12345 "$work/found/kontend/config"
	fi
	run timeout 60 env XDG_CONFIG_HOME="$work/found" "$kontend" report -i "$canned"
	[ "$rc" = 0 ] || complain "a configuration that is $what: exit $rc"
	grep -q "the configuration .* is ignored: .*$why" "$work/err" ||
		complain "a configuration that is $what: said $(cat "$work/err")"
done
mkdir -m 700 "$work/cache"
mkfifo "$work/cache/uprobe-cost"
KONTEND_CACHE=$work/cache expect 0 '' timeout 60 "$kontend" report -i "$canned" --view uprobes
printf '[symbols]\ncache = no\n[groups]\nours = pipe_*\n' >"$work/config"
expect 0 '' "$kontend" report -i "$canned" --view hot --config "$work/config"
expect 0 '' "$kontend" report -i "$canned" --view hot --no-symbol-cache
printf '[symbols]\ncache = perhaps\n' >"$work/config"
expect 129 'config:2: cache: give yes or no' "$kontend" report -i "$canned" --config "$work/config"
printf '[symbols]\ncaches = no\n' >"$work/config"
expect 129 'config:2: there is no setting .caches. in ' "$kontend" report -i "$canned" --config "$work/config"
printf '[columns]\nlocks = waiting, max_ns\nhot = samples\n' >"$work/config"
expect 0 '' "$kontend" report -i "$canned" --config "$work/config"
# A faulty line of [columns] is a warning, as kontend writes that section by itself.
warns() {
	run "$kontend" report -i "$canned" --config "$work/config"
	[ "$rc" -eq 0 ] || complain "[columns]: exit $rc: $(cat "$work/err")"
	grep -qE -e "$1" "$work/err" || complain "[columns]: said '$(cat "$work/err")', not '$1'"
	prints '^# locks by lock'
}
for columns in 'locks = nix:no column .nix. in table .locks.; columns: ' 'locks = pid:no column .pid.' \
	'lock = max_ns:there is no table .lock.; tables: locks, '; do
	printf '[columns]\n%s\n' "${columns%%:*}" >"$work/config"
	warns "config:2: .*${columns#*:}.*; kontend ignores this line\$"
done
printf '[columns]\nlocks = max_ns\nlocks = max_ns\n' >"$work/config"
warns 'config:3: the columns of .locks. have been set'
printf '[columns]\nlocks = \nhot\nwaiters = nix\n' >"$work/config"
warns "config:2: there is nothing after '='; kontend ignores this line and 2 more of .columns.\$"
printf '[groups]\nours\n' >"$work/config"
expect 129 'config:2: this is no setting' "$kontend" report -i "$canned" --config "$work/config"
# Settings: the command line has precedence, and an error names its line.
printf '[options]\nsort = max_ns\nby = caller\nrows = 1\ncall-graph = dwarf\n' >"$work/set"
expect 0 '' "$kontend" report -i "$canned" --config "$work/set"
prints '^# locks by caller, sorted by max_ns: 1 of '
expect 0 '' "$kontend" report -i "$canned" --config "$work/set" -n 0 --sort contended
prints '^# locks by caller, sorted by contended: [0-9]+ rows'
expect 0 '' "$kontend" report -i "$canned" --config "$work/set" --view slots
printf '[options]\nsort = contended\nby = task\n[report]\nby = cpu\n' >"$work/set"
expect 0 '' "$kontend" report -i "$canned" --config "$work/set"
prints '^# locks by cpu, sorted by contended'
for setting in 'frq = 9:no setting .frq.' 'pid = 1:only for the command line' 'sort = nix:no such column' \
	'mmap = pid:--mmap .pid. is gone: give all' 'mmap = some:give contended' 'call-graph = lbx:give fp' 'theme = dark:give one of' 'by = symbol:give one of'; do
	printf '[options]\n%s\n' "${setting%%:*}" >"$work/set"
	expect 129 "set:2: .*${setting#*:}" "$kontend" diff "$canned" "$canned" --config "$work/set"
done
printf '[report]\nby = symbol\n' >"$work/set"
expect 129 'set:2: by .symbol.' "$kontend" script -i "$canned" --config "$work/set"
printf '[reprt]\nrows = 1\n' >"$work/set"
expect 129 'set:2: there is no section .reprt.' "$kontend" report -i "$canned" --config "$work/set"
mkdir -p "$work/home/kontend"
mv "$work/config" "$work/home/kontend/config"
expect 129 'home/kontend/config:2: this' env XDG_CONFIG_HOME="$work/home" "$kontend" report -i "$canned"
expect 0 '' env XDG_CONFIG_HOME="$work/home" "$kontend" report -q -i "$canned" --no-config
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 700 "$work/home"
	chmod 644 "$canned"
	expect 0 'the configuration .* is ignored: .*Permission denied' env XDG_CONFIG_HOME="$work/home" \
		setpriv --reuid=65534 --regid=65534 --clear-groups sh -c '"$0" report -i "$1" >/dev/null' "$kontend" "$canned"
fi
expect 129 'exclude each other' "$kontend" report -i "$canned" --no-config --config x

# Nothing is different, or everything is.
expect 0 '' "$kontend" diff "$canned" "$canned" --format csv
[ "$(grep -c '^same,' "$work/out")" -gt 3 ] || complain "diff: $(cat "$work/out")"
grep -qE '^(new|gone|more|less),' "$work/out" && complain "diff: differs from itself"
expect 0 '' "$kontend" diff "$canned" "$work/other.data" --by task
prints '^  gone .* mm$'
prints '^  new .* writer$'
# Two moments of one: what the reports of both parts have, and rows are locks, not names.
expect 0 '' "$kontend" diff "$canned" --compare 1s,2s,500ms --format csv --fields a_total_ns,b_total_ns
total() {
	awk -F , -v c="$1" 'NR > 1 { sum += $c } END { print sum + 0 }' "$work/out"
}
sides="$(total 1) $(total 2)"
for time in 0.5s,1s 1.5s,2s; do
	expect 0 '' "$kontend" report -i "$canned" --view locks --format csv --fields total_ns --time "$time"
	total 1
done >"$work/totals"
[ "$sides" = "$(tr '\n' ' ' <"$work/totals" | sed 's/ $//')" ] ||
	complain "--compare: $sides, not $(cat "$work/totals")"
expect 0 '' "$kontend" diff "$canned" --compare 1s,2s -j
prints '"by": "lock"'
prints '"at": "2s"'
expect 129 'wants two times' "$kontend" diff "$canned" --compare 1s
expect 129 'the beginning' "$kontend" diff "$canned" --compare 0:00,1s
expect 129 'give one FILE' "$kontend" diff "$canned" "$canned" --compare 1s,2s
expect 129 'leave out --time' "$kontend" diff "$canned" --compare 1s,2s --time 1s,2s
expect 129 'reads the recording twice' "$kontend" diff - --compare 1s,2s

expect 0 '' sh -c '"$1" diff "$2" - -j <"$3"' sh "$kontend" "$canned" "$work/other.data"
prints '"schema": "kontend.diff/1"'
expect 0 '' "$kontend" diff --filter change=gone -n 1 "$canned" "$work/other.data"
prints 'more rows'
expect 1 'Cannot open .*kontend.data' "$kontend" diff
cp "$work/other.data" kontend.data.old
cp "$canned" kontend.data
run "$kontend" diff
[ "$rc" -eq 0 ] || complain "diff: does not take kontend.data"
rm kontend.data kontend.data.old

# The message names the unreadable part; the readable part is shown.
for verb in 'report -i' 'script -i' 'export -i' "diff $canned"; do
	# shellcheck disable=SC2086 # a verb and its words
	expect 1 'Cannot open .*absent' "$kontend" $verb "$work/absent"
	# shellcheck disable=SC2086
	expect 1 '^kontend: ' "$kontend" $verb /dev/null
done
head -c 20000 "$canned" >"$work/cut.data"
run "$kontend" report -i "$work/cut.data" -o "$work/cut.out"
[ -s "$work/err" ] || complain "report: says nothing of a cut recording"
expect 1 'it ends early or is damaged' "$kontend" export -q --format ndjson -i "$work/cut.data" -o "$work/cut.out"

# A signal while a recording is read leaves nothing half-written.
interrupted() {
	"$@" &
	pid=$!
	comes test -e "$work/read" || :
	comes blocks_signals "$pid" || :
	rm -f "$work/read"
	kill -s INT "$pid"
	wait "$pid"
}
mkfifo "$work/fifo"
head -c 12000 "$work/perf.data" >"$work/part"
for verb in report script export; do
	# A writer to a FIFO waits in open() until there is a reader.
	(cat "$work/part"; : >"$work/read"; exec sleep 1000) >"$work/fifo" &
	writer=$!
	run interrupted "$kontend" $verb -i "$work/fifo" -o "$work/cwd/new"
	[ "$rc" -eq 130 ] || complain "$verb: exit $rc after SIGINT: $(cat "$work/err")"
	[ ! -s "$work/err" ] || complain "$verb: said after SIGINT: $(cat "$work/err")"
	nothing_left "$verb, interrupted"
	kill $writer 2>/dev/null || true
	wait $writer 2>/dev/null || true
done
# Options that cut a recording give the same as a file of that part alone; they come with FILE or -i.
# same_as_cut OPTIONS...
sums=lock,kind,waiting,cont_per_s,wait_ns_per_s,wait_pct,p50_ns,p99_ns,max_ns,contended,total_ns,last_ns,failed,caller
same_as_cut() {
	rm -f "$work/part.data"
	expect 0 '' "$kontend" cut -q "$canned" -o "$work/part.data" "$@"
	for view in "locks --fields $sums" tree hist; do
		# shellcheck disable=SC2086 # several words
		expect 0 '' "$kontend" report -q "$canned" "$@" --format csv --view $view
		cp "$work/out" "$work/filtered"
		# shellcheck disable=SC2086
		expect 0 '' "$kontend" report -q -i "$work/part.data" --format csv --view $view
		diff "$work/out" "$work/filtered" || complain "cut $*: another view $view"
	done
	expect 0 '' "$kontend" script -qj "$work/part.data"
	[ "$(grep -c '"event": "end"' "$work/out")" -gt 0 ] || complain "cut $*: nothing is left"
}
same_as_cut -p 5214
same_as_cut -p mm
same_as_cut -C 1
same_as_cut --lock 0xffff888012345678
same_as_cut --caller vm_mmap
same_as_cut --stack exc_page_fault
same_as_cut --min-wait 1ms
same_as_cut --min-wait 100us --lock rwsem
rm -f "$work/part.data"
# Compressed it has the same in it.
expect 0 '' "$kontend" cut -q "$canned" -o "$work/plain.data"
expect 0 '' "$kontend" cut -q --compress=19 "$canned" -o "$work/packed.data"
[ "$(stat -c %s "$work/packed.data")" -lt "$(stat -c %s "$work/plain.data")" ] ||
	complain "cut -z: $(stat -c %s "$work/packed.data") bytes, no fewer than without"
expect 0 '' "$kontend" script -q -i "$work/plain.data"
cp "$work/out" "$work/plain.out"
expect 0 '' "$kontend" script -q -i "$work/packed.data"
cmp -s "$work/plain.out" "$work/out" || complain "cut -z: other events"
expect 129 'give a number from 1 to 22' "$kontend" cut --compress=23 "$canned" -o "$work/never.data"
expect 0 'kept [0-9]+ waits, with' "$kontend" cut "$canned" -o "$work/part.data" \
	--filter 'type=mutex | comm:mm !caller~^vm_'
expect 0 '' "$kontend" report "$work/part.data" --view locks
prints '^  mutex '
if grep -q vm_mmap_pgoff "$work/out"; then
	complain "cut: events that were filtered out are there"
fi
expect 1 'Cannot make the file' "$kontend" cut "$canned" -o "$work/part.data"
# Killed at any moment, cut leaves no file or one that reads; it has no name before it is complete.
killed=0
for sandboxed in '' --no-sandbox; do
	for i in $(seq 0 39); do
		# shellcheck disable=SC2086 # a word or none
		"$kontend" cut -q --compress=22 $sandboxed "$canned" -o killed.data 2>/dev/null &
		pid=$!
		sleep "$(printf '0.%03d' $((i * 4)))"
		kill -KILL $pid 2>/dev/null || :
		wait $pid || killed=$((killed + 1))
		! mv killed.data "$work/killed.data" 2>/dev/null ||
			expect 0 '' "$kontend" report -q -i "$work/killed.data"
		nothing_left "cut, killed after $((i * 4)) ms"
	done
done
[ "$killed" -gt 0 ] || complain "cut: none was killed before it ended"
expect 129 'as in .kontend cut' "$kontend" cut "$canned"
expect 129 'say what it is of' "$kontend" cut "$canned" -o "$work/none.data" --filter mm
expect 129 'columns: ' "$kontend" cut "$canned" -o "$work/none.data" --filter nope=5
[ ! -e "$work/none.data" ] || complain "cut: wrote a file after an error"
expect 0 '' "$kontend" cut -q "$canned" -o "$work/time.data" --time 1,+500ms
expect 0 '' "$kontend" report "$work/time.data" --view locks
prints '^# measured (500|4[89][0-9])ms'

expect 0 '' "$kontend" report "$canned" -p 5214 --min-wait 1ms --lock rwsem
prints '^# only lock rwsem, pid 5214, of at least 1.00ms: [0-9.k]+ of [0-9.k]+ waits$'
expect 0 '' "$kontend" report "$canned" -j --caller vm_mmap
prints '"only": \{"filter": "caller:.*vm_mmap'
expect 0 '' "$kontend" script -q "$canned" --min-wait 1ms
if grep -q ' begin ' "$work/out"; then
	complain "script: begins of waits whose length is not known"
fi
expect 0 '' "$kontend" diff -q "$canned" "$canned" --lock mutex
prints '^# kontend diff by caller, only lock mutex$'
expect 129 'no list' "$kontend" report "$canned" -p 1,,2
expect 129 'no list' "$kontend" report "$canned" -t x
expect 129 'no CPU list' "$kontend" report "$canned" -C x
expect 129 'give a path' "$kontend" report "$canned" -G x
expect 129 'no quotes' "$kontend" report "$canned" --lock 'a"b'
finish
