/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_ON_H
#define KONTEND_QUERY_ON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model;
struct waitrec_on;

enum { QUERY_ON_TEXT = 256 };

/*
 * The object of a system call in words: "/var/db/log", "socket:[812]", "sshd/812", "[heap]"; of a
 * file its name at @time_ns. NULL because of *ret_why.
 */
const char *query_on_text(const struct model *m, const struct waitrec_on *on, uint64_t time_ns,
			  char buf[QUERY_ON_TEXT], const char **ret_why);

#endif
