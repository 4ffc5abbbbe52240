// SPDX-License-Identifier: GPL-2.0-only
/*
 * libdebuginfod is loaded only when it is used: it brings a dozen network libraries, which do not
 * belong into a process that measures and may be root.
 */
#include "kontend/clock.h"
#include "kontend/library.h"
#include "optional.h"

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

static const struct library_function functions[] = {
	LIBRARY_FUNCTION(struct library, begin, debuginfod_begin),
	LIBRARY_FUNCTION(struct library, set_progress, debuginfod_set_progressfn),
	LIBRARY_FUNCTION(struct library, find, debuginfod_find_debuginfo),
	LIBRARY_FUNCTION(struct library, end, debuginfod_end),
};

static const struct library_spec library = {
	DEBUGINFOD_SONAME, functions, sizeof(functions) / sizeof(functions[0]),
	"download debug files", "the package of libdebuginfod that has this file"};

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
	struct error err = {0};

	until = seconds() + (time_t)most_s;
	if (library_load(&library, &lib, &err) < 0) {
		snprintf(ret_why, size, "debuginfod: %s", err.text);
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
