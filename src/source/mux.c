// SPDX-License-Identifier: GPL-2.0-only
/*
 * Setting the intervals of PMUs for a session, and what has to become of a value afterwards. All is
 * decided by the note and by the value that is there: if that is one of ours, it becomes what the
 * last session that is still there has set, or else what was before all of us. sysfs asks for
 * permission when its files are opened, so a descriptor from the start is all that the end takes.
 */
#include "kontend/mux.h"
#include "kontend/procfs.h"
#include "mux-note.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 512, NUMBER = 16 };

const struct mux_roots mux_system = {
	.devices = "/sys/bus/event_source/devices", .notes = "/run/kontend", .proc = "/proc"};

static int path_of(const struct mux_roots *roots, const char *pmu, char path[PATH])
{
	return snprintf(path, PATH, "%s/%s/perf_event_mux_interval_ms", roots->devices, pmu);
}

/* 0 when there is none. */
static uint32_t read_ms(int fd)
{
	char text[NUMBER] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	unsigned long ms = n > 0 ? strtoul(text, NULL, 10) : 0;

	return ms <= INT32_MAX ? (uint32_t)ms : 0;
}

static int write_ms(int fd, uint32_t ms)
{
	char text[NUMBER];
	int len = snprintf(text, sizeof(text), "%u\n", ms);
	ssize_t n = pwrite(fd, text, (size_t)len, 0);

	return n == len ? 0 : n < 0 ? -errno : -EIO;
}

/* Does the value @ms come from a session that is still there, or from one that is not? */
static bool is_of(const struct mux_note *n, uint32_t ms, bool alive)
{
	for (size_t i = 0; i < n->n; i++) {
		if (n->owners[i].ms == ms && n->owners[i].alive == alive)
			return true;
	}
	return false;
}

/* What the value should be now that only the living count. */
static uint32_t wanted(const struct mux_note *n)
{
	uint32_t ms = n->before_ms;

	for (size_t i = 0; i < n->n; i++)
		ms = n->owners[i].alive ? n->owners[i].ms : ms;
	return ms;
}

/* Forgets the dead; all but those whose value is still there, if @but_ms is it. */
static void bury(struct mux_note *n, uint32_t but_ms)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->n; i++) {
		bool again = kept && n->owners[kept - 1].ms == but_ms;
		if (n->owners[i].alive || (n->owners[i].ms == but_ms && !again))
			n->owners[kept++] = n->owners[i];
	}
	n->n = kept;
}

/* What is there is set to what it should be, if it is of ours at all, and the dead are forgotten.
 */
static int settle(const struct mux_notes *s, const char *pmu, struct mux_note *n, int fd)
{
	uint32_t now = read_ms(fd), want = wanted(n);
	int code = 0;

	if (is_of(n, now, false) && now != want)
		code = write_ms(fd, want);
	if (code < 0)
		return code;
	bury(n, 0);
	return mux_note_store(s, pmu, n);
}

static int add_self(const struct mux_roots *roots, struct mux_note *n, uint32_t ms)
{
	struct procfs_task self = {0};

	if (n->n == MUX_OWNERS)
		return -EUSERS;
	if (procfs_identify(roots->proc, getpid(), &self) < 0)
		return -ESRCH;
	n->owners[n->n++] =
		(struct mux_owner){.ms = ms, .pid = self.id, .start = self.start, .alive = true};
	return 0;
}

static bool is_self(const struct mux_owner *o)
{
	return o->pid == getpid() && o->alive;
}

static int set_item(const struct mux_notes *s, struct mux_item *item, struct error *err)
{
	uint32_t now = read_ms(item->fd);
	struct mux_note n;

	if (!now)
		return error_set(err, -EIO, "Cannot read the interval of the PMU %s", item->pmu);
	if (!mux_note_load(s, item->pmu, &n))
		n = (struct mux_note){.before_ms = now};
	bury(&n, now);
	if (!is_of(&n, now, true) && !is_of(&n, now, false))
		n.before_ms = now;
	int code = add_self(s->roots, &n, item->ms);
	if (code == 0)
		code = mux_note_store(s, item->pmu, &n);
	if (code < 0)
		return error_errno(err, code,
				   "Cannot leave a note in %s on the interval of %s, without which "
				   "nobody could put it back",
				   s->roots->notes, item->pmu);
	item->set = true;
	code = write_ms(item->fd, item->ms);
	return code < 0 ? error_errno(err, code, "The kernel does not take %u ms for the PMU %s",
				      item->ms, item->pmu)
			: 0;
}

int mux_set(struct mux *m, struct error *err)
{
	struct mux_notes s;

	if (!m->n)
		return 0;
	int code = mux_notes_open(&s, m->roots, true);
	if (code < 0)
		return error_errno(err, code, "Cannot leave a note in %s on the interval of %s",
				   m->roots->notes, m->items[0].pmu);
	for (uint32_t i = 0; code == 0 && i < m->n; i++)
		code = set_item(&s, &m->items[i], err);
	mux_notes_close(&s);
	return code;
}

static int put_back(const struct mux_notes *s, struct mux_item *item, struct error *err)
{
	struct mux_note n;
	int code = 0;

	/* Without a note somebody has repaired it, as if we were gone. */
	if (mux_note_load(s, item->pmu, &n)) {
		for (size_t i = 0; i < n.n; i++)
			n.owners[i].alive = n.owners[i].alive && !is_self(&n.owners[i]);
		code = settle(s, item->pmu, &n, item->fd);
	}
	item->set = code < 0;
	return code < 0 ? error_errno(err, code,
				      "Cannot put the interval of %s back to %u ms ('kontend "
				      "doctor --repair' does)",
				      item->pmu, n.before_ms)
			: 0;
}

int mux_close(struct mux *m, struct error *err)
{
	struct mux_notes s = {.dir = -1, .lock = -1};
	bool any = false;
	int code = 0;

	for (uint32_t i = 0; i < m->n; i++)
		any |= m->items[i].set;
	if (any && (code = mux_notes_open(&s, m->roots, true)) < 0)
		error_errno(err, code, "Cannot open %s to put back intervals of PMUs",
			    m->roots->notes);
	for (uint32_t i = 0; i < m->n; i++) {
		struct mux_item *item = &m->items[i];
		int r = item->set && s.dir >= 0 ? put_back(&s, item, err) : 0;
		code = r < 0 ? r : code;
		if (item->fd >= 0)
			close(item->fd);
	}
	mux_notes_close(&s);
	*m = (struct mux){0};
	return code;
}

static bool look_at(const struct mux_notes *s, const char *pmu, struct mux_left *ret)
{
	struct mux_note n;
	char path[PATH];

	path_of(s->roots, pmu, path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint32_t now = fd < 0 ? 0 : read_ms(fd);
	if (fd >= 0)
		close(fd);
	if (!now || !mux_note_load(s, pmu, &n) || !is_of(&n, now, false) || is_of(&n, now, true) ||
	    wanted(&n) == now)
		return false;
	*ret = (struct mux_left){.now_ms = now, .before_ms = wanted(&n)};
	snprintf(ret->pmu, sizeof(ret->pmu), "%s", pmu);
	for (size_t i = 0; i < n.n; i++) {
		if (n.owners[i].ms == now)
			ret->pid = n.owners[i].pid;
	}
	return true;
}

size_t mux_find_left(const struct mux_roots *roots, struct mux_left *ret, size_t most)
{
	struct mux_notes s;
	struct dirent *e;
	struct pmus pmus;
	size_t n = 0;

	if (mux_notes_open(&s, roots, false) < 0)
		return 0;
	pmus_read(roots->devices, &pmus);
	DIR *d = opendir(roots->notes);
	while (d && n < most && (e = readdir(d))) {
		const char *pmu = mux_note_pmu(e->d_name);
		if (pmu && pmus_find(&pmus, pmu) && look_at(&s, pmu, &ret[n]))
			n++;
	}
	if (d)
		closedir(d);
	mux_notes_close(&s);
	return n;
}

int mux_repair(const struct mux_roots *roots, const struct mux_left *left, struct error *err)
{
	struct mux_notes s;
	struct mux_note n;
	char path[PATH];

	path_of(roots, left->pmu, path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "Cannot open %s for writing, which takes root",
				   path);
	int code = mux_notes_open(&s, roots, true);
	if (code == 0 && mux_note_load(&s, left->pmu, &n))
		code = settle(&s, left->pmu, &n, fd);
	mux_notes_close(&s);
	close(fd);
	return code < 0 ? error_errno(err, code, "Cannot put the interval of %s back to %u ms",
				      left->pmu, left->before_ms)
			: 0;
}

const char *mux_left_text(const struct mux_left *left, char *buf, size_t size)
{
	snprintf(buf, size, "%s rotates every %u ms, and not %u, since kontend %d was killed",
		 left->pmu, left->now_ms, left->before_ms, (int)left->pid);
	return buf;
}
