/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_STREAMS_H
#define KONTEND_TESTS_STREAMS_H

#include "synth.h"

/*
 * The canned streams that screen tests look at, by name; the same bytes on every machine. NULL when
 * there is no such stream. The caller frees it with synth_free().
 */
struct synth *stream_make(const char *name);

#endif
