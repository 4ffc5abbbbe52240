// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of files that tasks wait for, from /proc/locks: also waits that began before kontend did.
 * While the kernel writes that file no task of the system locks or unlocks another one, after a
 * grace period of RCU in which that is slower, 10 to 20 ms: so it is read only where there may be
 * waits, and for a tenth of the time. In between the processes of the last reading are looked at:
 * whether they wait still, and have the lock still. If none of them has run since, all is as it was
 * at that moment, so a circle of them is one still.
 *
 * The kernel says which process took a lock. Its children have the file, too, and may be all that
 * is left of it; so the process is searched among all if its own descriptors do not have the lock:
 * one that waits for a file itself first, as that may be a circle. That is expensive, so the result
 * is kept as long as it is true, and the search is done for a hundredth of the time, too.
 */
#include "files.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/snapshot-files.h"
#include "kontend/sysinfo.h"
#include "kontend/target.h"
#include "kontend/text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	LINES_MOST = 1 << 16,
	KEPT_MOST = 256,
	PATH_TEXT = 512,
	/* The share of time is one in so many: */
	REST = 10,
	REST_SEARCH = 100,
	CLOCKS_NS = 1000000, /* how well the scheduler's clock and ours are compared */
	NS_PER_S = 1000000000,
};

struct held_line {
	struct files_line line;
	uint64_t file, addr; /* of the whole file, of the part that it waits for */
	uint32_t top;	     /* the line of the lock that it waits for, or itself */
};

/* The process that was found to have a lock. */
struct kept {
	uint64_t addr;
	int32_t took, pid; /* by the kernel, and found */
};

struct snapshot_files {
	const char *proc;
	const struct target *target;
	struct held_line *lines;
	size_t n, cap;
	struct kept kept[KEPT_MOST];
	size_t n_kept;
	bool found;	 /* waits, the last time */
	bool was_wanted; /* then: one may have begun since */
	bool taken;
	bool moved;	  /* one of them may have run since the lines were read */
	uint64_t read_ns; /* when that was done */
	uint64_t next_ns, next_search_ns;
	struct files_clocks clocks;
};

struct snapshot_files *snapshot_files_new(const char *proc)
{
	struct snapshot_files *f = mem_calloc(1, sizeof(*f));

	if (f)
		f->proc = proc;
	return f;
}

void snapshot_files_free(struct snapshot_files *f)
{
	if (!f)
		return;
	files_clocks_deinit(&f->clocks);
	mem_free(f->lines);
	mem_free(f);
}

static int add_line(struct snapshot_files *f, const struct files_line *l, uint32_t top)
{
	if (mem_grow(&f->lines, &f->cap, f->n, sizeof(*f->lines)))
		return -ENOMEM;
	struct held_line *h = &f->lines[f->n];
	*h = (struct held_line){.line = *l, .top = top};
	if (l->waits && !l->has_ino) {
		h->line.dev = f->lines[top].line.dev;
		h->line.ino = f->lines[top].line.ino;
	}
	h->file = filelock_addr(h->line.kind, h->line.dev, h->line.ino);
	h->addr = filelock_part(h->file, h->line.start, h->line.past);
	f->n++;
	return 0;
}

/* A lock comes before those who wait for it. False in *@ret_whole: there are more lines. */
static int read_lines(struct snapshot_files *f, char *text, bool *ret_whole)
{
	bool is_known = false; /* the lock that these wait for */
	uint32_t top = 0;
	int code = 0;
	char *next;

	f->n = 0;
	*ret_whole = true;
	for (char *at = text; code == 0 && *at; at = next) {
		struct files_line l;
		char *end = strchr(at, '\n');
		next = end ? end + 1 : at + strlen(at);
		if (end)
			*end = 0;
		if (f->n == LINES_MOST) {
			*ret_whole = false;
			break;
		}
		bool good = files_line_parse(at, &l);
		if (!good || !l.waits)
			is_known = good && l.has_ino;
		if (!good || !is_known)
			continue;
		top = l.waits ? top : (uint32_t)f->n;
		code = add_line(f, &l, top);
	}
	return code;
}

/*
 * How many waiters of this process and lock come before line @at. False: others of the process
 * wait for other parts of the file, so which thread waits for which part is not known.
 */
static bool waiters_before(const struct snapshot_files *f, size_t at, unsigned *ret)
{
	const struct held_line *h = &f->lines[at];
	bool has_parts = h->line.kind == FILELOCK_POSIX;

	*ret = 0;
	for (size_t i = has_parts ? 0 : h->top; i < (has_parts ? f->n : at); i++) {
		const struct held_line *o = &f->lines[i];
		if (!o->line.waits || o->file != h->file || o->line.pid != h->line.pid)
			continue;
		if (o->addr != h->addr)
			return false;
		*ret += i < at;
	}
	return true;
}

static int add_waiter(struct snapshot_files *f, size_t at, struct locksnap_queue *q,
		      struct locksnap *s, char path[PATH_TEXT])
{
	const struct held_line *h = &f->lines[at];
	int32_t pid = h->line.pid, tid = 0;
	unsigned before;
	int fd;

	if (pid <= 0)
		return 0;
	if (waiters_before(f, at, &before))
		tid = files_waiting(f->proc, pid, &h->line, before, &fd);
	/* It has got the lock, or ended, since. */
	f->moved |= !tid;
	if (!tid)
		return 0;
	if (!*path)
		files_path(f->proc, pid, fd, path, PATH_TEXT);
	*(h->line.reads ? &q->readers_waiting : &q->writers_waiting) += 1;
	struct locksnap_waiter w = {
		.queue = (uint32_t)s->n_queues,
		.position = q->readers_waiting + q->writers_waiting,
		.pid = pid,
		.tid = tid,
		.comm = files_comm(f->proc, pid, tid, s),
		.reader = h->line.reads,
		.cpu = (uint32_t)(files_process(f->proc, tid).cpu + 1),
		.measured = !f->target || target_has(f->target, pid, tid, false, -1),
	};
	w.ran_ns = files_clock_ran(&f->clocks, f->proc, (int)w.cpu - 1,
				   files_ran_ns(f->proc, pid, tid));
	f->moved |= !w.ran_ns || w.ran_ns + CLOCKS_NS > f->read_ns;
	return locksnap_add_waiter(s, &w);
}

static bool waits_itself(const struct snapshot_files *f, int32_t pid)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->lines[i].line.waits && f->lines[i].line.pid == pid)
			return true;
	return false;
}

/* Among all processes; 0: none has it. */
static int32_t search_holder(const struct snapshot_files *f, const struct held_line *h, int *ret_fd)
{
	DIR *d = opendir(f->proc);
	int32_t found = 0;
	struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		uint64_t pid;
		if (number_parse(e->d_name, 1, INT_MAX, &pid) < 0)
			continue;
		bool better = !found || waits_itself(f, (int32_t)pid);
		int fd = better ? files_holding(f->proc, (int32_t)pid, &h->line) : -1;
		if (fd < 0)
			continue;
		found = (int32_t)pid;
		*ret_fd = fd;
		if (waits_itself(f, found))
			break;
	}
	if (d)
		closedir(d);
	return found;
}

static void keep(struct snapshot_files *f, const struct held_line *h, int32_t pid)
{
	size_t i = 0;

	while (i < f->n_kept && (f->kept[i].addr != h->addr || f->kept[i].took != h->line.pid))
		i++;
	if (i == KEPT_MOST)
		i = (size_t)(h->addr % KEPT_MOST);
	f->kept[i] = (struct kept){h->addr, h->line.pid, pid};
	f->n_kept += i == f->n_kept;
}

static int32_t kept_holder(const struct snapshot_files *f, const struct held_line *h, int *ret_fd)
{
	for (size_t i = 0; i < f->n_kept; i++) {
		const struct kept *k = &f->kept[i];
		if (k->addr != h->addr || k->took != h->line.pid)
			continue;
		*ret_fd = files_holding(f->proc, k->pid, &h->line);
		return *ret_fd < 0 ? 0 : k->pid;
	}
	return 0;
}

/* The process that has the lock now, and its descriptor; 0: not known. */
static int32_t find_holder(struct snapshot_files *f, const struct held_line *h, int *ret_fd)
{
	int32_t pid = kept_holder(f, h, ret_fd);

	if (pid)
		return pid;
	*ret_fd = h->line.pid > 0 ? files_holding(f->proc, h->line.pid, &h->line) : -1;
	if (*ret_fd >= 0)
		return h->line.pid;
	uint64_t from = clock_now_ns();
	if (from < f->next_search_ns)
		return 0;
	pid = search_holder(f, h, ret_fd);
	if (pid)
		keep(f, h, pid);
	uint64_t now = clock_now_ns();
	f->next_search_ns = now + REST_SEARCH * (now - from);
	return pid;
}

/* Do all wait for a lock that the same process took? A part may have several holders. */
static bool wait_for_one(const struct snapshot_files *f, uint64_t addr, const struct held_line *h)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->lines[i].line.waits && f->lines[i].addr == addr &&
		    f->lines[f->lines[i].top].line.pid != h->line.pid)
			return false;
	return true;
}

/* The kernel counts from its start on, with the time in which it was suspended. */
static uint64_t began_ns(uint64_t ticks)
{
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK), up = clock_ns(CLOCK_BOOTTIME);
	uint64_t ns = ticks / hz * NS_PER_S + ticks % hz * (NS_PER_S / hz);
	uint64_t age = up > ns ? up - ns : 0, now = clock_now_ns();

	return now > age ? now - age : 1;
}

static void fill_holder(struct snapshot_files *f, const struct held_line *h,
			struct locksnap_queue *q, struct locksnap *s, char path[PATH_TEXT])
{
	int fd = -1;
	int32_t pid = find_holder(f, h, &fd);

	q->holder_cpu = -1;
	if (!pid)
		return;
	if (!*path)
		files_path(f->proc, pid, fd, path, PATH_TEXT);
	q->certainty = h->line.kind != FILELOCK_POSIX || wait_for_one(f, q->addr, h)
			       ? LOCKSNAP_SURE
			       : LOCKSNAP_HINT;
	q->holder_pid = q->holder_tid = pid;
	q->holder_comm = files_comm(f->proc, pid, pid, s);
	q->holder_fd = fd < 0 ? 0 : (uint32_t)fd + 1;
	const struct files_process p = files_process(f->proc, pid);
	if (p.state == 'S' || p.state == 'D') {
		q->holder_state = LOCKSNAP_ASLEEP;
	} else if (p.state == 'R') {
		q->holder_state = LOCKSNAP_RUNNING;
		q->holder_cpu = p.cpu;
	}
	q->taker_ns = pid == h->line.pid && p.ticks ? began_ns(p.ticks) : 0;
}

static int add_name(const struct held_line *h, const char *path, struct locksnap *s)
{
	struct locksnap_name n = {.addr = h->addr,
				  .kind = LOCKSNAP_FILE,
				  .cpu = -1,
				  .start = h->line.start,
				  .past = h->line.past};

	if (!*path)
		return 0;
	n.text = locksnap_add_text(s, path);
	return locksnap_add_name(s, &n);
}

/* The lock that line @first waits for: all that do, as it is the first of these. */
static int add_queue(struct snapshot_files *f, size_t first, struct locksnap *s)
{
	static const uint32_t types[FILELOCK_KINDS] = {LOCKSNAP_FLOCK, LOCKSNAP_POSIX,
						       LOCKSNAP_LEASE};
	const struct held_line *h = &f->lines[first];
	struct locksnap_queue q = {.addr = h->addr, .type = types[h->line.kind]};
	char path[PATH_TEXT] = "";
	int code = 0;

	for (size_t i = first; code == 0 && i < f->n; i++)
		if (f->lines[i].line.waits && f->lines[i].addr == h->addr)
			code = add_waiter(f, i, &q, s, path);
	if (code < 0 || !(q.readers_waiting + q.writers_waiting))
		return code;
	fill_holder(f, &f->lines[h->top], &q, s, path);
	code = add_name(h, path, s);
	return code < 0 ? code : locksnap_add_queue(s, &q);
}

static int add_queues(struct snapshot_files *f, struct locksnap *s)
{
	struct map64 done = {0};
	int code = 0;

	f->found = false;
	for (size_t i = 0; code == 0 && i < f->n; i++) {
		if (!f->lines[i].line.waits || map64_get(&done, f->lines[i].addr))
			continue;
		f->found = true;
		code = map64_put(&done, f->lines[i].addr, 1);
		code = code < 0 ? code : add_queue(f, i, s);
	}
	map64_deinit(&done);
	return code;
}

/* 0, -ENOMEM, or -EAGAIN: it was not read, and the lines are those of before. */
static int read_locks(struct snapshot_files *f, bool *ret_whole)
{
	uint64_t from = clock_now_ns(), now;
	char path[PATH_MAX], *text;
	size_t len;

	if (from < f->next_ns)
		return -EAGAIN;
	snprintf(path, sizeof(path), "%s/locks", f->proc);
	int code = fdio_read_file(path, &text, &len);
	now = clock_now_ns();
	f->next_ns = now + REST * (now - from);
	if (code < 0)
		return code == -ENOMEM ? code : -EAGAIN;
	f->read_ns = from;
	code = read_lines(f, text, ret_whole);
	mem_free(text);
	return code;
}

int snapshot_files_add(struct snapshot_files *f, bool wanted, const struct target *target,
		       struct locksnap *ret)
{
	bool is_whole = false;

	bool may_be = !f->taken || f->found || f->was_wanted || wanted;

	f->was_wanted = wanted;
	if (!may_be)
		return 0;
	f->target = target;
	f->taken = true;
	int code = read_locks(f, &is_whole);
	if (code < 0 && code != -EAGAIN)
		return code;
	ret->head.files = code == 0 && is_whole ? LOCKSNAP_FILES_ALL : LOCKSNAP_FILES_UNKNOWN;
	f->moved = false;
	code = add_queues(f, ret);
	if (ret->head.files == LOCKSNAP_FILES_UNKNOWN && !f->moved)
		ret->head.files = LOCKSNAP_FILES_SAME;
	return code;
}
