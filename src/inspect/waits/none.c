// SPDX-License-Identifier: GPL-2.0-only
/* Waits and owners, in a kontend that was built without BPF. */
#include "kontend/waitfeed.h"

#include <errno.h>
#include <stddef.h>

bool waitfeed_covers(const struct waitfeed_options *o)
{
	(void)o;
	return false;
}

int waitfeed_new(struct waitfeed **ret, const struct waitfeed_options *o, struct kerntypes *types,
		 struct error *err)
{
	(void)o;
	(void)types;
	(void)ret;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

size_t waitfeed_cpu_bytes(uint64_t asked, size_t n)
{
	(void)asked;
	(void)n;
	return 0;
}

struct feed *waitfeed_feed(struct waitfeed *f)
{
	(void)f;
	return NULL;
}

int waitfeed_start(struct waitfeed *f, pid_t command, struct error *err)
{
	(void)command;
	(void)f;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

int waitfeed_can_follow(const struct waitfeed *f, struct error *err)
{
	(void)f;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

int waitfeed_can_sleep(const struct waitfeed *f, struct error *err)
{
	return waitfeed_can_follow(f, err);
}

int waitfeed_follow(struct waitfeed *f, struct error *err)
{
	(void)f;
	return error_set(err, -ENOTSUP, "This kontend was built without BPF");
}

bool waitfeed_files_wait(const struct waitfeed *f)
{
	(void)f;
	return true;
}

bool waitfeed_sums_up(const struct waitfeed *f)
{
	(void)f;
	return false;
}

int waitfeed_govern(struct waitfeed *f, struct error *err)
{
	(void)f;
	(void)err;
	return 0;
}

void waitfeed_unfollow(struct waitfeed *f)
{
	(void)f;
}

void waitfeed_free(struct waitfeed *f)
{
	(void)f;
}

void waitfeed_report(struct waitfeed *f, uint64_t report_ns)
{
	(void)f;
	(void)report_ns;
}
