// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of programs that threads sleep for. Each thread that sleeps in futex(2) shows its call in
 * /proc; the words in the memory of its process say whether that is a lock, and who owns it
 * (users-call.c). A lock is known by its address space, or by the file that is mapped there if
 * processes share it; an address space by the process, its start, and the place of its stack, which
 * another program does not have.
 *
 * All of this changes while it is read. A wait counts only if the thread is in the same call
 * afterwards, and an owner only if that thread exists. To read all threads of a machine is
 * expensive, so the search rests for fifty times as long as it took; meanwhile only those that
 * waited are read again.
 *
 * A thread that reads the memory of a process may have to wait for its mmap_lock, or for a page.
 * So a thread of its own does each pass (patience.h). One that is kept waiting is left alone, with
 * its process, and another pass begins without that; when the thread comes back the process is read
 * again.
 */
#include "users.h"
#include "files.h"
#include "kontend/clock.h"
#include "kontend/fdio.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/patience.h"
#include "kontend/procfs.h"
#include "kontend/snapshot-users.h"
#include "kontend/sysinfo.h"
#include "kontend/target.h"
#include "kontend/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	REST = 50,     /* the share of time is one in so many */
	LEFT_MOST = 8, /* threads that are left alone */
	SMALL = 512,
	WAITS_MOST = 1 << 16,
};

/* A process of which threads are read. */
struct process {
	const char *proc;
	int32_t pid;
	int mem; /* descriptor of its memory; -1: not opened yet, or it cannot be */
	bool tried;
	bool ns_known, other_ns; /* other_ns: its thread numbers are of another namespace */
	char *maps;		 /* its mappings, line by line; NULL: not read yet */
	size_t maps_len;
	uint64_t space; /* 0: not known yet */
	pid_t *tids;
	size_t n_tids, cap_tids;
};

struct user_wait {
	uint64_t addr;
	uint64_t ran_ns; /* scheduler's clock; 0: not known */
	struct userlock_found lock;
	int32_t pid, tid, owner_pid, owner_tid;
	/* The file or area of memory in which it is, and where; of a file its identity. */
	uint32_t in, dev; /* in: text of the pass */
	uint64_t at, ino;
	bool shared;
};

/* A thread to be read; tid 0: all of the process. */
struct wanted {
	int32_t pid, tid;
};

/* The work of one thread; it belongs to that thread and to the caller. */
struct pass {
	_Atomic unsigned refs;
	_Atomic int32_t pid; /* being read */
	const char *proc;
	struct wanted *wanted;
	size_t n_wanted;
	struct user_wait *waits;
	size_t n, cap;
	struct locksnap texts;
	int code;
};

struct snapshot_users {
	const char *proc;
	struct pass *last; /* NULL: none yet */
	struct wanted *wanted;
	size_t n_wanted, cap_wanted;
	struct pass *left[LEFT_MOST]; /* of threads that were left alone */
	size_t n_left;
	uint64_t next_ns;
};

static void pass_unref(struct pass *p)
{
	if (!p || atomic_fetch_sub(&p->refs, 1) > 1)
		return;
	mem_free(p->wanted);
	mem_free(p->waits);
	locksnap_deinit(&p->texts);
	mem_free(p);
}

static struct pass *pass_new(const struct snapshot_users *u)
{
	struct pass *p = mem_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->proc = u->proc;
	p->n_wanted = u->n_wanted;
	p->wanted = mem_dup(u->wanted, u->n_wanted, sizeof(*u->wanted));
	if (p->wanted || !u->n_wanted)
		return p;
	pass_unref(p);
	return NULL;
}

struct snapshot_users *snapshot_users_new(const char *proc)
{
	struct snapshot_users *u = mem_calloc(1, sizeof(*u));

	if (u)
		u->proc = proc;
	return u;
}

void snapshot_users_free(struct snapshot_users *u)
{
	if (!u)
		return;
	pass_unref(u->last);
	for (size_t i = 0; i < u->n_left; i++)
		pass_unref(u->left[i]);
	mem_free(u->wanted);
	mem_free(u);
}

static bool is_left(const struct snapshot_users *u, int32_t pid)
{
	for (size_t i = 0; i < u->n_left; i++)
		if (u->left[i]->pid == pid)
			return true;
	return false;
}

/* Those whose threads have come back are read again. */
static void forget_back(struct snapshot_users *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->n_left; i++) {
		if (u->left[i]->refs == 1)
			pass_unref(u->left[i]);
		else
			u->left[n++] = u->left[i];
	}
	u->n_left = n;
}

static int want(struct snapshot_users *u, int32_t pid, int32_t tid)
{
	if (is_left(u, pid))
		return 0;
	if (mem_grow(&u->wanted, &u->cap_wanted, u->n_wanted, sizeof(*u->wanted)))
		return -ENOMEM;
	u->wanted[u->n_wanted++] = (struct wanted){pid, tid};
	return 0;
}

static int list_sleepers(struct snapshot_users *u, const struct locksnap *s)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n_sleepers; i++)
		if (s->sleepers[i].kind == LOCKSNAP_FUTEX && s->sleepers[i].pid > 0)
			code = want(u, s->sleepers[i].pid, 0);
	return code;
}

static int list_all(struct snapshot_users *u)
{
	DIR *d = opendir(u->proc);
	struct dirent *e;
	uint64_t pid;
	int code = 0;

	while (d && code == 0 && (e = readdir(d)) != NULL)
		if (number_parse(e->d_name, 1, INT_MAX, &pid) == 0)
			code = want(u, (int32_t)pid, 0);
	if (d)
		closedir(d);
	return code;
}

static bool read_call(const struct process *p, int32_t tid, struct userlock_call *ret)
{
	char path[PATH_MAX], text[SMALL];

	snprintf(path, sizeof(path), "%s/%d/task/%d/syscall", p->proc, p->pid, tid);
	return sysinfo_read(path, text, sizeof(text)) > 0 && users_call_parse(text, ret);
}

static bool read_memory(void *arg, uint64_t addr, void *ret, size_t n)
{
	struct process *p = arg;
	char path[PATH_MAX];

	if (!p->tried) {
		snprintf(path, sizeof(path), "%s/%d/mem", p->proc, p->pid);
		p->mem = open(path, O_RDONLY | O_CLOEXEC);
		p->tried = true;
	}
	return p->mem >= 0 && addr <= INT64_MAX && fdio_read_at(p->mem, addr, ret, n);
}

/* The number of a thread in the innermost namespace, by its status. */
static bool has_inner_number(const struct process *p, int32_t tid, uint32_t wanted)
{
	char path[PATH_MAX], *text;
	uint64_t number = 0;
	size_t len;

	snprintf(path, sizeof(path), "%s/%d/task/%d/status", p->proc, p->pid, tid);
	if (fdio_read_file(path, &text, &len) < 0)
		return false;
	const char *at = strstr(text, "\nNSpid:");
	for (at = at ? at + 7 : NULL; at && *at == '\t';) {
		at++;
		if (number_take(&at, INT_MAX, &number) < 0)
			break;
	}
	mem_free(text);
	return number == wanted;
}

static void list_threads(struct process *p)
{
	p->n_tids = 0;
	(void)procfs_tids(p->proc, p->pid, &p->tids, &p->n_tids, &p->cap_tids);
}

/* Does it number its threads in another PID namespace? */
static bool has_other_ns(struct process *p)
{
	char path[PATH_MAX], ours[SMALL] = "", theirs[SMALL] = "";

	if (p->ns_known)
		return p->other_ns;
	snprintf(path, sizeof(path), "%s/self/ns/pid", p->proc);
	bool is_read = readlink(path, ours, sizeof(ours) - 1) > 0;
	snprintf(path, sizeof(path), "%s/%d/ns/pid", p->proc, p->pid);
	is_read = is_read && readlink(path, theirs, sizeof(theirs) - 1) > 0;
	p->other_ns = is_read && strcmp(ours, theirs) != 0;
	p->ns_known = true;
	return p->other_ns;
}

/* The thread of the process that has the number @owner there. */
static bool find_thread(struct process *p, uint32_t owner, int32_t *ret)
{
	char path[PATH_MAX];

	if (!has_other_ns(p)) {
		snprintf(path, sizeof(path), "%s/%d/task/%" PRIu32, p->proc, p->pid, owner);
		*ret = (int32_t)owner;
		return access(path, F_OK) == 0;
	}
	if (!p->n_tids)
		list_threads(p);
	for (size_t i = 0; i < p->n_tids; i++) {
		if (!has_inner_number(p, p->tids[i], owner))
			continue;
		*ret = p->tids[i];
		return true;
	}
	return false;
}

/* Of a lock that processes share the owner may be in another one. */
static bool find_owner(struct process *p, struct user_wait *w, bool is_private)
{
	struct procfs_task task;

	if (!w->lock.owner || find_thread(p, w->lock.owner, &w->owner_tid)) {
		w->owner_pid = w->lock.owner ? p->pid : 0;
		return true;
	}
	if (is_private || has_other_ns(p) || w->lock.owner > INT_MAX ||
	    procfs_identify(p->proc, (pid_t)w->lock.owner, &task) < 0 || task.ended)
		return false;
	w->owner_tid = task.id;
	w->owner_pid = task.tgid;
	return true;
}

static uint64_t space_of(struct process *p)
{
	if (p->space)
		return p->space;
	const struct files_process known = files_process(p->proc, p->pid);
	p->space =
		hash_u64(hash_u64(known.ticks ^ (uint64_t)(uint32_t)p->pid << 40) ^ known.stack) |
		1;
	return p->space;
}

/* A line of /proc/PID/maps: "7f00-7f10 rw-p 00001000 fe:01 1234   /path". */
struct mapping {
	uint64_t from, to, offset, major, minor, ino;
	const char *path; /* "", "[heap]" */
	bool shared;	  /* with other processes; else what is written is this one's own */
	/* The program or library that it belongs to, and where that begins; "": none. */
	const char *object;
	uint64_t base, object_ino;
	uint32_t object_dev;
};

static bool take_mapping(const char *at, struct mapping *ret)
{
	if (number_take_hex(&at, &ret->from) < 0 || *at++ != '-' ||
	    number_take_hex(&at, &ret->to) < 0 || *at++ != ' ' || strlen(at) < 5)
		return false;
	ret->shared = at[3] == 's';
	at += 5;
	if (number_take_hex(&at, &ret->offset) < 0 || *at++ != ' ' ||
	    number_take_hex(&at, &ret->major) < 0 || *at++ != ':' ||
	    number_take_hex(&at, &ret->minor) < 0 || *at++ != ' ' ||
	    number_take(&at, UINT64_MAX, &ret->ino) < 0)
		return false;
	ret->path = at + strspn(at, " ");
	return true;
}

/* Variables without a value in the file are in memory right after those that have one. */
static void set_object(struct mapping *m, const struct mapping *before)
{
	bool goes_on =
		*m->path ? !strcmp(m->path, before->object) && m->offset : before->to == m->from;

	m->object = goes_on ? before->object : strchr(m->path, '/') ? m->path : "";
	m->base = goes_on ? before->base : m->from;
	m->object_ino = goes_on ? before->object_ino : m->ino;
	m->object_dev = goes_on ? before->object_dev : (uint32_t)(m->major << 20 | m->minor);
}

static void read_maps(struct process *p)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/maps", p->proc, p->pid);
	if (p->maps || fdio_read_file(path, &p->maps, &p->maps_len) < 0)
		return;
	for (size_t i = 0; i < p->maps_len; i++)
		if (p->maps[i] == '\n')
			p->maps[i] = '\0';
}

static bool find_mapping(struct process *p, uint64_t addr, struct mapping *ret)
{
	struct mapping before = {.object = ""};

	read_maps(p);
	for (size_t at = 0; p->maps && at < p->maps_len; at += strlen(p->maps + at) + 1) {
		if (!take_mapping(p->maps + at, ret))
			continue;
		set_object(ret, &before);
		if (addr >= ret->from && addr < ret->to)
			return true;
		before = *ret;
	}
	return false;
}

/* Which lock it is, for all processes that use it, and what it is called. */
static void identify(struct process *p, struct user_wait *w, bool is_private,
		     struct locksnap *texts)
{
	struct mapping m = {.object = "", .path = ""};
	bool found = find_mapping(p, w->lock.addr, &m);
	char clean[PATH_MAX];

	w->in = locksnap_add_text(
		texts, text_clean(clean, sizeof(clean), found && *m.object ? m.object : m.path));
	w->at = found && (*m.object || *m.path) ? w->lock.addr - m.base : w->lock.addr;
	w->dev = m.object_dev;
	w->ino = m.object_ino;
	w->shared = !is_private && found && m.shared && m.ino;
	if (!w->shared)
		w->addr = userlock_addr(space_of(p), w->lock.addr);
	else
		w->addr = userlock_addr(hash_u64(m.ino) ^ (m.major << 20 | m.minor) << 1,
					w->lock.addr - m.from + m.offset);
}

/* A wait of that lock is known: it is read once for each process. */
static const struct user_wait *known_wait(const struct pass *r, const struct process *p,
					  uint64_t addr)
{
	for (size_t i = r->n; i-- > 0 && r->waits[i].pid == p->pid;)
		if (r->waits[i].lock.addr == addr)
			return &r->waits[i];
	return NULL;
}

static int add_thread(struct pass *r, struct process *p, int32_t tid)
{
	struct user_wait w = {.pid = p->pid, .tid = tid};
	struct userlock_call call, again;

	if (!read_call(p, tid, &call) || !users_lock_find(&call, read_memory, p, &w.lock) ||
	    !find_owner(p, &w, userlock_is_private(&call)))
		return 0;
	w.ran_ns = files_ran_ns(p->proc, p->pid, tid);
	if (!read_call(p, tid, &again) || again.addr != call.addr || again.op != call.op)
		return 0;
	const struct user_wait *known = known_wait(r, p, w.lock.addr);
	if (known) {
		w.addr = known->addr;
		w.in = known->in;
		w.at = known->at;
		w.dev = known->dev;
		w.ino = known->ino;
		w.shared = known->shared;
	} else {
		identify(p, &w, userlock_is_private(&call), &r->texts);
	}
	if (mem_grow(&r->waits, &r->cap, r->n, sizeof(*r->waits)))
		return -ENOMEM;
	r->waits[r->n++] = w;
	return 0;
}

static void open_process(struct process *p, const char *proc, int32_t pid)
{
	*p = (struct process){.proc = proc, .pid = pid, .mem = -1};
}

static void close_process(struct process *p)
{
	if (p->mem >= 0)
		close(p->mem);
	mem_free(p->tids);
	mem_free(p->maps);
}

static int add_process(struct pass *r, struct process *p)
{
	int code = 0;

	list_threads(p);
	for (size_t i = 0; code == 0 && i < p->n_tids && r->n < WAITS_MOST; i++)
		code = add_thread(r, p, p->tids[i]);
	return code;
}

static void read_wanted(void *arg)
{
	struct process p = {.mem = -1};
	struct pass *r = arg;

	for (size_t i = 0; r->code == 0 && i < r->n_wanted; i++) {
		const struct wanted *w = &r->wanted[i];
		r->pid = w->pid;
		if (p.pid != w->pid) {
			close_process(&p);
			open_process(&p, r->proc, w->pid);
		}
		r->code = w->tid ? add_thread(r, &p, w->tid) : add_process(r, &p);
	}
	close_process(&p);
}

static void drop(void *arg)
{
	pass_unref(arg);
}

/* 0, -ENOMEM, or -ETIMEDOUT: a process keeps the thread waiting, and is not wanted any more. */
static int read_once(struct snapshot_users *u)
{
	struct pass *r = pass_new(u);

	if (!r)
		return -ENOMEM;
	r->refs++;
	int code = patience_run(read_wanted, drop, r);
	if (code == -ETIMEDOUT) {
		u->left[u->n_left++] = r;
		return code;
	}
	if (code < 0)
		read_wanted(r); /* without a thread: with the risk to wait */
	pass_unref(r);		/* the thread's */
	code = r->code;
	if (code < 0) {
		pass_unref(r);
		return code;
	}
	pass_unref(u->last);
	u->last = r;
	return 0;
}

/* All processes, or only the threads that waited in the last pass. */
static int list_wanted(struct snapshot_users *u, bool searches, const struct locksnap *s)
{
	int code = 0;

	u->n_wanted = 0;
	if (searches)
		return s->head.counts_sleepers && !s->head.sleepers_dropped ? list_sleepers(u, s)
									    : list_all(u);
	for (size_t i = 0; code == 0 && u->last && i < u->last->n; i++)
		code = want(u, u->last->waits[i].pid, u->last->waits[i].tid);
	return code;
}

static int read_users(struct snapshot_users *u, bool searches, const struct locksnap *s)
{
	int code = -ETIMEDOUT;

	forget_back(u);
	while (code == -ETIMEDOUT && u->n_left < LEFT_MOST) {
		code = list_wanted(u, searches, s);
		code = code < 0 ? code : read_once(u);
	}
	return code;
}

/* By lock, and those who have slept longest first. */
static int by_lock(const void *a, const void *b)
{
	const struct user_wait *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->ran_ns != y->ran_ns)
		return x->ran_ns < y->ran_ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void fill_holder(const struct snapshot_users *u, const struct user_wait *w,
			struct locksnap_queue *q, struct locksnap *s)
{
	q->readers = w->lock.readers;
	if (!w->owner_tid)
		return;
	q->certainty = w->lock.sure ? LOCKSNAP_SURE : LOCKSNAP_EVIDENCE;
	q->holder_pid = w->owner_pid;
	q->holder_tid = w->owner_tid;
	q->holder_comm = files_comm(u->proc, w->owner_pid, w->owner_tid, s);
	const struct files_process p = files_process(u->proc, w->owner_tid);
	if (p.state == 'S' || p.state == 'D') {
		q->holder_state = LOCKSNAP_ASLEEP;
	} else if (p.state == 'R') {
		q->holder_state = LOCKSNAP_RUNNING;
		q->holder_cpu = p.cpu;
	}
}

struct adding {
	const struct snapshot_users *u;
	const struct target *target;
	struct locksnap *to;
	int64_t ahead; /* of the scheduler's clock */
	bool ahead_known;
};

static int add_waiter(const struct adding *a, const struct user_wait *w, struct locksnap_queue *q)
{
	const char *proc = a->u->proc;

	*(w->lock.reads ? &q->readers_waiting : &q->writers_waiting) += 1;
	const struct locksnap_waiter v = {
		.queue = (uint32_t)a->to->n_queues,
		.position = q->readers_waiting + q->writers_waiting,
		.pid = w->pid,
		.tid = w->tid,
		.comm = files_comm(proc, w->pid, w->tid, a->to),
		.reader = w->lock.reads,
		.measured = !a->target || target_has(a->target, w->pid, w->tid, false, -1),
		.ran_ns = a->ahead_known && w->ran_ns ? w->ran_ns - (uint64_t)a->ahead : 0,
		.cpu = (uint32_t)(files_process(proc, w->tid).cpu + 1),
	};
	return locksnap_add_waiter(a->to, &v);
}

/* The lock of the wait at @first; the number of its waits in *@ret_n. */
static int add_queue(const struct adding *a, size_t first, size_t *ret_n)
{
	static const uint32_t types[USERLOCK_KINDS] = {LOCKSNAP_USER_MUTEX, LOCKSNAP_USER_RWLOCK,
						       LOCKSNAP_USER_PI};
	const struct pass *r = a->u->last;
	const struct user_wait *w = &r->waits[first];
	struct locksnap_queue q = {.addr = w->addr, .type = types[w->lock.kind], .holder_cpu = -1};
	struct locksnap_name name = {.addr = w->addr,
				     .kind = LOCKSNAP_USER,
				     .cpu = -1,
				     .pid = w->pid,
				     .offset = w->shared,
				     .ino = w->ino,
				     .dev = w->dev,
				     .start = w->at};
	size_t n = 0;
	int code = 0;

	for (; code == 0 && first + n < r->n && w[n].addr == w->addr; n++)
		code = add_waiter(a, w + n, &q);
	*ret_n = n;
	if (code < 0)
		return code;
	/* The latest that was read: the owner may have changed meanwhile. */
	fill_holder(a->u, &w[n - 1], &q, a->to);
	name.text = locksnap_add_text(a->to, locksnap_text(&r->texts, w->in));
	name.comm = files_comm(a->u->proc, w->pid, w->pid, a->to);
	code = locksnap_add_name(a->to, &name);
	return code < 0 ? code : locksnap_add_queue(a->to, &q);
}

static int add_queues(struct snapshot_users *u, const struct target *target, struct locksnap *s)
{
	struct adding a = {.u = u, .target = target, .to = s};
	struct pass *r = u->last;
	int code = 0;
	size_t n;

	if (!r || !r->n)
		return 0;
	a.ahead_known = files_clock_ahead(u->proc, &a.ahead);
	qsort(r->waits, r->n, sizeof(*r->waits), by_lock);
	for (size_t i = 0; code == 0 && i < r->n; i += n)
		code = add_queue(&a, i, &n);
	return code;
}

int snapshot_users_add(struct snapshot_users *u, const struct target *target, struct locksnap *ret)
{
	uint64_t from = clock_now_ns();
	bool searches = from >= u->next_ns;
	int code = read_users(u, searches, ret);

	/* Too many processes keep their readers waiting: of the others nothing new is known. */
	if (code == -ETIMEDOUT)
		return 0;
	code = code < 0 ? code : add_queues(u, target, ret);
	uint64_t now = clock_now_ns();
	if (searches)
		u->next_ns = now + REST * (now - from);
	ret->head.knows_users = searches && code == 0 && !u->n_left && u->last->n < WAITS_MOST;
	return code;
}
