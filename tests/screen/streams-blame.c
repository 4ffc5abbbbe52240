// SPDX-License-Identifier: GPL-2.0-only
/* Holders of locks that are followed: the story of followed.h, four times. */
#include "followed.h"
#include "streams-int.h"

#include <stdio.h>

struct synth *stream_followed(void)
{
	struct synth *s = synth_new(2);
	char symbols[8192];

	snprintf(symbols, sizeof(symbols), "%s%s", synth_kallsyms, followed_symbols);
	synth_prologue(s, symbols);
	synth_outputs(s);
	synth_round(s, START_NS);
	followed_emit(s, START_NS, 4);
	return s;
}
