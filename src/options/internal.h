/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_OPTIONS_INTERNAL_H
#define KONTEND_OPTIONS_INTERNAL_H

#include "kontend/opts.h"

/* Index of @i in the table. */
static inline size_t opts_row(const struct opts_info *i)
{
	return (size_t)(i - opts_table);
}

/*
 * Sets the field of @i in @o to @value; NULL: an option without argument. -EINVAL with @err for an
 * invalid value; then @o is unchanged. @value is borrowed.
 */
int opts_set(struct opts *o, const struct opts_info *i, const char *value, struct error *err);

/* Has it been set, even to its default? And does it have an effect? */
bool opts_is_said(const struct opts *o, const struct opts_info *i);
bool opts_is_given(const struct opts *o, const struct opts_info *i);

/* True if samples are taken, by --freq or its default. */
bool opts_samples(const struct opts *o);

#endif
