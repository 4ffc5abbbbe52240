// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finds in /proc which thread waits for the lock of a file, and which descriptor has one. All of it
 * may change or vanish while it is read: then it is not known.
 */
#include "files.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/hash.h"
#include "kontend/locksnap.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/procfs.h"
#include "kontend/sysinfo.h"
#include "kontend/text.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SMALL = 512,
	ARRIVALS = 3,
	COMM_TEXT = 64,
	PROC_TEXT = 128,
	CLOCK_WAITS = 20,
	CLOCK_WAIT_NS = 20000000,
};
static const uint64_t CLOCK_LASTS_NS = 10000000000, STOLEN_LASTS_NS = 100000000;

/* Calls @line for each line of @text that begins with @word; true as soon as it returns true. */
static bool any_line(const char *text, const char *word,
		     bool (*line)(const char *rest, const void *arg), const void *arg)
{
	size_t len = strlen(word);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, word, len) && line(text + len, arg))
			return true;
		if (!*text)
			break;
	}
	return false;
}

static bool is_lock(const char *rest, const void *arg)
{
	const struct files_line *wanted = arg;
	struct files_line l;

	return files_line_parse(rest, &l) && !l.waits && l.has_ino && l.kind == wanted->kind &&
	       l.dev == wanted->dev && l.ino == wanted->ino && l.pid == wanted->pid;
}

static bool is_inode(const char *rest, const void *arg)
{
	const uint64_t *wanted = arg;
	uint64_t ino;

	while (*rest == '\t' || *rest == ' ')
		rest++;
	return number_take(&rest, UINT64_MAX, &ino) == 0 && ino == *wanted;
}

static bool info_has(const char *path, const char *word,
		     bool (*line)(const char *rest, const void *arg), const void *arg)
{
	char *text;
	size_t len;

	if (fdio_read_file(path, &text, &len) < 0)
		return false;
	bool has = any_line(text, word, line, arg);
	mem_free(text);
	return has;
}

int files_holding(const char *proc, int32_t pid, const struct files_line *l)
{
	char path[PATH_MAX];
	struct dirent *e;
	int fd = -1;

	snprintf(path, sizeof(path), "%s/%d/fdinfo", proc, pid);
	DIR *d = opendir(path);
	while (d && fd < 0 && (e = readdir(d)) != NULL) {
		uint64_t n;
		if (number_parse(e->d_name, 0, INT_MAX, &n) < 0)
			continue;
		snprintf(path, sizeof(path), "%s/%d/fdinfo/%d", proc, pid, (int)n);
		if (info_has(path, "lock:\t", is_lock, l))
			fd = (int)n;
	}
	if (d)
		closedir(d);
	return fd;
}

/* Calls that lock files, of programs of 64 bits and of 32 (flock, fcntl, fcntl64). */
static bool locks_files(uint64_t call)
{
	return call == SYS_flock || call == SYS_fcntl || call == 143 || call == 55 || call == 221;
}

enum { IN_NONE = -1, NOT_KNOWN = -2 };

/* The descriptor with which a thread is in a call to lock a file. */
static int locks_by(const char *proc, int32_t pid, int32_t tid)
{
	char path[PATH_MAX], text[SMALL];
	const char *at = text;
	uint64_t call, fd;

	snprintf(path, sizeof(path), "%s/%d/task/%d/syscall", proc, pid, tid);
	if (sysinfo_read(path, text, sizeof(text)) < 0)
		return NOT_KNOWN;
	if (number_take(&at, INT_MAX, &call) < 0 || !locks_files(call) || *at++ != ' ' ||
	    number_take_hex(&at, &fd) < 0 || fd > INT_MAX)
		return IN_NONE;
	return (int)fd;
}

int32_t files_waiting(const char *proc, int32_t pid, const struct files_line *l, unsigned nth,
		      int *ret_fd)
{
	bool may_be_first = l->kind == FILELOCK_LEASE;
	char path[PATH_MAX];
	pid_t *tids = NULL;
	size_t n = 0, cap = 0;
	int32_t found = 0;

	*ret_fd = -1;
	(void)procfs_tids(proc, pid, &tids, &n, &cap);
	for (size_t i = 0; i < n && !found; i++) {
		int fd = locks_by(proc, pid, tids[i]);
		may_be_first |= fd == NOT_KNOWN;
		snprintf(path, sizeof(path), "%s/%d/fdinfo/%d", proc, pid, fd);
		if (fd < 0 || !info_has(path, "ino:", is_inode, &l->ino) || nth--)
			continue;
		found = tids[i];
		*ret_fd = fd;
	}
	if (!found && n == 1 && may_be_first)
		found = tids[0];
	mem_free(tids);
	return found;
}

/* "se.exec_start    :    2739340.879658", in ms */
uint64_t files_ran_ns(const char *proc, int32_t pid, int32_t tid)
{
	static const char word[] = "\nse.exec_start";
	char path[PATH_MAX];
	uint64_t ms, us;
	char *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/%d/task/%d/sched", proc, pid, tid);
	if (fdio_read_file(path, &text, &len) < 0)
		return 0;
	const char *line = strstr(text, word), *at = line ? strchr(line, ':') : NULL;
	bool known = false;
	if (at) {
		for (at++; *at == ' ';)
			at++;
		known = number_take(&at, UINT64_MAX / 1000000 - 1, &ms) == 0 && *at++ == '.' &&
			number_parse_n(at, 6, 0, 999999, &us) == 0;
	}
	mem_free(text);
	return known ? ms * 1000000 + us : 0;
}

/* As it is when a thread that slept gets its CPU: the greatest of several is the most exact. */
static bool clock_ahead(const char *proc, int64_t *ret)
{
	const struct timespec moment = {.tv_nsec = 1000};
	bool is_known = false;

	for (int i = 0; i < ARRIVALS; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
		uint64_t ran = files_ran_ns(proc, getpid(), gettid()), now = clock_now_ns();
		if (!ran)
			return is_known;
		int64_t ahead = (int64_t)(ran - now);
		*ret = is_known && *ret > ahead ? *ret : ahead;
		is_known = true;
	}
	return is_known;
}

/* It belongs to its thread and to those who wait for it: a task may keep the CPU for long. */
struct clock_thread {
	_Atomic unsigned refs;
	_Atomic bool done;
	bool known;
	int64_t ahead_ns;
	int cpu;
	char proc[PROC_TEXT];
};

static void thread_unref(struct clock_thread *t)
{
	if (t && atomic_fetch_sub(&t->refs, 1) == 1)
		mem_free(t);
}

static void *read_there(void *arg)
{
	struct clock_thread *t = arg;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(t->cpu, &one);
	t->known =
		sched_setaffinity(0, sizeof(one), &one) == 0 && clock_ahead(t->proc, &t->ahead_ns);
	t->done = true;
	thread_unref(t);
	return NULL;
}

static void begin_thread(struct files_clock *of, const char *proc)
{
	struct clock_thread *t = mem_calloc(1, sizeof(*t));
	pthread_t thread;

	if (!t)
		return;
	t->cpu = of->cpu;
	snprintf(t->proc, sizeof(t->proc), "%s", proc);
	t->refs = 2;
	if (pthread_create(&thread, NULL, read_there, t) != 0) {
		mem_free(t);
		return;
	}
	pthread_detach(thread);
	of->thread = t;
}

static void end_thread(struct files_clock *of)
{
	of->known = of->thread->known;
	of->ahead_ns = of->thread->ahead_ns;
	of->read_ns = clock_now_ns();
	thread_unref(of->thread);
	of->thread = NULL;
}

static struct files_clock *clock_of(struct files_clocks *c, int cpu)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->of[i].cpu == cpu)
			return &c->of[i];
	if (c->n == FILES_CLOCKS || cpu < 0 || cpu >= CPU_SETSIZE)
		return NULL;
	c->of[c->n] = (struct files_clock){.cpu = cpu};
	return &c->of[c->n++];
}

/* Time that a hypervisor has taken from all CPUs; unchanged if it cannot be read. */
static uint64_t read_stolen(struct files_clocks *c, const char *proc)
{
	static const char first[] = "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64;
	uint64_t now = clock_now_ns(), ticks;
	char path[PROC_TEXT], text[SMALL];

	if (c->stolen_ns && now < c->stolen_ns + STOLEN_LASTS_NS)
		return c->stolen;
	snprintf(path, sizeof(path), "%s/stat", proc);
	if (sysinfo_read(path, text, sizeof(text)) > 0 && sscanf(text, first, &ticks) == 1)
		c->stolen = ticks;
	c->stolen_ns = now;
	return c->stolen;
}

/* Where it may have changed much this waits for the thread, but not for long. */
static void renew_clock(struct files_clocks *c, struct files_clock *of, const char *proc)
{
	const struct timespec moment = {.tv_nsec = CLOCK_WAIT_NS / CLOCK_WAITS};
	uint64_t stolen = read_stolen(c, proc);
	bool changed = !of->read_ns || of->stolen != stolen, begins = !of->thread;

	if (begins && (changed || clock_now_ns() - of->read_ns > CLOCK_LASTS_NS)) {
		begin_thread(of, proc);
		of->stolen = stolen;
	}
	bool awaited = begins && changed;
	for (int i = 0; of->thread && !of->thread->done && awaited && i < CLOCK_WAITS; i++)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
	if (of->thread && of->thread->done)
		end_thread(of);
	else if (!of->read_ns)
		of->read_ns = 1;
}

uint64_t files_clock_ran(struct files_clocks *c, const char *proc, int cpu, uint64_t ran_ns)
{
	struct files_ran *known =
		&c->ran[hash_slot(hash_add((uint64_t)cpu, ran_ns), FILES_RAN_BITS)];

	if (ran_ns && known->theirs == ran_ns && known->cpu == cpu)
		return known->ours;
	struct files_clock *of = ran_ns ? clock_of(c, cpu) : NULL;
	if (!of)
		return 0;
	renew_clock(c, of, proc);
	if (!of->known)
		return 0;
	const struct files_ran ran = {cpu, ran_ns, ran_ns - (uint64_t)of->ahead_ns};
	/* While its thread has not come to the CPU, the clock may be wrong. */
	if (!of->thread)
		*known = ran;
	return ran.ours;
}

void files_clocks_deinit(struct files_clocks *c)
{
	for (size_t i = 0; i < c->n; i++)
		thread_unref(c->of[i].thread);
	c->n = 0;
}

uint32_t files_comm(const char *proc, int32_t pid, int32_t tid, struct locksnap *s)
{
	char path[PATH_MAX], raw[COMM_TEXT], text[COMM_TEXT];

	snprintf(path, sizeof(path), "%s/%d/task/%d/comm", proc, pid, tid);
	if (sysinfo_read(path, raw, sizeof(raw)) < 0)
		return 0;
	return locksnap_add_text(s, text_clean(text, sizeof(text), raw));
}

const char *files_path(const char *proc, int32_t pid, int fd, char *ret, size_t size)
{
	char path[PATH_MAX], raw[PATH_MAX];
	ssize_t n;

	*ret = 0;
	snprintf(path, sizeof(path), "%s/%d/fd/%d", proc, pid, fd);
	n = fd < 0 ? -1 : readlink(path, raw, sizeof(raw) - 1);
	if (n < 0)
		return ret;
	raw[n] = 0;
	return text_clean(ret, size, raw);
}

/* The field @wanted of a line that begins with field @at; NULL: there is none. */
static const char *field_of(const char *line, int at, int wanted)
{
	for (; line && at < wanted; at++) {
		line = strchr(line, ' ');
		line += line != NULL;
	}
	return line;
}

struct files_process files_process(const char *proc, int32_t pid)
{
	enum { STATE_FIELD = 3, START_FIELD = 22, STACK_FIELD = 28, CPU_FIELD = 39 };
	struct files_process ret = {.cpu = -1};
	char path[PATH_MAX], text[2 * SMALL];
	const char *field;
	uint64_t n;

	snprintf(path, sizeof(path), "%s/%d/stat", proc, pid);
	const char *at = sysinfo_read(path, text, sizeof(text)) < 0 ? NULL : strrchr(text, ')');
	if (!at || at[1] != ' ')
		return ret;
	at += 2;
	ret.state = *at;
	field = field_of(at, STATE_FIELD, START_FIELD);
	if (field && number_take(&field, UINT64_MAX, &n) == 0)
		ret.ticks = n;
	field = field_of(at, STATE_FIELD, STACK_FIELD);
	if (field && number_take(&field, UINT64_MAX, &n) == 0)
		ret.stack = n;
	field = field_of(at, STATE_FIELD, CPU_FIELD);
	if (field && number_take(&field, INT_MAX, &n) == 0)
		ret.cpu = (int)n;
	return ret;
}
