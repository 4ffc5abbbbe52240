/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_OVER_H
#define KONTEND_TESTS_OVER_H

#include <stdbool.h>

/*
 * For programs that work until they are not needed any more: true when standard input has ended,
 * or something has come there, or after 15 s of CPU time. Sleeps for a millisecond, so that half of
 * the time is for others.
 */
bool over_is(void);

#endif
