#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# util <- source, file, decode, sym, bench <- model, engine <- query <- report, ui <- app <- main:
# a file includes headers of its own layer and of lower ones. A header has the layer of the .c of
# the same name; one without a .c has the highest layer among its own includes. Below main nothing
# in src/ includes a header of ui/.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh"

{
	c_files src ui | sed 's/^/file /'
	c_files src ui include | xargs -r grep -nE '^[ 	]*#[ 	]*include[ 	]*"kontend/' /dev/null |
		sed -E 's|^([^:]*):([0-9]+):.*"kontend/([^"]*)\.h".*|include \1 \2 \3|'
} | awk '
function base(path) {
	sub(/.*\//, "", path)
	sub(/\.[ch]$/, "", path)
	return path
}
function layer_of(path) {
	if (path ~ /^src\/(util|snap)\//) return 1
	if (path ~ /^src\/(source|file|decode|sym|bench|inspect|uprobe)\//) return 2
	if (path ~ /^src\/(model|engine)\//) return 3
	if (path ~ /^src\/query\//) return 4
	if (path ~ /^src\/report\//) return 5
	if (path ~ /^ui\/app/) return 6
	if (path ~ /^ui\//) return 5
	return 7
}
function header_layer(name, depth,    i, n, deps, highest, layer) {
	if (name in layer_by_name) return layer_by_name[name]
	highest = 1
	n = depth > 20 ? 0 : split(includes["include/kontend/" name ".h"], deps, " ")
	for (i = 1; i <= n; i++) {
		layer = header_layer(deps[i], depth + 1)
		if (layer > highest) highest = layer
	}
	return highest
}
$1 == "file" && $2 ~ /\.c$/ && layer_of($2) < 7 {
	layer_by_name[base($2)] = layer_of($2)
	if ($2 ~ /^ui\//) is_ui[base($2)] = 1
}
$1 == "include" {
	includes[$2] = includes[$2] " " $4
	place[++n_places] = $2 ":" $3
	from[n_places] = $2
	to[n_places] = $4
}
END {
	is_ui["display"] = is_ui["view"] = is_ui["command"] = is_ui["screen"] = 1
	for (i = 1; i <= n_places; i++) {
		own = from[i] ~ /^include\// ? header_layer(base(from[i]), 0) : layer_of(from[i])
		if (header_layer(to[i], 0) > own)
			print place[i] ": includes kontend/" to[i] ".h of a higher layer"
		else if (from[i] ~ /^src\// && own < 7 && to[i] in is_ui)
			print place[i] ": src/ below main includes kontend/" to[i] ".h of ui/"
	}
}' >>"$findings"
verdict
