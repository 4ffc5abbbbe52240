/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SESSION_CODE_H
#define KONTEND_SESSION_CODE_H

#include "kontend/codesource.h"
#include "kontend/error.h"
#include "kontend/opts.h"

/* The running kernel's code, for those who annotate it or record it. */
struct run_code;

/*
 * *ret stays NULL if the options do not need it. Code that cannot be read is no failure. 0,
 * -ENOMEM.
 */
int run_code_new(struct run_code **ret, const struct opts *o, struct error *err);
struct codesource *run_code_source(struct run_code *r); /* borrowed; NULL of NULL */
/* For processes without the right to it: see its `why`. */
struct codesource *run_code_none(void);
void run_code_free(struct run_code *r);

#endif
