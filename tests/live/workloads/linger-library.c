// SPDX-License-Identifier: GPL-2.0-only
/* The library of linger. */
#include <stdint.h>

static volatile uint64_t sum;

uint64_t linger_library(uint64_t n);

__attribute__((noinline)) uint64_t linger_library(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sum += i;
	return sum;
}
