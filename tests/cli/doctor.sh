#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# `kontend doctor` as root and as an unprivileged user, as text and as JSON.
man=$(cd "$(dirname "$0")/../../man" && pwd)
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

json() {
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "kontend.doctor/1", d
for part in d["views"], d["checks"]:
    for item in part:
        assert item["status"] in ("works", "limited", "fails", "unknown", "absent"), item
        assert set(item) == {"name", "status", "help", "cause", "found", "fix"}, item
        assert item["status"] == "works" or item["found"], item
for gap in d["gaps"]:
    assert gap["state"] in ("here", "absent", "unknown") and gap["waits"] and gap["instead"] and gap["found"], gap
views = {v["name"]: v for v in d["views"]}
gaps = {g["name"]: g["state"] for g in d["gaps"]}
checks = {c["name"]: c for c in d["checks"]}
assert {"overview", "locks", "waiters", "callers"} <= set(views), views
assert checks["cache"]["status"] == "works" and checks["cache"]["found"], checks
assert checks["symbol-cache"]["status"] == "works" and checks["symbol-cache"]["found"], checks
assert d["works"] == (views["locks"]["status"] != "fails"), d
'"$1" "$work/out" || complain "the JSON of the doctor is not as promised: $(cat "$work/out")"
}

run "$kontend" doctor --json
[ "$rc" -le 1 ] || complain "doctor: exit $rc"
json "assert d['works'] == ($rc == 0), d"
# A configuration may be called anything.
echo '# nothing' >"$work/odd$(printf '\t\001')\"name"
run "$kontend" doctor --json --config "$work/odd$(printf '\t\001')\"name"
json "assert d['config'].endswith('odd\\t\\x01\"name'), d['config']"
run "$kontend" doctor -v
prints '^  locks +(works|limited|fails) '
# The real default, which depends on the number of CPUs.
"$kontend" doctor -v >"$work/said"
for view in $("$kontend" dump views | cut -f1) flame tree hist holders events xol; do
	grep -qE "^  $view +(works|limited|fails|absent) " "$work/said" || complain "doctor has no view '$view'"
done
grep -A1 '^  rings ' "$work/said" | grep -qE 'found: (512|1024|2048) KiB a CPU|why: ' ||
	complain "doctor does not say how large rings are"
grep -qE '^  rotation +(works|limited|fails|absent) .*; ' "$work/said" ||
	complain "doctor does not say what rotates: $(grep rotation "$work/said")"
for check in samples user-stacks instructions code debuginfod pmus build landlock seccomp; do
	grep -qE "^  $check +(works|limited|fails|unknown|absent)" "$work/said" ||
		complain "doctor has no check '$check'"
done
# "cpu" is the PMU of x86 machines that have one.
if [ -d /sys/bus/event_source/devices/cpu ]; then
	grep -qE '^  pmus +works' "$work/said" || complain "doctor does not see the PMU"
elif [ "$(uname -m)" = x86_64 ]; then
	grep -qE '^  rotation +absent .*no PMU' "$work/said" ||
		complain "doctor does not say that there is no PMU: $(grep -A1 rotation "$work/said")"
fi
run "$kontend" doctor -v --output "$work/file"
grep -q 'found: ' "$work/file" || complain "doctor -v does not say what it found"

# Gaps are as this kernel says by other ways, and have the names of the manual page.
run "$kontend" doctor --json
cp "$work/out" "$work/gaps.json"
json "
import re, ctypes
version = tuple(map(int, re.match(r'(\d+)\.(\d+)', d['kernel']).groups()))
assert gaps['pcpu-writers'] == ('here' if version >= (6, 9) else 'absent'), gaps
assert gaps['futexes'] == gaps['bit-spins'] == gaps['queues'] == 'here', gaps
try:
    types = open('/sys/kernel/btf/vmlinux', 'rb').read().split(b'\0')
except OSError:
    types = None
if types:
    assert (gaps['vma-locks'] == 'here') == (b'vm_refcnt' in types), gaps
    code = open('/proc/kallsyms').read()
    assert (gaps['rqspinlocks'] == 'here') == bool(re.search(' resilient_(queued|tas)_spin_lock', code)), gaps
    assert (gaps['rwsem-spins'] == 'here') == (b'optimistic_spin_queue' in types), gaps
mounts = [line.split()[2] for line in open('/proc/self/mounts')]
assert (gaps['journals'] == 'here') == bool({'ext4', 'xfs', 'btrfs'} & set(mounts)), gaps
libc = ctypes.CDLL(None, use_errno=True)
word = ctypes.c_uint32(0)
if d['machine'] == 'x86_64':
    works = libc.syscall(202, ctypes.byref(word), 6, 0, None, None, 0) == 0
    assert (gaps['pi-futexes'] == 'here') == works, gaps
for name in gaps:
    assert '.It Li %s\n' % name in open('$man/kontend-measuring.7').read(), name
"
run "$kontend" doctor -v
python3 -c 'import json, sys
text = open(sys.argv[2]).read()
for gap in json.load(open(sys.argv[1]))["gaps"]:
    head = "  %-13s %-8s %s\n" % (gap["name"], gap["state"], gap["waits"])
    assert head in text and "found: %s\n" % gap["found"] in text, head
    assert gap["state"] == "absent" or "shown: %s\n" % gap["instead"] in text, gap
' "$work/gaps.json" "$work/out" || complain "doctor -v does not say what its JSON does: $(cat "$work/out")"

[ "$(id -u)" -eq 0 ] || { echo "not root: no other user is tried"; finish; }
need_root
expect 0 '' "$kontend" doctor
prints '^kontend works here'

# Nothing was left here, or it is another test's to put back.
if "$kontend" doctor -v | grep -qE '^  intervals +works'; then
	run "$kontend" doctor --repair
	[ "$rc" -eq 0 ] || complain "doctor --repair: exit $rc"
fi
expect 129 'leave out --format' "$kontend" doctor --repair --json

run setpriv --reuid=65534 --regid=65534 --clear-groups "$kontend" doctor --json
[ "$rc" -eq 1 ] || complain "doctor as nobody: exit $rc"
json "
assert d['uid'] == 65534 and not d['works'], d
assert views['locks']['status'] == 'fails' and views['locks']['cause'] == 'events', views
fix = checks['events']['fix'] or ''
assert fix.startswith('sudo setcap cap_perfmon') and fix.endswith('$kontend'), fix
assert checks['measuring']['status'] == 'fails', checks"
run setpriv --reuid=65534 --regid=65534 --clear-groups "$kontend" doctor
prints '^kontend cannot measure here'
# The fix comes before all that was tried, and the views that fail for one reason are one line.
sed -n 2,4p "$work/out" | grep -q '^fix: sudo setcap cap_perfmon' || complain "the fix is not in the first lines: $(head -6 "$work/out")"
prints '^  overview +fails .* and [0-9]+ other views; see events'
[ "$(grep -c 'see events' "$work/out")" -le 3 ] || complain "views that fail for one reason: $(grep 'see events' "$work/out")"
run setpriv --reuid=65534 --regid=65534 --clear-groups "$kontend" doctor -v
prints '^  locks +fails '

# Breakpoints. Other programs may hold slots: the first checks do not depend on them.
run "$kontend" doctor --enospc --len 3
[ "$rc" -eq 1 ] || complain "doctor --enospc --len 3: exit $rc"
prints 'would be refused'
if [ "$(uname -m)" = x86_64 ]; then
	prints '^The kernel would say EINVAL: it watches 1, 2, 4 or 8 bytes, not 3'
fi
for option in '' --no-bpf; do
	# shellcheck disable=SC2086 # none, or one word
	run "$kontend" doctor --enospc -p $$ $option
	[ "$rc" -le 1 ] || complain "doctor --enospc -p $option: exit $rc: $(cat "$work/err")"
	prints '^A breakpoint of 1 byte \(w\) for the one thread of process '
	# shellcheck disable=SC2086
	run "$kontend" doctor --enospc --json -C 0 $option
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "kontend.enospc/1" and d["fits"] == (sys.argv[2] == "0"), d
assert [c["cpu"] for c in d["cpus"]] and d["method"] == sys.argv[3], d
assert bool(d["holders"]) == (not d["fits"] and d["method"] == "bpf"), d
' "$work/out" "$rc" "$([ -n "$option" ] && echo probe || "$kontend" doctor -v |
		awk '$1 == "bpf" { print $2 == "works" ? "bpf" : "probe" }')" ||
		complain "the JSON of doctor --enospc $option: $(cat "$work/out")"
done
expect 129 'There is no process 999999|no process' "$kontend" doctor --enospc -p 999999

# Without rights the CPUs' counts are not known, those of an own thread are.
run setpriv --reuid=65534 --regid=65534 --clear-groups "$kontend" doctor --enospc
[ "$rc" -eq 2 ] || [ "$rc" -eq 1 ] || complain "doctor --enospc as nobody: exit $rc"
prints 'CAP_BPF and CAP_PERFMON'
# shellcheck disable=SC2016 # expanded inside
run setpriv --reuid=65534 --regid=65534 --clear-groups \
	sh -c '"$1" doctor --enospc -p $$; exit $?' sh "$kontend"
[ "$rc" -le 1 ] || complain "doctor --enospc -p of its own as nobody: exit $rc: $(cat "$work/err")"

# The fix fixes it.
if command -v setcap >/dev/null; then
	if setcap cap_perfmon,cap_bpf,cap_dac_read_search,cap_syslog,cap_ipc_lock+ep "$kontend" 2>/dev/null; then
		run setpriv --reuid=65534 --regid=65534 --clear-groups "$kontend" doctor --json
		[ "$rc" -eq 0 ] || grep -q 'kernel.perf_event_paranoid=2' "$work/out" ||
			complain "doctor after its own fix: exit $rc: $(cat "$work/out")"
		setcap -r "$kontend"
	else
		echo "this file system keeps no capabilities"
	fi
else
	echo "setcap is not installed: the fix is not tried"
fi

# Without enough open files, and without the right to have more.
# shellcheck disable=SC2016 # expanded inside
run setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
	sh -c 'ulimit -n 9; exec "$@"' sh "$kontend" doctor --json
[ "$rc" -eq 1 ] || complain "doctor with 9 open files: exit $rc"
json "
assert checks['files']['status'] == 'fails' and 'ulimit' in checks['files']['fix'], checks
assert views['locks']['fix'], views"
grep -q '^kontend: cannot measure here: .*ulimit -n' "$work/err" || complain "doctor with 9 open files says: $(cat "$work/err")"
# However few there are, standard error has the reason, also where the findings go elsewhere.
for n in 4 5 6 8 10; do
	expect 1 '^kontend: cannot measure here: .*ulimit -n' setpriv --bounding-set=-sys_resource --inh-caps=-sys_resource \
		prlimit --nofile=$n:$n "$kontend" doctor -o /dev/null
done
nothing_left doctor
finish
