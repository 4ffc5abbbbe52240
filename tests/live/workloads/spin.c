// SPDX-License-Identifier: GPL-2.0-only
/*
 * spin: a program that spends its time in spin_inner(), called by spin_outer(), and some of it in
 * the C library, so that a profile can be checked against it. Some tenths of a second of CPU time,
 * or the given number of seconds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SWABBED = 1 << 14 };

static volatile uint64_t sum;
static char from[SWABBED], to[SWABBED];

uint64_t spin_inner(uint64_t n);
uint64_t spin_outer(uint64_t n);

__attribute__((noinline)) uint64_t spin_inner(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sum += i;
	return sum;
}

__attribute__((noinline)) uint64_t spin_outer(uint64_t n)
{
	return spin_inner(n) + 1;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0.7;
	struct timespec t;

	do {
		sum += spin_outer(100000);
		for (int i = 0; i < 16; i++)
			swab(from, to, SWABBED);
		sum += (unsigned char)to[sum % SWABBED];
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds);
	return 0;
}
