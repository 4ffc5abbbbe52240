/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_ASKED_H
#define KONTEND_INSPECT_ASKED_H

#include "asked-shared.h"
#include "kontend/error.h"

#include <stdbool.h>
#include <stdint.h>

struct bpf_object;
struct target;

/* Gives BPF programs (read-asked.h) the tasks that are measured; `= {0}` is closed. */
struct asked {
	struct raw_asked *to;
	uint64_t *cpus;
	int ids; /* descriptor of the map */
	bool reported;
};

/* Of an object that is loaded: 0 or a negative errno. */
int asked_open(struct asked *a, struct bpf_object *o, struct error *err);
/*
 * Gives them @target (NULL: all tasks), once, as it does not change. @child: the process of a
 * measured command; 0: it does not exist yet, which is an error. 0 or a negative errno.
 */
int asked_report(struct asked *a, const struct target *t, int child, struct error *err);
void asked_close(struct asked *a);

#endif
