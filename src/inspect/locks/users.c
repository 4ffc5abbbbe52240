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
#include "../runtimes/runtimes.h"
#include "files.h"
#include "kontend/clock.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/procfs.h"
#include "kontend/snapshot-users.h"
#include "kontend/text.h"
#include "users-pass.h"
#include "users-process.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	REST = 50,	/* the share of time is one in so many */
	SAME_AMONG = 8, /* waits among which equal calls are found */
	FRAMES_MOST = 100000,
	WAITS_MOST = 1 << 16,
};

struct snapshot_users {
	const char *proc;
	bool keep; /* symbols, in files */
	struct runtimes *runtimes;
	struct users_classes *classes; /* NULL: none yet */
	struct users_pass *last;       /* NULL: none yet */
	struct users_wanted *wanted;
	size_t n_wanted, cap_wanted;
	struct snapshot_users_lock named[SNAPSHOT_USERS_NEW];
	size_t n_named;
	struct usersite_stack stacks[SNAPSHOT_USERS_STACKS]; /* that have no path yet */
	size_t n_stacks;
	struct left left;
	struct files_clocks clocks;
	bool knows; /* all that waited in the last pass */
	uint64_t next_ns;
};

static void pass_free(struct left_work *w)
{
	struct users_pass *p = (struct users_pass *)w;

	mem_free(p->wanted);
	mem_free(p->waits);
	mem_free(p->sums);
	mem_free(p->pending);
	mem_free(p->named);
	mem_free(p->names);
	mem_free(p->stacks);
	mem_free(p->paths);
	users_classes_unref(p->classes);
	runtimes_unref(p->runtimes);
	locksnap_deinit(&p->texts);
	mem_free(p);
}

static void pass_unref(struct users_pass *p)
{
	left_unref(p ? &p->work : NULL);
}

static void read_wanted(struct left_work *work);

/* A process that keeps its readers waiting is not read for these, either. */
static void forget_left(struct snapshot_users *u)
{
	size_t n = 0;

	for (size_t i = 0; i < u->n_named; i++)
		if (!left_has(&u->left, u->named[i].pid))
			u->named[n++] = u->named[i];
	u->n_named = n;
	n = 0;
	for (size_t i = 0; i < u->n_stacks; i++)
		if (!left_has(&u->left, u->stacks[i].pid))
			u->stacks[n++] = u->stacks[i];
	u->n_stacks = n;
}

static struct users_pass *pass_new(struct snapshot_users *u, bool searches)
{
	struct users_pass *p = mem_calloc(1, sizeof(*p));

	forget_left(u);
	if (!u->classes)
		u->classes = users_classes_new(u->proc, u->keep);
	if (!p || !u->classes) {
		mem_free(p);
		return NULL;
	}
	left_begin(&p->work, read_wanted, pass_free);
	p->searches = searches;
	p->classes = users_classes_ref(u->classes);
	p->runtimes = runtimes_ref(u->runtimes);
	p->proc = u->proc;
	p->n_wanted = u->n_wanted;
	p->wanted = mem_dup(u->wanted, u->n_wanted, sizeof(*u->wanted));
	p->n_named = u->n_named;
	p->named = mem_dup(u->named, u->n_named, sizeof(*u->named));
	p->n_stacks = u->n_stacks;
	p->stacks = mem_dup(u->stacks, u->n_stacks, sizeof(*u->stacks));
	p->names = u->n_named + u->n_stacks
			   ? mem_calloc(u->n_named + u->n_stacks, sizeof(*p->names))
			   : NULL;
	if ((p->wanted || !u->n_wanted) && (p->named || !u->n_named) &&
	    (p->stacks || !u->n_stacks) && (p->names || !(u->n_named + u->n_stacks)))
		return p;
	pass_unref(p);
	return NULL;
}

struct snapshot_users *snapshot_users_new(const char *proc, bool keep)
{
	struct snapshot_users *u = mem_calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->proc = proc;
	u->keep = keep;
	u->runtimes = runtimes_new();
	if (u->runtimes)
		return u;
	mem_free(u);
	return NULL;
}

void snapshot_users_free(struct snapshot_users *u)
{
	if (!u)
		return;
	pass_unref(u->last);
	users_classes_unref(u->classes);
	left_deinit(&u->left);
	files_clocks_deinit(&u->clocks);
	runtimes_unref(u->runtimes);
	mem_free(u->wanted);
	mem_free(u);
}

static int want(struct snapshot_users *u, int32_t pid, int32_t tid)
{
	if (left_has(&u->left, pid))
		return 0;
	if (mem_grow(&u->wanted, &u->cap_wanted, u->n_wanted, sizeof(*u->wanted)))
		return -ENOMEM;
	u->wanted[u->n_wanted++] = (struct users_wanted){pid, tid};
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	const struct users_wanted *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Those of runtimes whose threads may wait in another call; each process once. */
static int list_elsewhere(struct snapshot_users *u)
{
	size_t n_pids = 0, cap = 0, n = 0;
	pid_t *pids = NULL;
	int code = procfs_pids(u->proc, &pids, &n_pids, &cap);

	for (size_t i = 0; code == 0 && i < n_pids; i++)
		if (runtimes_sleep_elsewhere(u->proc, pids[i]))
			code = want(u, pids[i], 0);
	mem_free(pids);
	if (u->n_wanted)
		qsort(u->wanted, u->n_wanted, sizeof(*u->wanted), by_pid);
	for (size_t i = 0; i < u->n_wanted; i++)
		if (!n || u->wanted[n - 1].pid != u->wanted[i].pid)
			u->wanted[n++] = u->wanted[i];
	u->n_wanted = n;
	return code == -ENOMEM ? code : 0;
}

static int list_sleepers(struct snapshot_users *u, const struct locksnap *s)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < s->n_sleepers; i++)
		if (s->sleepers[i].kind == LOCKSNAP_FUTEX && s->sleepers[i].pid > 0)
			code = want(u, s->sleepers[i].pid, 0);
	return code < 0 ? code : list_elsewhere(u);
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

/* Of a lock that processes share the owner may be in another one. */
static bool find_owner(struct users_process *p, struct users_wait *w, bool is_private)
{
	struct procfs_task task;

	if (!w->lock.owner || users_process_find(p, w->lock.owner, &w->owner_tid)) {
		w->owner_pid = w->lock.owner ? p->pid : 0;
		return true;
	}
	if (is_private || users_process_has_other_ns(p) || w->lock.owner > INT_MAX ||
	    procfs_identify(p->proc, (pid_t)w->lock.owner, &task) < 0 || task.ended)
		return false;
	w->owner_tid = task.id;
	w->owner_pid = task.tgid;
	return true;
}

static uint64_t space_of_file(const struct users_mapping *m)
{
	return userlock_file(m->ino, (uint32_t)(m->major << 20 | m->minor));
}

/* Which lock it is, for all processes that use it, and what it is called. */
static void identify(struct users_process *p, struct users_wait *w, bool is_private,
		     struct locksnap *texts)
{
	struct users_mapping m = {.object = "", .path = ""};
	bool found = users_process_mapping(p, w->lock.addr, &m);
	char clean[PATH_MAX];

	w->in = locksnap_add_text(
		texts, text_clean(clean, sizeof(clean), found && *m.object ? m.object : m.path));
	w->at = found && (*m.object || *m.path) ? w->lock.addr - m.base : w->lock.addr;
	w->dev = m.object_dev;
	w->ino = m.object_ino;
	w->shared = !is_private && found && m.shared && m.ino;
	if (!w->shared)
		w->addr = userlock_addr(users_process_space(p), w->lock.addr);
	else
		w->addr = userlock_addr(space_of_file(&m), w->lock.addr - m.from + m.offset);
}

/* A wait of that lock is known: it is read once for each process. */
static const struct users_wait *known_wait(const struct users_pass *r,
					   const struct users_process *p, uint64_t addr)
{
	for (size_t i = r->n; i-- > 0 && r->waits[i].pid == p->pid;)
		if (!r->waits[i].named_pid && r->waits[i].lock.addr == addr)
			return &r->waits[i];
	return NULL;
}

static void identify_once(struct users_pass *r, struct users_process *p,
			  const struct userlock_call *call, struct users_wait *w)
{
	const struct users_wait *known = known_wait(r, p, w->lock.addr);

	if (!known) {
		identify(p, w, userlock_is_private(call), &r->texts);
		return;
	}
	w->addr = known->addr;
	w->in = known->in;
	w->at = known->at;
	w->dev = known->dev;
	w->ino = known->ino;
	w->shared = known->shared;
	w->named = known->named;
}

/* Its word says nothing of the lock, or which of many: all with that name are one. */
static void name_by_class(struct users_process *p, const struct futexclass_found *f,
			  struct users_wait *w)
{
	if (!f->own_word && !f->by_condition)
		return;
	w->named = true;
	w->in = w->what;
	if (f->own_word)
		w->addr = userlock_addr(users_process_space(p), hash_text(HASH_START, f->what));
}

/* A lock without a layout that is known. */
static bool take_by_class(const struct userlock_call *c, const struct futexclass_found *f,
			  struct userlock_found *ret)
{
	*ret = (struct userlock_found){.addr = c->addr, .kind = USERLOCK_FUTEX};
	if (f->kind == FUTEXCLASS_SEM)
		ret->kind = USERLOCK_SEM;
	if (f->kind == FUTEXCLASS_MUTEX)
		ret->kind = USERLOCK_MUTEX; /* which has no owner just now */
	/* One of two words that the waiters of a condition variable use in turn. */
	if (f->by_condition)
		ret->addr &= ~7ull;
	/* Readers and writers sleep on different words of it. */
	return f->kind != FUTEXCLASS_RWLOCK;
}

bool users_take_class(struct users_pass *r, struct users_process *p, const struct userlock_call *c,
		      const struct futexclass_found *f, struct users_wait *w)
{
	if (!take_by_class(c, f, &w->lock))
		return false;
	w->what = locksnap_add_text(&r->texts, f->what);
	identify(p, w, userlock_is_private(c), &r->texts);
	name_by_class(p, f, w);
	return true;
}

/*
 * Its own number: a thread of a pool that sleeps on its state looks like that. One that waits for
 * a mutex that it has itself does so in functions with names.
 */
static bool is_of_worker(const struct futexclass_found *f, const struct users_wait *w)
{
	return f->class == FUTEXCLASS_UNKNOWN && !w->lock.sure && w->owner_tid == w->tid;
}

static bool find_lock(struct users_process *p, const struct userlock_call *c,
		      const struct futexclass_found *f, struct users_wait *w)
{
	bool by_class = f->class == FUTEXCLASS_LOCK;
	bool has_layout =
		f->kind == FUTEXCLASS_MUTEX || f->kind == FUTEXCLASS_RWLOCK ||
		(f->class == FUTEXCLASS_UNKNOWN && f->kind != FUTEXCLASS_SEM && !f->by_condition);

	has_layout |= users_class_relocks(f, c);
	if (has_layout && users_lock_find(c, users_process_read, p, &w->lock) &&
	    find_owner(p, w, userlock_is_private(c)) && !is_of_worker(f, w))
		return true;
	w->owner_pid = w->owner_tid = 0;
	return by_class && take_by_class(c, f, &w->lock);
}

static int add_sum(struct users_pass *r, int32_t pid, enum futexclass class, const char *what,
		   uint32_t tasks)
{
	for (size_t i = r->n_sums; i-- > 0;) {
		struct users_sum *s = &r->sums[i];
		if (s->pid != pid || s->class != class ||
		    strcmp(locksnap_text(&r->texts, s->what), what) != 0)
			continue;
		s->tasks += tasks;
		return 0;
	}
	if (mem_grow(&r->sums, &r->cap_sums, r->n_sums, sizeof(*r->sums)) < 0)
		return -ENOMEM;
	r->sums[r->n_sums++] =
		(struct users_sum){pid, class, locksnap_add_text(&r->texts, what), tasks};
	return 0;
}

static int add_pending(struct users_pass *r, const struct users_process *p, int32_t tid,
		       bool unnamed)
{
	if (mem_grow(&r->pending, &r->cap_pending, r->n_pending, sizeof(*r->pending)) < 0)
		return -ENOMEM;
	r->pending[r->n_pending++] = (struct users_wanted){p->pid, tid, unnamed};
	return 0;
}

/* The same calls as of another wait shortly before: those waiting for one lock often have them. */
static bool share_frames(struct users_pass *r, struct users_wait *w)
{
	const struct locksnap_user_frame *own = r->texts.user_frames + w->frame;

	for (size_t i = r->n; w->n_frames && i-- > 0 && i + SAME_AMONG > r->n;) {
		const struct users_wait *o = &r->waits[i];
		if (o->n_frames != w->n_frames ||
		    memcmp(r->texts.user_frames + o->frame, own, w->n_frames * sizeof(*own)) != 0)
			continue;
		w->frame = o->frame;
		return true;
	}
	return false;
}

static int add_frames(struct users_pass *r, const struct users_class *c, struct users_wait *w)
{
	struct locksnap *to = &r->texts;
	char clean[PATH_MAX];
	int code = 0;

	w->what = locksnap_add_text(to, c->found.what);
	if (to->n_user_frames + c->n_frames > FRAMES_MOST)
		return 0;
	w->frame = (uint32_t)to->n_user_frames;
	w->site = (uint32_t)c->found.depth;
	for (size_t i = 0; code == 0 && i < c->n_frames; i++) {
		const struct sleepstack_frame *f = &c->frames[i];
		const struct locksnap_user_frame x = {
			.function = f->function ? locksnap_add_text(to, f->function) : 0,
			.object =
				locksnap_add_text(to, text_clean(clean, sizeof(clean), f->object)),
			.at = f->function  ? f->into
			      : *f->object ? f->file_offset
					   : f->ip,
			.ip = f->ip,
		};
		code = locksnap_add_user_frame(to, &x);
	}
	w->n_frames = code < 0 ? 0 : (uint32_t)c->n_frames;
	if (share_frames(r, w))
		to->n_user_frames -= w->n_frames;
	return code;
}

struct runtime_process users_runtime_process(struct users_process *p)
{
	return (struct runtime_process){.proc = p->proc,
					.pid = p->pid,
					.space = users_process_space(p),
					.read = users_process_read,
					.maps = users_process_maps,
					.number = users_process_number,
					.arg = p};
}

/* The answer of the program's runtime. */
static bool find_in_runtime(struct users_pass *r, struct users_process *p,
			    const struct runtime_thread *thread, struct runtime_lock *ret)
{
	const struct runtime_process of = users_runtime_process(p);

	return (thread->call || files_process(p->proc, p->pid).state == 'S') &&
	       runtimes_find(r->runtimes, &of, thread, ret);
}

/* A lock of the C library has a name besides its place. */
static void name_in_library(struct users_pass *r, struct users_process *p, struct users_wait *w)
{
	const struct runtime_process of = users_runtime_process(p);
	char clean[PATH_MAX];
	struct runtime_lock l;
	int32_t owner = 0;

	if (w->shared || !runtimes_name(r->runtimes, &of, w->lock.addr, &l))
		return;
	w->named = true;
	w->in = locksnap_add_text(&r->texts, text_clean(clean, sizeof(clean), l.name));
	if (l.owner && users_process_find(p, l.owner, &owner)) {
		w->owner_pid = p->pid;
		w->owner_tid = owner;
	}
}

uint64_t users_runtime_space(struct users_process *p, uint64_t where, bool *ret_shared)
{
	struct users_mapping m;

	*ret_shared = users_process_mapping(p, where, &m) && m.shared && m.ino;
	return *ret_shared ? space_of_file(&m) : users_process_space(p);
}

void users_take_runtime(struct users_pass *r, struct users_process *p, const struct runtime_lock *l,
			struct users_wait *w)
{
	int32_t owner = 0;

	w->lock = (struct userlock_found){.kind = USERLOCK_RUNTIME, .addr = l->at};
	w->named = true;
	w->named_pid = l->pid;
	w->owner_pid = w->owner_tid = l->owner_pid;
	if (l->owner && users_process_find(p, l->owner, &owner)) {
		w->owner_pid = p->pid;
		w->owner_tid = owner;
	}
	w->addr = userlock_addr(users_runtime_space(p, l->where, &w->shared), l->at);
	w->in = locksnap_add_text(&r->texts, l->name);
}

static int add_wait(struct users_pass *r, const struct users_wait *w)
{
	if (mem_grow(&r->waits, &r->cap, r->n, sizeof(*r->waits)))
		return -ENOMEM;
	r->waits[r->n++] = *w;
	return 0;
}

/* A thread outside of futex(2) waits for a lock only where its runtime says that. */
static int add_elsewhere(struct users_pass *r, struct users_process *p, int32_t tid)
{
	struct users_wait w = {.pid = p->pid, .tid = tid};
	const struct runtime_thread thread = {.tid = tid};
	struct runtime_lock said, again;

	if (!find_in_runtime(r, p, &thread, &said))
		return 0;
	w.ran_ns = files_ran_ns(p->proc, p->pid, tid);
	if (!find_in_runtime(r, p, &thread, &again) || again.at != said.at)
		return 0;
	users_take_runtime(r, p, &again, &w);
	return add_wait(r, &w);
}

/* Not in futex(2). If it is awake just now it may wait for the same lock again. */
static int add_awake(struct users_pass *r, struct users_process *p, int32_t tid)
{
	size_t n = r->n;
	int code = add_elsewhere(r, p, tid);

	return code < 0 || r->n > n || !users_classes_was_lock(r->classes, tid)
		       ? code
		       : add_pending(r, p, tid, false);
}

static bool is_same_sleep(struct users_process *p, int32_t tid, const struct users_thread *t)
{
	struct users_thread now;

	return users_process_thread(p, tid, &now) && now.call.addr == t->call.addr &&
	       now.call.op == t->call.op && now.sp == t->sp && now.ip == t->ip;
}

static int add_thread(struct users_pass *r, struct users_process *p, int32_t tid)
{
	const struct users_place place = {p->proc, p->pid, users_process_read, users_process_maps,
					  p};
	struct users_wait w = {.pid = p->pid, .tid = tid};
	struct runtime_lock said;
	struct users_thread t;
	struct users_class c;

	if (!users_process_thread(p, tid, &t))
		return add_awake(r, p, tid);
	if (t.is_32bit)
		return add_sum(r, p->pid, FUTEXCLASS_UNKNOWN, LOCKSNAP_32BIT, 1);
	int code = users_classes_find(r->classes, &place, tid, &t, &c);
	if (code < 0)
		return code;
	const struct runtime_thread thread = {tid, &t.call, &c.found};
	bool by_runtime = find_in_runtime(r, p, &thread, &said);
	bool is_no_lock = by_runtime && said.class != FUTEXCLASS_LOCK;
	bool found = !is_no_lock && (by_runtime || find_lock(p, &t.call, &c.found, &w));
	w.ran_ns = found && !c.ran_ns ? files_ran_ns(p->proc, p->pid, tid) : c.ran_ns;
	if (!is_same_sleep(p, tid, &t))
		return found ? add_pending(r, p, tid, false) : 0;
	if (is_no_lock)
		return add_sum(r, p->pid, said.class, said.name, 1);
	if (!found)
		return strcmp(c.found.what, USERS_PENDING) == 0
			       ? add_pending(r, p, tid, true)
			       : add_sum(r, p->pid, c.found.class, c.found.what, 1);
	code = add_frames(r, &c, &w);
	if (by_runtime) {
		users_take_runtime(r, p, &said, &w);
	} else {
		identify_once(r, p, &t.call, &w);
		name_by_class(p, &c.found, &w);
		if (c.found.of_library)
			name_in_library(r, p, &w);
	}
	return code < 0 ? code : add_wait(r, &w);
}

static int add_process(struct users_pass *r, struct users_process *p)
{
	int code = 0;

	if (r->searches)
		code = users_path_epoll(r, p);
	users_process_list(p);
	for (size_t i = 0; code == 0 && i < p->n_tids && r->n < WAITS_MOST; i++)
		code = add_thread(r, p, p->tids[i]);
	return code;
}

static void change_process(struct users_pass *r, struct users_process *p, int32_t pid)
{
	r->work.pid = pid;
	if (p->pid == pid)
		return;
	users_process_close(p);
	users_process_open(p, r->proc, pid);
}

/* The process may be another one by now, or another program: then the lock is not there. */
static void find_name(struct users_pass *r, struct users_process *p,
		      const struct snapshot_users_lock *l, struct users_wait *ret)
{
	const struct runtime_process of = users_runtime_process(p);
	struct runtime_lock named;

	ret->pid = l->pid;
	ret->lock.addr = l->addr;
	if (!l->number)
		identify(p, ret, !l->shared, &r->texts);
	else if (runtimes_by_number(r->runtimes, &of, l->number, &named))
		users_take_runtime(r, p, &named, ret);
	if (ret->addr != l->lock)
		ret->addr = 0;
	else if (!l->number)
		name_in_library(r, p, ret);
}

static void read_wanted(struct left_work *work)
{
	struct users_process p = {.mem = -1};
	struct users_pass *r = (struct users_pass *)work;

	for (size_t i = 0; i < r->n_named; i++) {
		change_process(r, &p, r->named[i].pid);
		find_name(r, &p, &r->named[i], &r->names[i]);
	}
	users_classes_begin(r->classes, r->searches);
	for (size_t i = 0; r->code == 0 && i < r->n_stacks; i++) {
		change_process(r, &p, r->stacks[i].pid);
		r->code = users_path_find(r, &p, &r->stacks[i]);
	}
	for (size_t i = 0; r->code == 0 && i < r->n_wanted; i++) {
		const struct users_wanted *w = &r->wanted[i];
		change_process(r, &p, w->pid);
		r->code = w->tid ? add_thread(r, &p, w->tid) : add_process(r, &p);
	}
	users_process_close(&p);
}

/* Those of the last search, to which a pass through some threads adds. */
static int keep_sums(struct users_pass *r, const struct users_pass *last)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < last->n_sums; i++) {
		const struct users_sum *s = &last->sums[i];
		code = add_sum(r, s->pid, s->class, locksnap_text(&last->texts, s->what), s->tasks);
	}
	return code;
}

/* 0, -ENOMEM, or -ETIMEDOUT: a process keeps the thread waiting, and is not wanted any more. */
static int read_once(struct snapshot_users *u, bool searches)
{
	struct users_pass *r = pass_new(u, searches);

	if (!r)
		return -ENOMEM;
	int code = left_run(&u->left, &r->work);
	if (code == -ETIMEDOUT) {
		users_classes_unref(u->classes); /* that thread has them */
		u->classes = NULL;
	}
	if (code < 0)
		return code;
	code = r->code;
	if (code < 0) {
		pass_unref(r);
		return code;
	}
	if (!searches && u->last)
		code = keep_sums(r, u->last);
	pass_unref(u->last);
	u->last = r;
	return code;
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
	for (size_t i = 0; code == 0 && u->last && i < u->last->n_pending; i++)
		code = want(u, u->last->pending[i].pid, u->last->pending[i].tid);
	return code;
}

static int read_users(struct snapshot_users *u, bool searches, const struct locksnap *s)
{
	int code = -ETIMEDOUT;

	left_forget_back(&u->left);
	while (code == -ETIMEDOUT && u->left.n < LEFT_MOST) {
		code = list_wanted(u, searches, s);
		code = code < 0 ? code : read_once(u, searches);
	}
	return code;
}

void snapshot_users_name(struct snapshot_users *u, const struct snapshot_users_lock *locks,
			 size_t n)
{
	memcpy(u->named, locks, n * sizeof(*locks));
	u->n_named = n;
}

size_t snapshot_users_room(const struct snapshot_users *u)
{
	return SNAPSHOT_USERS_STACKS - u->n_stacks;
}

void snapshot_users_ask(struct snapshot_users *u, const struct usersite_stack *stacks, size_t n)
{
	size_t room = snapshot_users_room(u);

	n = n < room ? n : room;
	memcpy(u->stacks + u->n_stacks, stacks, n * sizeof(*stacks));
	u->n_stacks += n;
}

const struct snapshot_users_path *snapshot_users_paths(const struct snapshot_users *u,
						       size_t *ret_n)
{
	*ret_n = u->last ? u->last->n_paths : 0;
	return u->last ? u->last->paths : NULL;
}

/* Those that are pending are kept. */
static void keep_stacks(struct snapshot_users *u, const struct users_pass *r)
{
	u->n_stacks = 0;
	for (size_t i = 0; i < r->n_stacks; i++)
		if (r->stacks[i].key)
			u->stacks[u->n_stacks++] = r->stacks[i];
}

int snapshot_users_add(struct snapshot_users *u, const struct target *target, struct locksnap *ret)
{
	uint64_t from = clock_now_ns();
	bool searches = from >= u->next_ns;
	int code = read_users(u, searches, ret);
	/* Too many processes keep their readers waiting: of the others nothing new is known. */
	u->knows = u->knows && code == 0;
	if (code == -ETIMEDOUT)
		return 0;
	u->n_named = 0;
	if (code == 0 && u->last)
		keep_stacks(u, u->last);
	if (code == 0 && u->last)
		code = users_fill(u->last, target, &u->clocks, ret);
	uint64_t now = clock_now_ns(), took = now - from, once = runtimes_take_once_ns(u->runtimes);
	if (searches)
		u->next_ns = now + REST * (took > once ? took - once : 0);
	/* Threads that have gone to sleep meanwhile are in it. */
	if (ret->head.time_ns)
		ret->head.cost_ns = now - ret->head.time_ns;
	bool all = code == 0 && !u->left.n && u->last->n < WAITS_MOST;
	u->knows = all && (searches || u->knows);
	ret->head.users = !u->knows  ? LOCKSNAP_USERS_UNKNOWN
			  : searches ? LOCKSNAP_USERS_ALL
				     : LOCKSNAP_USERS_AGAIN;
	return code;
}
