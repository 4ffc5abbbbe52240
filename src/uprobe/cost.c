// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calibration as a file of one line a class, "CLASS ENTRY-NS RETURN-NS", behind a line with the
 * id of the boot that it was measured in. It stands in /run/kontend where we may write there (root,
 * so that everybody has it), else in the user's cache folder. What does not look like this file is
 * no calibration: nothing is shown then.
 */
#include "kontend/uprobe-cost.h"
#include "kontend/uprobe.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 512, BOOT = 40, FOLDERS = 2 };

static const char name[] = "uprobe-cost";

static bool read_boot(char ret[BOOT])
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool ok = f && fgets(ret, BOOT, f);

	if (f)
		fclose(f);
	if (ok)
		ret[strcspn(ret, "\n")] = '\0';
	return ok;
}

/* Where it may be: KONTEND_CACHE alone, if that is set; else for all users, then for this one. */
static bool folder(int which, char *ret, size_t size)
{
	const char *own = getenv("KONTEND_CACHE"), *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (own)
		return which == 0 && *own && snprintf(ret, size, "%s", own) < (int)size;
	if (which == 0)
		return snprintf(ret, size, "/run/kontend") < (int)size;
	if (cache && *cache)
		return snprintf(ret, size, "%s/kontend", cache) < (int)size;
	return home && *home && snprintf(ret, size, "%s/.cache/kontend", home) < (int)size;
}

/* What others could have written says nothing. */
static bool is_trusted(FILE *f)
{
	struct stat st;

	return fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int read_file(FILE *f, struct uprobe_costs *ret)
{
	char boot[BOOT], line[128], want[128];
	unsigned class_;
	uint64_t entry, back;

	if (!is_trusted(f) || !read_boot(boot))
		return -ENOENT;
	snprintf(want, sizeof(want), "kontend uprobe-cost 1 %s\n", boot);
	if (!fgets(line, sizeof(line), f) || strcmp(line, want) != 0)
		return -ENOENT;
	*ret = (struct uprobe_costs){0};
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%u %" SCNu64 " %" SCNu64, &class_, &entry, &back) != 3 ||
		    class_ > UPSNAP_OUT_OF_LINE)
			return -ENOENT;
		ret->ns[class_][0] = entry;
		ret->ns[class_][1] = back;
	}
	return 0;
}

int uprobe_cost_load(struct uprobe_costs *ret)
{
	char path[PATH_SIZE], file[PATH_SIZE + 32];
	int code = -ENOENT;

	for (int i = 0; code < 0 && i < FOLDERS; i++) {
		if (!folder(i, path, sizeof(path)))
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, name);
		/* Whoever made it a link, or something to wait for, is none of ours. */
		int fd = open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
		if (!f && fd >= 0)
			close(fd);
		if (!f)
			continue;
		code = read_file(f, ret);
		fclose(f);
	}
	return code;
}

static int write_file(FILE *f, const struct uprobe_costs *c)
{
	char boot[BOOT];

	if (!read_boot(boot))
		return -errno;
	fprintf(f, "kontend uprobe-cost 1 %s\n", boot);
	for (unsigned i = UPSNAP_OPTIMIZED; i <= UPSNAP_OUT_OF_LINE; i++)
		fprintf(f, "%u %" PRIu64 " %" PRIu64 "\n", i, c->ns[i][0], c->ns[i][1]);
	return fflush(f) == 0 ? 0 : -errno;
}

/* A new file takes the place of the old one by its name. */
static int store_in(const char *path, const struct uprobe_costs *c)
{
	char file[PATH_SIZE + 32], fresh[PATH_SIZE + 48];

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		return -errno;
	snprintf(file, sizeof(file), "%s/%s", path, name);
	snprintf(fresh, sizeof(fresh), "%s.new", file);
	unlink(fresh);
	FILE *f = fopen(fresh, "wxe");
	if (!f)
		return -errno;
	int code = fchmod(fileno(f), 0644) < 0 ? -errno : write_file(f, c);
	if (fclose(f) != 0 && code == 0)
		code = -errno;
	if (code == 0 && rename(fresh, file) < 0)
		code = -errno;
	if (code < 0)
		unlink(fresh);
	return code;
}

int uprobe_cost_store(const struct uprobe_costs *c, struct error *err)
{
	char path[PATH_SIZE];
	int code = -ENOENT;

	for (int i = 0; code < 0 && i < FOLDERS; i++)
		if (folder(i, path, sizeof(path)))
			code = store_in(path, c);
	return code < 0 ? error_errno(err, code, "Cannot keep what a hit costs") : 0;
}
