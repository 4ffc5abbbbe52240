// SPDX-License-Identifier: GPL-2.0-only
/* Names of the files of a recording: all begin with the requested one. */
#include "path.h"
#include "kontend/mem.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static bool is_taken(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

char *record_path_part(const char *path)
{
	char stamp[48];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	size_t n = strftime(stamp, sizeof(stamp) - 12, ".%Y%m%d-%H%M%S", &tm);
	for (int i = 2;; i++) {
		char *name = mem_join(path, stamp);

		if (!name || !is_taken(name))
			return name;
		mem_free(name);
		snprintf(stamp + n, sizeof(stamp) - n, "-%d", i);
	}
}
