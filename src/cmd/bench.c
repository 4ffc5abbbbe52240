// SPDX-License-Identifier: GPL-2.0-only
/* `kontend bench`: see src/bench. */
#include "kontend/bench.h"
#include "verbs.h"

int cmd_bench(const struct opts *o)
{
	return bench_main(o, cmd_report);
}
