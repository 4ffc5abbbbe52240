/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CLASSES_H
#define KONTEND_QUERY_CLASSES_H

#include "kontend/locktype.h"
#include "kontend/query.h"

/* All things of one name, or one thing. */
struct query_class {
	bool is_thing; /* else all that has the name */
	uint64_t id;   /* of its row in "locks", if it is one thing */
	const char *name;
	enum lock_type type; /* when `typed` */
	bool typed;
	uint32_t waiting;
	uint64_t n, total_ns, waited_ns, min_ns, max_ns, p99_ns;
	const struct hist *hist; /* with spec.buckets; in the query's arena */
};

struct query_classes {
	struct query_class *classes; /* by id, or by name, then type */
	size_t n;
};

/* When two groups count as the same. */
enum query_sameness {
	QUERY_SAME_NAME,  /* by a name that means the same in another recording */
	QUERY_SAME_THING, /* by what they are, in one recording: this lock, this thread */
};

/* 0 or -ENOMEM. */
int query_classes(struct query *q, const struct query_spec *s, enum query_sameness same,
		  struct query_classes *ret);
/* Order of classes. */
int query_classes_compare(const struct query_class *a, const struct query_class *b);

#endif
