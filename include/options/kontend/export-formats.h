/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_FORMATS_H
#define KONTEND_EXPORT_FORMATS_H

/*
 * The formats of `kontend export`: X(NAME, text before it in a list of words, and in --help, its
 * name, a note on it in --help). The first one is the default. Choices of --format, --help and the
 * verb are made of this list.
 */
#define EXPORT_FORMATS(X)                                                                          \
	X(FOLDED, "", "", "folded", "")                                                            \
	X(FLAMEGRAPH, " ", ", ", "flamegraph", " (SVG)")                                           \
	X(HEATMAP, " ", ", ", "heatmap", " (SVG)")                                                 \
	X(PERFETTO, " ", ", ", "perfetto", "")                                                     \
	X(FIREFOX, " ", ", ", "firefox", "")                                                       \
	X(OPENMETRICS, " ", ", ", "openmetrics", "")                                               \
	X(PPROF, " ", ", ", "pprof", "")                                                           \
	X(OTLP, " ", ", ", "otlp-development", "")                                                 \
	X(NDJSON, " ", " or ", "ndjson", "")

enum export_format {
#define EXPORT_NUMBER(NAME, word, help, name, note) EXPORT_##NAME,
	EXPORT_FORMATS(EXPORT_NUMBER)
#undef EXPORT_NUMBER
};

#define EXPORT_WORD(NAME, word, help, name, note) word name
#define EXPORT_FORMAT_WORDS EXPORT_FORMATS(EXPORT_WORD) /* "folded flamegraph ..." */
#define EXPORT_HELP(NAME, word, help, name, note) help name note
#define EXPORT_FORMAT_HELP EXPORT_FORMATS(EXPORT_HELP) /* "folded, flamegraph (SVG), ..." */

struct opts;
/* The one that --format chooses, which was checked before. */
enum export_format export_format_of(const struct opts *o);

#endif
