/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_CLASSES_H
#define KONTEND_QUERY_CLASSES_H

#include "kontend/query.h"

/* What has one name. */
struct query_class {
	const char *name;
	enum lock_type type; /* when `typed` */
	bool typed;
	uint32_t waiting;
	uint64_t n, total_ns, waited_ns, min_ns, max_ns, p99_ns;
};

struct query_classes {
	struct query_class *classes; /* by name, then type */
	size_t n;
};

/* 0 or -ENOMEM. */
int query_classes(struct query *q, enum query_by by, struct query_classes *ret);
/* Order of classes. */
int query_classes_compare(const struct query_class *a, const struct query_class *b);

#endif
