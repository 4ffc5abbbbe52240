# SPDX-License-Identifier: GPL-2.0-only
# A naive pass over `perf script -F pid,tid,cpu,time,event,trace --ns` of contention events: waits
# and total time per type, nested ones counted apart. Keyed by task and lock; the first begin of a
# pair is kept (a mutex begins twice). Prints: type waits total_ns nested_waits nested_ns
function type_of(flags, mode) {
	mode = flags ~ /READ/ ? ":R" : flags ~ /WRITE/ ? ":W" : ""
	if (flags ~ /MUTEX/)
		return "mutex"
	if (flags ~ /RT/)
		return mode ? "rwlock-rt" mode : "rt-mutex"
	if (flags ~ /PERCPU/)
		return "pcpu-sem" mode
	if (flags ~ /SPIN/)
		return mode ? "rwlock" mode : "spinlock"
	return mode ? "rwsem" mode : "semaphore"
}
function ns(text, part) {
	split(text, part, /[.:]/)
	return part[1] * 1000000000 + part[2]
}
{
	for (k = 1; k <= NF; k++)
		if ($k ~ /contention_(begin|end):$/)
			break
	if (k > NF)
		next
	tid = $1
	sub(/.*\//, "", tid)
	time = ns($(k - 1))
	key = tid " " $(k + 1)
}
$k ~ /begin/ && !(key in begin) {
	begin[key] = time
	type[key] = type_of($0)
	inside[key] = depth[tid] > 0
	depth[tid]++
}
$k ~ /end/ {
	if (!(key in begin)) {
		unmatched++
		next
	}
	t = type[key]
	n[t]++
	total[t] += time - begin[key]
	if (inside[key]) {
		nested[t]++
		nested_ns[t] += time - begin[key]
	}
	depth[tid]--
	delete begin[key]
}
END {
	for (t in n)
		printf "%s %d %.0f %d %.0f\n", t, n[t], total[t], nested[t], nested_ns[t]
	left = 0
	for (key in begin)
		left++
	printf "unmatched %d 0 %d 0\n", unmatched, left
}
