// SPDX-License-Identifier: GPL-2.0-only
/*
 * The argument of --call-graph, in perf's words. Registers are all that perf takes on this
 * architecture, and not only those that unwinding needs: so its readers find what they expect.
 */
#include "kontend/callgraph.h"
#include "kontend/number.h"

#include <errno.h>
#include <string.h>

static int bad_size(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--call-graph '%s': give the bytes of a stack dump as a multiple of 8, "
			 "from 8 to %d, as in dwarf,%d",
			 text, CALLGRAPH_DUMP_MOST, CALLGRAPH_DUMP);
}

static int parse_size(const char *text, const char *size, struct callgraph *ret, struct error *err)
{
	uint64_t n;

	if (number_take_any(&size, &n) < 0 || *size || !n || n % 8 || n > CALLGRAPH_DUMP_MOST)
		return bad_size(text, err);
	*ret = (struct callgraph){CALLGRAPH_DWARF, (uint32_t)n};
	return 0;
}

int callgraph_parse(const char *text, struct callgraph *ret, struct error *err)
{
	if (!strncmp(text, "dwarf,", 6))
		return parse_size(text, text + 6, ret, err);
	if (!strcmp(text, "fp"))
		*ret = (struct callgraph){CALLGRAPH_FP, 0};
	else if (!strcmp(text, "dwarf"))
		*ret = (struct callgraph){CALLGRAPH_DWARF, CALLGRAPH_DUMP};
	else if (!strcmp(text, "lbr"))
		*ret = (struct callgraph){CALLGRAPH_LBR, 0};
	else
		return error_set(err, -EINVAL,
				 "--call-graph '%s': give fp, dwarf, dwarf,SIZE or lbr", text);
	return 0;
}

uint64_t callgraph_registers(void)
{
#if defined(__x86_64__)
	return 0xff0fff; /* without DS, ES, FS, GS, which the kernel does not give */
#elif defined(__aarch64__)
	return 0x1ffffffff;
#else
	return 0;
#endif
}
