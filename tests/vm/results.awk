# SPDX-License-Identifier: GPL-2.0-only
# Makes TAP of the output of a machine. Lines of ours begin by @@ (see checks.sh and guest/init), though
# another line may be unfinished before one. Results count when their script came to its end: if the
# machine died in one, the script is run again. `names` are the scripts that should have run. The
# output of failed cases is printed; the rest is in the log.
function result(word, text) {
	print word " " ++n " - " text
}

function tell_lines(from, to) {
	for (; from < to; from++)
		if (line[from] != "")
			print "# " line[from]
}

# The results of a script that ended.
function tell(i, from, text) {
	for (from = i = 1; i <= lines; i++) {
		text = line[i]
		if (sub(/^.*@@ok /, "", text))
			result("ok", script ": " text)
		else if (sub(/^.*@@skip /, "", text)) {
			sub(/ # /, " # SKIP ", text)
			result("ok", script ": " text)
		} else if (sub(/^.*@@not-ok /, "", text)) {
			tell_lines(from, i)
			result("not ok", script ": " text)
		} else
			continue
		from = i + 1
	}
	if (!finished) {
		tell_lines(from, lines + 1)
		result("not ok", script ": ended before it was done")
	}
	lines = 0
}

{
	gsub(/[^\t -~]/, "")
}
/@@booted / {
	print "# " substr($0, index($0, "@@booted") + 2)
	lines = 0
	next
}
/@@begin / {
	script = $2
	lines = finished = 0
	next
}
/@@finished/ {
	finished = 1
	next
}
/@@end / {
	tell()
	if ($4 != "")
		print "# " script " ended " $4 " s after the kernel began"
	ended[script] = 1
	next
}
/@@done/ {
	next
}
{
	line[++lines] = $0
}
END {
	tell_lines(1, lines + 1)
	count = split(names, name, " ")
	for (i = 1; i <= count; i++)
		if (!(name[i] in ended))
			result("not ok", name[i] ": the machine died before it was done")
	print "1.." n
}
