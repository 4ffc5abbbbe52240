// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sets the intervals of PMUs for a session and restores them. The note on a PMU, a file of one
 * line, has the value from before the first session. A session holds a shared lock on the note,
 * which the kernel drops when the process ends, in any way. A process that gets the exclusive lock
 * knows that no session is left: it restores the value and removes the note. sysfs checks rights
 * when its files are opened, so the session can restore the value through the descriptor from its
 * start.
 */
#include "kontend/mux.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 512, NUMBER = 16, NAME = PMUS_NAME + 32, LINE = 96 };

const struct mux_roots mux_system = {.devices = "/sys/bus/event_source/devices",
				     .notes = "/run/kontend"};

static const char prefix[] = "mux-interval.";

/* The folder of notes. One process at a time holds its lock, and reads and writes notes. */
struct folder {
	int dir, lock;
};

struct note {
	uint32_t before_ms; /* is restored */
	/*
	 * The last value that a session has set, and the one that it found: a session that was
	 * killed between writing the note and setting the value leaves the latter. Any other value
	 * comes from another program.
	 */
	uint32_t set_ms, found_ms;
	int32_t pid; /* of the session that set last */
};

static int path_of(const struct mux_roots *roots, const char *pmu, char path[PATH])
{
	return snprintf(path, PATH, "%s/%s/perf_event_mux_interval_ms", roots->devices, pmu);
}

/* 0: there is none. */
static uint32_t read_ms(int fd)
{
	char text[NUMBER] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	unsigned long ms = n > 0 ? strtoul(text, NULL, 10) : 0;

	return ms <= INT32_MAX ? (uint32_t)ms : 0;
}

/* Writes it in one call, so that a note is never written in part. */
static int write_text(int fd, const char *text, int len)
{
	ssize_t n = pwrite(fd, text, (size_t)len, 0);

	return n == len ? 0 : n < 0 ? -errno : -EIO;
}

static int write_ms(int fd, uint32_t ms)
{
	char text[NUMBER];

	return write_text(fd, text, snprintf(text, sizeof(text), "%" PRIu32 "\n", ms));
}

static void leave(struct folder *f)
{
	if (f->lock >= 0)
		close(f->lock);
	if (f->dir >= 0)
		close(f->dir);
	*f = (struct folder){-1, -1};
}

/*
 * The lock is a file that only its owner may open: a user who may open it could hold it for ever.
 */
static int enter(struct folder *f, const struct mux_roots *roots, bool make)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0);

	*f = (struct folder){-1, -1};
	if (make && mkdir(roots->notes, 0755) < 0 && errno != EEXIST)
		return -errno;
	f->dir = open(roots->notes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir >= 0)
		f->lock = openat(f->dir, "mux-interval~lock", flags, 0600);
	int code = f->lock < 0 ? -errno : 0;
	while (code == 0 && flock(f->lock, LOCK_EX) < 0)
		code = errno == EINTR ? 0 : -errno;
	if (code < 0)
		leave(f);
	return code;
}

/* A file that other users could have written is not trusted. */
static bool is_trusted(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* A descriptor, or a negative errno. */
static int open_note(const struct folder *f, const char *pmu, bool make)
{
	int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	char name[NAME];

	snprintf(name, sizeof(name), "%s%s", prefix, pmu);
	int fd = openat(f->dir, name, flags);
	if (fd >= 0 && is_trusted(fd))
		return fd;
	if (fd >= 0)
		close(fd);
	if (!make)
		return -ENOENT;
	unlinkat(f->dir, name, 0);
	fd = openat(f->dir, name, flags | O_CREAT | O_EXCL, 0600);
	return fd < 0 ? -errno : fd;
}

static bool load(int fd, struct note *n)
{
	char text[LINE] = "";

	*n = (struct note){0};
	return pread(fd, text, sizeof(text) - 1, 0) > 0 &&
	       sscanf(text, "kontend mux-interval 2 %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNd32,
		      &n->before_ms, &n->set_ms, &n->found_ms, &n->pid) == 4 &&
	       n->before_ms;
}

static int store(int fd, const struct note *n)
{
	char text[LINE];
	int len = snprintf(text, sizeof(text),
			   "kontend mux-interval 2 %10" PRIu32 " %10" PRIu32 " %10" PRIu32
			   " %10" PRId32 "\n",
			   n->before_ms, n->set_ms, n->found_ms, n->pid);

	return write_text(fd, text, len);
}

static bool is_ours(const struct note *n, uint32_t ms)
{
	return ms == n->set_ms || ms == n->found_ms;
}

static int set_item(const struct folder *f, const char *notes, struct mux_item *item,
		    struct error *err)
{
	uint32_t now = read_ms(item->fd);
	struct note n;

	if (!now)
		return error_set(err, -EIO, "Cannot read the interval of the PMU %s", item->pmu);
	int code = item->note = open_note(f, item->pmu, true);
	if (code >= 0 && (code = flock(item->note, LOCK_SH)) < 0)
		code = -errno;
	if (code == 0) {
		if (!load(item->note, &n) || !is_ours(&n, now))
			n.before_ms = now;
		n = (struct note){n.before_ms, item->ms, now, getpid()};
		code = store(item->note, &n);
	}
	if (code < 0)
		return error_errno(err, code,
				   "Cannot save in %s the interval of %s, which a later session "
				   "would need to restore it",
				   notes, item->pmu);
	code = write_ms(item->fd, item->ms);
	return code < 0 ? error_errno(err, code, "The kernel refuses %u ms for the PMU %s",
				      item->ms, item->pmu)
			: 0;
}

int mux_set(struct mux *m, struct error *err)
{
	struct folder f;

	if (!m->n)
		return 0;
	int code = enter(&f, m->roots, true);
	if (code < 0)
		return error_errno(err, code, "Cannot save in %s the interval of %s",
				   m->roots->notes, m->items[0].pmu);
	for (uint32_t i = 0; code == 0 && i < m->n; i++)
		code = set_item(&f, m->roots->notes, &m->items[i], err);
	leave(&f);
	return code;
}

/* False: a session still holds the note, or there is no note. */
static bool is_alone(int note)
{
	return note >= 0 && flock(note, LOCK_EX | LOCK_NB) == 0;
}

/* Of the last session: if the value is one that a session has set, the earlier one is restored. */
static int put_back(const struct folder *f, const char *pmu, int note, int setting,
		    struct error *err)
{
	uint32_t now = read_ms(setting);
	char name[NAME];
	struct note n;
	int code = 0;

	if (load(note, &n) && is_ours(&n, now) && now != n.before_ms)
		code = write_ms(setting, n.before_ms);
	if (code < 0)
		return error_errno(err, code,
				   "Cannot restore the interval of %s to %" PRIu32
				   " ms: run 'kontend doctor --repair'",
				   pmu, n.before_ms);
	snprintf(name, sizeof(name), "%s%s", prefix, pmu);
	if (unlinkat(f->dir, name, 0) < 0 && errno != ENOENT)
		return error_errno(err, -errno, "Cannot remove the saved interval of %s", pmu);
	return 0;
}

int mux_close(struct mux *m, struct error *err)
{
	struct folder f = {-1, -1};
	bool any = false;
	int code = 0;

	for (uint32_t i = 0; i < m->n; i++)
		any |= m->items[i].note >= 0;
	if (any && (code = enter(&f, m->roots, true)) < 0)
		error_errno(err, code, "Cannot open %s to restore intervals of PMUs",
			    m->roots->notes);
	for (uint32_t i = 0; i < m->n; i++) {
		struct mux_item *item = &m->items[i];
		if (f.dir >= 0 && is_alone(item->note)) {
			int r = put_back(&f, item->pmu, item->note, item->fd, err);
			code = r < 0 ? r : code;
		}
		if (item->note >= 0)
			close(item->note);
		if (item->fd >= 0)
			close(item->fd);
	}
	leave(&f);
	*m = (struct mux){0};
	return code;
}

static bool find_left(const struct folder *f, const struct mux_roots *roots, const char *pmu,
		      struct mux_left *ret)
{
	int note = open_note(f, pmu, false);
	bool alone = is_alone(note);
	char path[PATH];
	struct note n;

	path_of(roots, pmu, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t now = fd < 0 ? 0 : read_ms(fd);
	bool found = now && alone && load(note, &n) && is_ours(&n, now) && now != n.before_ms;
	if (found) {
		*ret = (struct mux_left){.now_ms = now, .before_ms = n.before_ms, .pid = n.pid};
		snprintf(ret->pmu, sizeof(ret->pmu), "%s", pmu);
	}
	if (fd >= 0)
		close(fd);
	if (note >= 0)
		close(note);
	return found;
}

size_t mux_find_left(const struct mux_roots *roots, struct mux_left *ret, size_t most)
{
	struct folder f;
	struct pmus pmus;
	size_t n = 0;

	if (enter(&f, roots, false) < 0)
		return 0;
	pmus_read(roots->devices, &pmus);
	for (uint32_t i = 0; i < pmus.n && n < most; i++)
		n += find_left(&f, roots, pmus.items[i].name, &ret[n]);
	leave(&f);
	return n;
}

int mux_repair(const struct mux_roots *roots, const struct mux_left *left, struct error *err)
{
	struct folder f;
	char path[PATH];

	path_of(roots, left->pmu, path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "Cannot open %s for writing (it needs root)", path);
	int code = enter(&f, roots, true);
	if (code < 0) {
		error_errno(err, code, "Cannot open %s to restore intervals of PMUs", roots->notes);
	} else {
		int note = open_note(&f, left->pmu, false);
		code = is_alone(note) ? put_back(&f, left->pmu, note, fd, err) : 0;
		if (note >= 0)
			close(note);
	}
	leave(&f);
	close(fd);
	return code;
}

const char *mux_left_text(const struct mux_left *left, char *buf, size_t size)
{
	snprintf(buf, size, "%s rotates every %u ms, and not %u, since kontend %d was killed",
		 left->pmu, left->now_ms, left->before_ms, (int)left->pid);
	return buf;
}
