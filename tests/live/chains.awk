# SPDX-License-Identifier: GPL-2.0-only
# Compares the call chains that kontend printed with those of "perf script --no-inline --ns": how many
# samples both have, how many user space frames perf has in them, how many of these are at the same
# position in our chains, and how many samples differ. If perf's chain is longer than the number of
# frames that we keep, the rest is not compared; where a dump of the stack ends early, our chain says
# so. Our addresses are offsets in a file, and so are those of perf 6.1. Later versions print addresses
# in the memory of the process: the difference is the same for all addresses of a file, in whole pages.
function hex(s, i, n) {
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
	return n
}
function is_same(theirs, file, ours, key, by) {
	if (substr(ours, index(ours, " ") + 1) != file)
		return 0
	by = hex(theirs) - hex(substr(ours, 1, index(ours, " ") - 1))
	key = substr(at, 1, index(at, " ")) file
	if (!(key in further))
		further[key] = by
	return by == further[key] && by % 4096 == 0
}
function begin(tid, time) {
	at = tid " " time
	depth = 0
}
FNR == NR && /^[0-9]+ [0-9.]+:$/ {
	begin($1, $2)
	ours[at] = 1
	next
}
FNR == NR && /^\[/ {
	end[at] = $0
	next
}
FNR == NR {
	frame[at, ++depth] = $1 " " $2
	count[at] = depth
	next
}
/^[^\t]/ {
	at = ""
	if ($0 !~ /cpu-clock/)
		next
	for (i = 2; i <= NF; i++)
		if ($i ~ /^[0-9]+\.[0-9]+:$/)
			begin($(i - 1) ~ /^\[/ ? $(i - 2) : $(i - 1), $i)
	both += at in ours
	next
}
# Of the kernel: the same bytes for both.
NF < 2 || !(at in ours) || $NF == "([kernel.kallsyms])" { next }
{
	depth++
	if (end[at] == "[too many frames]" && depth > count[at])
		next
	frames++
	if (is_same($1, $NF, frame[at, depth])) {
		equal++
		next
	}
	if (!(at in bad) && ++differ <= 3)
		printf "# %s frame %d: perf %s %s, kontend %s\n", at, depth, $1, $NF, frame[at, depth]
	bad[at] = 1
}
END { printf "%d samples, %d frames, %d equal, %d samples differ\n", both, frames, equal, differ }
