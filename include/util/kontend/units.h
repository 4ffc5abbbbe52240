/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UNITS_H
#define KONTEND_UNITS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Numbers for users: three significant digits with the unit attached, at most 6 columns ("3.21s"
 * "41.2ms" "870us" "95ns" "18.2k" "984k"); minutes and hours with the next smaller unit ("12m30s"
 * "2h05m"), as a single "m" looks like milli. All write a NUL-terminated ASCII text into @buf of
 * UNITS_BUF bytes and return @buf.
 */
enum { UNITS_BUF = 32 };

const char *units_ns(char *buf, uint64_t ns);	      /* a duration; 0 is "0ns" */
const char *units_count(char *buf, uint64_t n);	      /* 999, 18.2k, 3.40M */
const char *units_rate(char *buf, double per_s);      /* 0.5, 18.2k: no "/s" appended */
const char *units_nsrate(char *buf, double ns_per_s); /* "1.61s": time spent per second */
/* Wait time @ns_per_s as the average number of waiting tasks: "196", "1.92", "0.43", "0.002" */
const char *units_tasks(char *buf, double ns_per_s);
const char *units_pct(char *buf, double pct);	    /* "59.8", "100", "<0.1" */
const char *units_bytes(char *buf, uint64_t bytes); /* 512B 41.2K 3.40M */

/* How many percent of @all @part is; 0 if there is nothing. */
static inline double units_percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* "10ms", "2.5s", "500us", "90" (seconds), "1m24s": 0 and *ret_ns, or -EINVAL. Accepts ns us ms s m
 * h d. */
int units_parse_ns(const char *s, uint64_t *ret_ns);
/* A plain or suffixed (k M G, powers of 1000) unsigned number: 0 or -EINVAL / -ERANGE. */
int units_parse_count(const char *s, uint64_t *ret);
/* The same with powers of 1024 (k K M G T): bytes. */
int units_parse_bytes(const char *s, uint64_t *ret);

#endif
