/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_SOURCE_TEST_H
#define KONTEND_TESTS_SOURCE_TEST_H

/* Shared by the tests of the live source. It includes <cmocka.h> for them. */
#include "storm.h"
#include "stream.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MS = 1000000 };

/* These fail the test with the error's text. */
struct source *open_source(const struct live_options *o, struct live_info *ret_info);
void start_source(struct source *s);
/* The storm runs to its end while the stream is read. */
void ride_out(struct storm *storm, struct stream *st, struct source *s);
/* All of the source's stream, from its start to its end, of a storm that runs meanwhile. */
void see_storm(struct source *s, struct storm *storm, struct stream *st);
/* @got within 1 % of @want, which is not 0, and at most @extra above that. */
void assert_about(uint64_t got, uint64_t want, uint64_t extra);

/* Set-up and tear-down of each test: check that no descriptor and no child remains. */
int count_before(void **state);
int count_after(void **state);

#endif
