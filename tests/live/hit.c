// SPDX-License-Identifier: GPL-2.0-only
/*
 * hit: prints the position of its function in the syntax of uprobe_events, and calls it as often as
 * each line of standard input requests; answers each line.
 */
#include "selfplace.h"

#include <stdio.h>
#include <stdlib.h>

static volatile unsigned long sum;

__attribute__((noinline)) static void hit_here(unsigned long n)
{
	sum += n;
}

int main(void)
{
	char line[32], path[4096];

	printf("%s:0x%llx\n", selfplace_path(path, sizeof(path)),
	       (unsigned long long)selfplace((uintptr_t)hit_here));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (unsigned long n = strtoul(line, NULL, 10); n; n--)
			hit_here(n);
		puts("done");
		fflush(stdout);
	}
	return 0;
}
