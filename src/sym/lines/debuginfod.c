// SPDX-License-Identifier: GPL-2.0-only
/*
 * libdebuginfod is loaded only when it is used: it brings a dozen network libraries, which do not
 * belong into a process that measures and may be root.
 */
#include "debuginfod.h"
#include "kontend/clock.h"
#include "library.h"

#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct library {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_set_progressfn) *set_progress;
	__typeof__(debuginfod_find_debuginfo) *find;
	__typeof__(debuginfod_end) *end;
};

static time_t until; /* deadline of the only request in this process */

const char *debuginfod_missing(void)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);

	return urls && *urls ? NULL : "DEBUGINFOD_URLS is not set: --debuginfod does nothing";
}

static time_t seconds(void)
{
	return (time_t)(clock_now_ns() / 1000000000u);
}

/* Progress callback. Not 0: the library gives up and removes its unfinished file. */
static int over(debuginfod_client *client, long a, long b)
{
	(void)client;
	(void)a;
	(void)b;
	return seconds() >= until;
}

static bool load(struct library *ret)
{
	void *lib;

	return library_open(DEBUGINFOD_SONAME, &lib) &&
	       LIBRARY_FIND(lib, debuginfod_begin, &ret->begin) &&
	       LIBRARY_FIND(lib, debuginfod_set_progressfn, &ret->set_progress) &&
	       LIBRARY_FIND(lib, debuginfod_find_debuginfo, &ret->find) &&
	       LIBRARY_FIND(lib, debuginfod_end, &ret->end);
}

/* The library's descriptor may be writable: opens the cached file again by name, read-only. */
static int ask_server(const struct library *lib, debuginfod_client *c, const char *build_id)
{
	static char *path; /* the library keeps it until this process ends */

	lib->set_progress(c, over);
	int fd = lib->find(c, (const unsigned char *)build_id, 0, &path);
	int ret = fd;
	if (fd >= 0) {
		close(fd);
		ret = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
		ret = ret < 0 ? -errno : ret;
	}
	return ret;
}

int debuginfod_find(const char *build_id, unsigned most_s, char *ret_why, size_t size)
{
	struct library lib;

	until = seconds() + (time_t)most_s;
	if (!load(&lib)) {
		snprintf(ret_why, size, "debuginfod: cannot load '%s'", DEBUGINFOD_SONAME);
		return -ENOSYS;
	}
	debuginfod_client *c = lib.begin();
	int r = c ? ask_server(&lib, c, build_id) : -ENOMEM;
	if (c)
		lib.end(c);
	if (r == -ENOENT)
		snprintf(ret_why, size, "debuginfod: no such file");
	else if (r < 0)
		snprintf(ret_why, size, "debuginfod: %s",
			 seconds() >= until ? "took too long" : strerror(-r));
	return r;
}
