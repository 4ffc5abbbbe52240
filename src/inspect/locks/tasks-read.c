// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads a thread from /proc: whether it is blocked, in which call, and with which file. It may run
 * meanwhile; how often it has had a CPU shows that, and then it is read again. A thread that goes
 * on running counts by its state alone.
 */
#include "files.h"
#include "internal.h"
#include "kontend/number.h"
#include "kontend/sysinfo.h"
#include "tasks.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES = 3, SMALL = 512, STATUS = 1024, STACK = 4096, CALL_ARGS = 6 };

/* task_struct.flags */
enum { IO_WORKER = 0x10, KTHREAD = 0x200000 };

static int read_file(const struct tasks_from *f, const struct tasks_one *t, const char *name,
		     char *ret, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/task/%d/%s", f->proc, t->pid, t->tid, name);
	return sysinfo_read(path, ret, size);
}

/* "38609 11370350 2": the third. */
static bool read_runs(const struct tasks_from *f, const struct tasks_one *t, uint64_t *ret)
{
	char text[SMALL];
	const char *at = text;
	uint64_t unused;

	if (read_file(f, t, "schedstat", text, sizeof(text)) <= 0)
		return false;
	for (int i = 0; i < 2; i++)
		if (number_take(&at, UINT64_MAX, &unused) < 0 || *at++ != ' ')
			return false;
	return number_take(&at, UINT64_MAX, ret) == 0;
}

/* Field @wanted of a line whose field 3 is at @at. */
static uint64_t field_of(const char *at, int wanted)
{
	uint64_t n = 0;

	for (int i = 3; at && i < wanted; i++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	return at && number_take(&at, UINT64_MAX, &n) == 0 ? n : 0;
}

static uint32_t state_of(char letter)
{
	switch (letter) {
	case 'D':
		return RAW_STATE_D;
	case 'S':
		return RAW_STATE_S;
	case 'T':
	case 't':
		return RAW_STATE_STOPPED;
	default:
		return 0;
	}
}

/* Its line of "stat". False: it is not asleep, or gone. */
static bool read_state(const struct tasks_from *f, struct tasks_one *t)
{
	enum { FLAGS_FIELD = 9, START_FIELD = 22, CPU_FIELD = 39 };
	char text[STATUS];

	if (read_file(f, t, "stat", text, sizeof(text)) <= 0)
		return false;
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	if (!name || !end || end < name || end[1] != ' ')
		return false;
	t->state = state_of(end[2]);
	if (!t->state)
		return false;
	snprintf(t->comm, sizeof(t->comm), "%.*s", (int)(end - name - 1), name + 1);
	const uint64_t flags = field_of(end + 2, FLAGS_FIELD);
	t->kthread = flags & KTHREAD;
	t->start = field_of(end + 2, START_FIELD);
	t->cpu = (int)(field_of(end + 2, CPU_FIELD) & INT_MAX);
	return t->state != RAW_STATE_S || !(flags & (KTHREAD | IO_WORKER));
}

/* The file system of a descriptor, by its mount. Nothing asks the file, whose server may hang. */
static void find_file(const struct tasks_from *f, const struct tasks_one *t, uint64_t fd,
		      struct raw_call_file *ret)
{
	static const char word[] = "\nmnt_id:\t";
	char name[SMALL], text[STATUS];
	uint64_t id;

	*ret = (struct raw_call_file){.known = 1, .fd = (unsigned int)fd};
	snprintf(name, sizeof(name), "fdinfo/%u", ret->fd);
	if (read_file(f, t, name, text, sizeof(text)) <= 0) {
		ret->known = 0;
		return;
	}
	const char *at = strstr(text, word);
	const struct mount_point *m = NULL;
	if (at) {
		at += sizeof(word) - 1;
		if (f->mounts && number_take(&at, UINT_MAX, &id) == 0)
			m = mounts_by_id(f->mounts, (unsigned int)id);
	}
	if (!m)
		return;
	ret->dev = m->dev;
	snprintf(ret->fs, sizeof(ret->fs), "%s", m->type);
}

/*
 * "0 0x3 0x7f00 0x100 0x0 0x0 0x0 0x7ffe 0x7f01": the number, arguments, stack pointer and address;
 * -1 without arguments. False: it runs, it is a program of 32 bits, or that is not known.
 */
static bool read_call(const struct tasks_from *f, const struct tasks_one *t, long long *ret_number,
		      uint64_t *ret_args)
{
	char text[SMALL];
	const char *at = text;
	uint64_t number, sp;

	if (read_file(f, t, "syscall", text, sizeof(text)) <= 0)
		return false;
	*ret_number = -1;
	if (!strncmp(text, "-1 ", 3))
		return true;
	if (number_take(&at, INT_MAX, &number) < 0 || *at != ' ')
		return false;
	for (int i = 0; i < CALL_ARGS; i++)
		if (*at++ != ' ' || number_take_hex(&at, &ret_args[i]) < 0)
			return false;
	if (*at++ != ' ' || number_take_hex(&at, &sp) < 0 || sp <= UINT32_MAX)
		return false;
	*ret_number = (long long)number;
	return true;
}

/* In state S: is it in a call for something else than to wait for work? */
static bool is_watched(const struct tasks_from *f, struct tasks_one *t, uint64_t *args)
{
	return !f->is_bare && read_call(f, t, &t->call.number, args) &&
	       (t->call.number < 0 || !calls_is_idle((long)t->call.number));
}

static void read_rest(const struct tasks_from *f, struct tasks_one *t, const uint64_t *args)
{
	char path[PATH_MAX];
	unsigned arg = 0;

	snprintf(path, sizeof(path), "%s/%d/comm", f->proc, t->pid);
	snprintf(t->process, sizeof(t->process), "%s", t->comm);
	if (t->tid != t->pid && sysinfo_read(path, t->process, sizeof(t->process)) < 0)
		*t->process = '\0';
	if (t->call.number >= 0 && calls_doing(t->call.number, &arg) != LOCKSNAP_NO_FILE &&
	    arg < RAW_CALL_FILES && args[arg] <= INT_MAX)
		find_file(f, t, args[arg], &t->call.files[arg]);
	t->ran_ns = files_ran_ns(f->proc, t->pid, t->tid);
}

static bool is_same_sleep(const struct tasks_one *a, const struct tasks_one *b)
{
	return a && a->runs_known && b->runs_known && !a->is_bare && a->tid == b->tid &&
	       a->start == b->start && a->runs == b->runs && a->state == b->state;
}

/* Has it not run since it was read? */
static bool is_unchanged(const struct tasks_from *f, const struct tasks_one *t)
{
	struct tasks_one again = {.pid = t->pid, .tid = t->tid};

	if (t->runs_known)
		return read_runs(f, t, &again.runs) && again.runs == t->runs;
	return read_state(f, &again) && again.state == t->state && again.start == t->start;
}

bool tasks_read(const struct tasks_from *f, int32_t pid, int32_t tid,
		const struct tasks_one *before, struct tasks_one *ret, bool *ret_same)
{
	uint64_t args[CALL_ARGS] = {0};

	*ret_same = false;
	for (int i = 0; i < TRIES; i++) {
		*ret = (struct tasks_one){.pid = pid, .tid = tid, .call.number = -1};
		ret->is_bare = f->is_bare;
		if (!read_state(f, ret))
			return false;
		if (ret->state == RAW_STATE_S && !is_watched(f, ret, args))
			return false;
		if (f->is_bare)
			break;
		ret->runs_known = read_runs(f, ret, &ret->runs);
		if (is_same_sleep(before, ret)) {
			*ret = *before;
			*ret_same = true;
			return true;
		}
		if (ret->state != RAW_STATE_S && !ret->kthread &&
		    !read_call(f, ret, &ret->call.number, args))
			ret->call.number = -1;
		read_rest(f, ret, args);
		if (is_unchanged(f, ret))
			return true;
	}
	/* It runs again and again, so nothing but its state is known. */
	ret->is_bare = true;
	ret->call = (struct raw_call){.number = -1};
	return ret->state != RAW_STATE_S;
}

uint32_t tasks_read_stack(const struct tasks_from *f, const struct tasks_one *t,
			  struct locksnap *texts)
{
	char text[STACK];

	if (t->is_bare)
		return 0;
	int n = read_file(f, t, "stack", text, sizeof(text));
	/* Without the right to read it, or where the kernel has none, the innermost function. */
	if (n <= 0)
		n = read_file(f, t, "wchan", text, sizeof(text));
	if (n <= 0 || !strcmp(text, "0") || !is_unchanged(f, t))
		return 0;
	return locksnap_add_text(texts, text);
}

int32_t tasks_read_child(const struct tasks_from *f, const struct tasks_one *t, const char *stack)
{
	const char *end = strchr(stack, '\n'), *at = strstr(stack, "kernel_clone");
	char text[STACK];
	uint64_t pid = 0;

	if (t->state != RAW_STATE_D || !at || (end && at > end) ||
	    read_file(f, t, "children", text, sizeof(text)) <= 0)
		return 0;
	for (at = text; number_take(&at, INT_MAX, &pid) == 0;)
		at += *at == ' ';
	return is_unchanged(f, t) ? (int32_t)pid : 0;
}
