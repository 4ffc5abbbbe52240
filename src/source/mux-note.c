// SPDX-License-Identifier: GPL-2.0-only
/*
 * A note is a file of text: a line with the boot that it belongs to and the value before, then a
 * line a session. It takes the place of the one before by its name, so that whoever is killed while
 * writing leaves the old one whole. The lock is on the folder, which stays.
 */
#include "mux-note.h"
#include "kontend/procfs.h"
#include "kontend/sysinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME = PMUS_NAME + 32, BOOT = 64, LINE = 160 };

static const char prefix[] = "mux-interval.";

static void boot_id(const struct mux_roots *roots, char ret[BOOT])
{
	char path[512];

	snprintf(path, sizeof(path), "%s/sys/kernel/random/boot_id", roots->proc);
	if (sysinfo_read(path, ret, BOOT) <= 0)
		snprintf(ret, BOOT, "unknown");
}

/* A file that only we may open: whoever may read a folder may lock it, for as long as he likes. */
static int take_lock(struct mux_notes *s)
{
	s->lock = openat(s->dir, "mux-interval~lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			 0600);
	if (s->lock < 0)
		return -errno;
	while (flock(s->lock, LOCK_EX) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

int mux_notes_open(struct mux_notes *s, const struct mux_roots *roots, bool write)
{
	*s = (struct mux_notes){.roots = roots, .dir = -1, .lock = -1};
	if (write && mkdir(roots->notes, 0755) < 0 && errno != EEXIST)
		return -errno;
	s->dir = open(roots->notes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dir < 0)
		return -errno;
	int code = write ? take_lock(s) : 0;
	if (code < 0)
		mux_notes_close(s);
	return code;
}

void mux_notes_close(struct mux_notes *s)
{
	if (s->lock >= 0)
		close(s->lock);
	if (s->dir >= 0)
		close(s->dir);
	s->dir = s->lock = -1;
}

const char *mux_note_pmu(const char *file)
{
	size_t len = sizeof(prefix) - 1;

	return strncmp(file, prefix, len) == 0 && !strchr(file + len, '~') ? file + len : NULL;
}

/* What others could have written says nothing. */
static bool is_trusted(FILE *f)
{
	struct stat st;

	return fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static bool read_note(FILE *f, const char *boot, struct mux_note *ret)
{
	struct mux_note n = {0};
	char line[LINE], of[BOOT] = "";

	if (!is_trusted(f) || !fgets(line, sizeof(line), f) ||
	    sscanf(line, "kontend mux-interval 1 %63s %" SCNu32, of, &n.before_ms) != 2 ||
	    strcmp(of, boot) != 0 || !n.before_ms)
		return false;
	while (n.n < MUX_OWNERS && fgets(line, sizeof(line), f)) {
		struct mux_owner *o = &n.owners[n.n++];
		if (sscanf(line, "%" SCNu32 " by %d %" SCNu64, &o->ms, &o->pid, &o->start) != 3)
			return false;
	}
	*ret = n;
	return n.n > 0;
}

bool mux_note_load(const struct mux_notes *s, const char *pmu, struct mux_note *ret)
{
	char name[NAME], boot[BOOT];

	boot_id(s->roots, boot);
	snprintf(name, sizeof(name), "%s%s", prefix, pmu);
	int fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	bool ok = read_note(f, boot, ret);
	fclose(f);
	for (size_t i = 0; ok && i < ret->n; i++) {
		struct mux_owner *o = &ret->owners[i];
		struct procfs_task task = {.id = o->pid, .start = o->start};
		o->alive = procfs_alive(s->roots->proc, &task);
	}
	return ok;
}

static int write_note(FILE *f, const char *boot, const struct mux_note *n)
{
	fprintf(f, "kontend mux-interval 1 %s %" PRIu32 "\n", boot, n->before_ms);
	for (size_t i = 0; i < n->n; i++)
		fprintf(f, "%" PRIu32 " by %d %" PRIu64 "\n", n->owners[i].ms, n->owners[i].pid,
			n->owners[i].start);
	return fflush(f) == 0 ? 0 : -errno;
}

int mux_note_store(const struct mux_notes *s, const char *pmu, const struct mux_note *note)
{
	char name[NAME], fresh[NAME + 1], boot[BOOT];

	snprintf(name, sizeof(name), "%s%s", prefix, pmu);
	if (!note->n)
		return unlinkat(s->dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
	boot_id(s->roots, boot);
	snprintf(fresh, sizeof(fresh), "%s~", name);
	unlinkat(s->dir, fresh, 0);
	int fd = openat(s->dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f) {
		int code = -errno;
		if (fd >= 0)
			close(fd);
		return code;
	}
	/* Whatever the mask says: nobody else believes what others may write. */
	int code = fchmod(fd, 0644) < 0 ? -errno : write_note(f, boot, note);
	if (fclose(f) != 0 && code == 0)
		code = -errno;
	if (code == 0 && renameat(s->dir, fresh, s->dir, name) < 0)
		code = -errno;
	if (code < 0)
		unlinkat(s->dir, fresh, 0);
	return code;
}
