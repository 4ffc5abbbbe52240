/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_FUZZ_H
#define KONTEND_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * A target is one file fuzz-NAME.c with this entry, which takes any bytes. It states what must hold
 * whatever they are; that nothing is read or written out of bounds is for the sanitizers to see.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert(): it must hold in release builds too. */
#define fuzz_require(condition)                                                                    \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
