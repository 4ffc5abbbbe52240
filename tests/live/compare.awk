# SPDX-License-Identifier: GPL-2.0-only
# Judges sums per lock type of three observers of the same events. Input, one line each:
#
#     TYPE kontend|perf|naive WAITS TOTAL_NS [NESTED_WAITS NESTED_NS]
#
# The numbers of waits must agree within 1 %, totals within 2 %. A larger difference must have an
# explanation: nested waits, or, for waits that are as short as the work of an observer, the work of
# the other one between the two stamps (at most 20 us a wait). Explanations are printed. perf's table
# has one type for each caller; if a caller waits for locks of several types (for inlined functions
# this depends on the kernel and on perf), all its waits are in one of them. Where the naive pass
# agrees by type, it is enough that perf agrees in the sum of all types.
{
	n[$1, $2] = $3
	total[$1, $2] = $4
	types[$1] = 1
}
$2 == "naive" {
	nested[$1] = $5
	nested_ns[$1] = $6
}

function percent(a, b) {
	return b ? 100 * (a - b) / b : a ? 100 : 0
}

function within(value, limit) {
	return value >= -limit && value <= limit
}

# Of all types together.
function off_all(who, t, ours, theirs) {
	for (t in types) {
		ours += total[t, "kontend"]
		theirs += total[t, who]
	}
	return percent(ours, theirs)
}

function show(t) {
	printf "%-10s", t
	for (k = 1; k <= 3; k++)
		printf " %8d %12.0f", n[t, who[k]], total[t, who[k]]
	printf " %+8.2f%% %+8.2f%%", off_perf, off_naive
	printf "  %d waits %.0f ns\n", nested[t], nested_ns[t]
}

function explained(t, each, mean) {
	diff = total[t, "kontend"] - total[t, "perf"]
	if (diff > 0 && diff <= 0.02 * total[t, "perf"] + nested_ns[t] && within(off_naive, 2)) {
		printf "  %s: nested waits explain the difference to perf lock\n", t
		return 1
	}
	if (within(off_naive, 0.1) && within(off_all("perf"), 2)) {
		printf "  %s: perf has some of its waits in another type: in all, %.2f %% off\n", t, off_all("perf")
		return 1
	}
	if (!n[t, "perf"])
		return 0
	each = diff / n[t, "perf"]
	mean = total[t, "perf"] / n[t, "perf"]
	if (mean >= 100000 || !within(each, 20000))
		return 0
	printf "  %s: %+.0f ns a wait of %.0f ns: the work of the other observer\n", t, each, mean
	return 1
}

END {
	delete types["unmatched"]
	split("kontend perf naive", who, " ")
	printf "%-10s %8s %12s %8s %12s %8s %12s", "type", "kontend", "ns", "perf", "ns", "naive", "ns"
	printf " %9s %9s  %s\n", "/perf", "/naive", "nested"
	for (t in types) {
		off_perf = percent(total[t, "kontend"], total[t, "perf"])
		off_naive = percent(total[t, "kontend"], total[t, "naive"])
		show(t)
		# Too few to say anything: shown, not judged.
		if (n[t, "naive"] < 20 || total[t, "naive"] < 100000)
			continue
		judged++
		if (!within(percent(n[t, "kontend"], n[t, "naive"]), 1)) {
			printf "FAIL %s: the number of waits differs\n", t
			bad++
		}
		if (within(off_perf, 2) && within(off_naive, 2) || explained(t))
			continue
		printf "FAIL %s: %.2f %% off perf lock\n", t, off_perf
		bad++
	}
	if (judged < 2) {
		print "FAIL too little contention to compare"
		bad++
	}
	exit bad > 0
}
