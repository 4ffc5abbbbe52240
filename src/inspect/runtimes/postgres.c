// SPDX-License-Identifier: GPL-2.0-only
/*
 * PostgreSQL. A backend is a process of one thread. It sleeps on its own semaphore for each
 * lightweight lock, and in epoll_wait(2) for locks of rows and tables; so neither address nor call
 * says for which. But before it sleeps it stores a number in shared memory, as a view of the
 * server, pg_stat_activity, shows it: 8 bits of class, and 16 or more of event. Since 14 a variable
 * points to it; before, it is in the entry of the backend.
 *
 * The memory has one owner of no lightweight lock: that is in the private memory of the backend
 * which has it, where no symbol leads to.
 */
#include "internal.h"
#include "kontend/number.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MY_PROC, WAIT_INFO }; /* of the symbols */
/* In the entry of a backend of version 13, for 64 bits. */
enum { V_13 = 13, PID_13 = 52, INFO_13 = 684 };
enum { CLASS_LWLOCK = 1, CLASS_LOCK = 3, CLASS_PIN = 4, CLASS_SHIFT = 24, EVENT = 0xffffff };

/* A file in the folder of the data, in which a server runs, has the version of both. */
static uint32_t version_of(const struct runtime_process *p)
{
	char path[PATH_MAX], text[16] = "";
	uint64_t version = 0;
	const char *at = text;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%d/cwd/PG_VERSION", p->proc, p->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || read(fd, text, sizeof(text) - 1) <= 0 ||
	    number_take(&at, 1000, &version) < 0)
		version = 0;
	close(fd);
	return (uint32_t)version;
}

/* Of a version that is not known only classes have names. */
static bool open_server(const struct runtime_process *p, struct runtime *t)
{
	t->version = version_of(p);
	return true;
}

static void name_lwlock(const struct runtime *t, uint32_t event, struct runtime_lock *ret)
{
	const char *name = postgres_lwlock(t->version, event);

	if (name)
		snprintf(ret->name, sizeof(ret->name), "LWLock:%s", name);
	else
		snprintf(ret->name, sizeof(ret->name), "LWLock:%u", event);
}

static bool find_info(const struct runtime_process *p, const struct runtime *t, uint64_t *ret)
{
	uint32_t pid;

	if (t->symbols[WAIT_INFO])
		return runtime_read_u64(p, t->symbols[WAIT_INFO], ret);
	if (t->version != V_13 || !runtime_read_u64(p, t->symbols[MY_PROC], ret) ||
	    !runtime_read_u32(p, *ret + PID_13, &pid) || pid != (uint32_t)t->inner)
		return false;
	*ret += INFO_13;
	return true;
}

static bool find_wait(struct runtimes *r, const struct runtime_process *p, const struct runtime *t,
		      const struct runtime_thread *thread, struct runtime_lock *ret)
{
	uint32_t info, again;
	uint64_t where;

	(void)thread;
	if (!find_info(p, t, &where) || !runtime_read_u32(p, where, &info))
		return false;
	ret->pid = t->parent;
	ret->where = where;
	ret->at = info;
	switch (info >> CLASS_SHIFT) {
	case CLASS_LWLOCK:
		name_lwlock(t, info & EVENT, ret);
		break;
	case CLASS_LOCK:
		if (!postgres_find_lock(r, p, t, info & EVENT, ret))
			return false;
		break;
	case CLASS_PIN:
		snprintf(ret->name, sizeof(ret->name), "BufferPin");
		break;
	default:
		return false;
	}
	/* Else it may have been for another lock while that was read. */
	return runtime_read_u32(p, where, &again) && again == info;
}

/* Of lightweight locks, for which alone a backend sleeps in futex(2), and of the others. */
static bool find_number(struct runtimes *r, const struct runtime_process *p,
			const struct runtime *t, const struct runtime_thread *thread,
			struct runtime_info *ret)
{
	uint64_t where;

	(void)r;
	(void)thread;
	if (!find_info(p, t, &where))
		return false;
	*ret = (struct runtime_info){.at = where,
				     .where = where,
				     .bits = UINT32_MAX,
				     .mask = (uint64_t)0xff << CLASS_SHIFT,
				     .class = (uint64_t)CLASS_LWLOCK << CLASS_SHIFT,
				     .epoll_class = (uint64_t)CLASS_LOCK << CLASS_SHIFT};
	return true;
}

static bool name_number(struct runtimes *r, const struct runtime_process *p,
			const struct runtime *t, uint64_t number, struct runtime_lock *ret)
{
	(void)r;
	ret->pid = t->parent;
	ret->at = number;
	if (number >> CLASS_SHIFT == CLASS_LWLOCK)
		name_lwlock(t, number & EVENT, ret);
	else
		postgres_name_lock(number & EVENT, ret);
	return find_info(p, t, &ret->where);
}

const struct runtime_type runtime_postgres = {
	.program = "postgres",
	.symbols = {[MY_PROC] = "MyProc", [WAIT_INFO] = "my_wait_event_info"},
	.needed = 1,
	.open = open_server,
	.find = find_wait,
	.info = find_number,
	.by_number = name_number,
};
