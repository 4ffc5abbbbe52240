// SPDX-License-Identifier: GPL-2.0-only
/* In a kontend that was built without BPF. */
#include "kontend/bpf-memory.h"

uint64_t bpf_memory_loaded(void)
{
	return 0;
}

uint64_t bpf_memory_wanted(void)
{
	return 0;
}
