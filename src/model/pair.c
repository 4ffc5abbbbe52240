// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs contention_begin with contention_end. Sleeping waits are on a stack of their task, spin
 * waits on one of their CPU (a spinner cannot leave it, and an interrupt may spin on top of it or
 * within a sleeping wait). Ends are matched by address from the innermost wait outwards: waits
 * above the match have lost their end. The mutex slow path emits begin(MUTEX|SPIN), begin(MUTEX),
 * and so on while it alternates between spinning and sleeping, and one end: the first time stamp
 * holds.
 *
 * A wait whose end was dropped must not linger as "still waiting" nor end with a wrong duration.
 * It is taken off as unmatched as soon as the stream proves it stale: the task exits, begins the
 * same lock again, ends an outer wait, or begins a wait whose call chain does not come out of it;
 * and by the next tick, where it spins on a CPU that has reported a sleeping wait since.
 *
 * Where records are missing, any wait that was in flight meanwhile may have ended, and begun again:
 * it is doubtful, also if it ended within the gap on a CPU that has all its records, and also if it
 * began there. Only one CPU reports a spin wait, so a gap on another one does it no harm.
 */
#include "file-holds.h"
#include "holds-int.h"
#include "kontend/blame.h"
#include "kontend/cell-owner.h"
#include "kontend/cell.h"
#include "kontend/damage.h"
#include "kontend/event.h"
#include "kontend/filelock.h"
#include "kontend/lock.h"
#include "kontend/locktype.h"
#include "kontend/map64.h"
#include "kontend/model-cpu.h"
#include "kontend/profile.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/untracked.h"
#include "kontend/wait.h"
#include "kontend/waitrec.h"
#include "lockqueue-int.h"
#include "wait-chain.h"
#include "wait-lost.h"
#include "wait-parts.h"
#include "wait-phases.h"

#include <errno.h>
#include <string.h>

/* A stack of wait indices, innermost last: of a task or of a CPU. */
struct nest {
	uint32_t *waits;
	uint32_t depth;
};

/* The end of a wait is not known: no sum has it any more. */
static void lose_end(struct model *m, struct wait *w)
{
	if (m->held->max && !w->doubtful)
		holds_take_back(m, w);
	if (w->blame)
		blame_gone(m, w);
}

static void take_out(struct model *m, struct nest *n, uint32_t at)
{
	uint32_t index = n->waits[at];

	struct wait *w = &m->waits->waits[index];

	m->locks->locks[w->lock].waiting--;
	if (m->held->max && !w->doubtful) {
		holds_waits(m, w->lock, -1);
		release_unqueue(m, &m->waits->waits[index]);
	}
	holder_gives_up(m, w);
	if (w->blame) {
		blame_not_taken(m, w);
		blame_over(m, w);
	}
	lockqueue_give_up(m, w);
	wait_put(m->waits, index);
	for (n->depth--; at < n->depth; at++)
		n->waits[at] = n->waits[at + 1];
}

static void take_out_lost(struct model *m, struct nest *n, uint32_t at)
{
	lose_end(m, &m->waits->waits[n->waits[at]]);
	take_out(m, n, at);
	blame_take_back(m);
}

/* A wait without a begin has not lost its end either. */
static void give_up_one(struct model *m, struct nest *n, uint32_t at)
{
	struct wait *w = &m->waits->waits[n->waits[at]];

	if (wait_is_silent(w) && !w->doubtful) {
		wait_parts_over(m, w);
		take_out(m, n, at);
		return;
	}
	m->damage->unmatched_begin += !w->by_look;
	if (w->doubtful && !w->by_look)
		account_doubt(m, w);
	take_out_lost(m, n, at);
}

/* The waits from @from on never got their end. */
static void give_up(struct model *m, struct nest *n, uint32_t from)
{
	while (n->depth > from)
		give_up_one(m, n, n->depth - 1);
}

/* The owner of sleeping waits: a task, or one that is "other". */
struct sleeper {
	struct task *task;
	struct untracked *stray; /* NULL: it has an entry */
};

static struct nest nest_of(const struct sleeper *s)
{
	if (s->stray)
		return (struct nest){.waits = s->stray->waits, .depth = s->stray->depth};
	return (struct nest){.waits = s->task->waits, .depth = s->task->depth};
}

static void set_depth(struct model *m, const struct sleeper *s, uint32_t depth,
		      const struct event *ev)
{
	if (!s->stray) {
		s->task->depth = (uint8_t)depth;
		s->task->reported_ns = ev->time;
		return;
	}
	s->stray->depth = depth;
	if (!depth)
		untracked_put(m->untracked, s->stray);
}

static bool find_wait(const struct model *m, const struct nest *n, uint64_t addr, uint32_t *ret_at)
{
	for (uint32_t i = n->depth; i-- > 0;) {
		if (m->waits->waits[n->waits[i]].addr == addr) {
			*ret_at = i;
			return true;
		}
	}
	return false;
}

/* By its end, which is of a lock, or of a file of which a part was waited for. */
static bool find_ending(const struct model *m, const struct nest *n, uint64_t addr,
			uint32_t *ret_at)
{
	if (find_wait(m, n, addr, ret_at))
		return true;
	for (uint32_t i = n->depth; filelock_is(addr) && i-- > 0;) {
		if (m->waits->waits[n->waits[i]].file == addr) {
			*ret_at = i;
			return true;
		}
	}
	return false;
}

/*
 * A reader of a reader-writer lock of PREEMPT_RT waits for the rt-mutex within it, which is
 * reported as a wait in that wait. It is the same one: it is not counted twice.
 */
static bool is_part(const struct model *m, const struct nest *n, uint64_t addr)
{
	return addr && n->depth && wait_rt_mutex(&m->waits->waits[n->waits[n->depth - 1]]) == addr;
}

/* Where it is in doubt whether the wait to read goes on, this may be another one. */
static bool begins_part(const struct model *m, const struct nest *n, const struct event *ev)
{
	return ev->begin.flags == LCB_F_RT && is_part(m, n, ev->begin.lock) &&
	       !m->waits->waits[n->waits[n->depth - 1]].doubtful;
}

/* The chain as it is stored may lack frames. */
static bool may_be_cut(const struct model *m, uint32_t n)
{
	return n + m->traced_most >= m->chain_limit;
}

/* Of a task that waits for the lock of a file: it tries in calls that have returned meanwhile. */
enum { MOVED_ON = 1, MOVED_ON_FILE = 4 };

/* Code that the kernel made may have got or lost its name meanwhile. */
static bool are_same_code(const struct model *m, const uint64_t *a, const uint64_t *b, uint32_t n)
{
	const struct ksyms *k = &m->profile->ksyms;
	uint32_t i = 0;

	if (!memcmp(a, b, n * sizeof(*a)))
		return true;
	while (i < n && ksyms_address(k, a[i]) == ksyms_address(k, b[i]))
		i++;
	return i == n;
}

/*
 * Could a wait with chain @inner have begun while @w goes on? Then the frames around the outer slow
 * path are live on the stack, so the inner chain ends in them. The innermost frame of the outer one
 * (the tracepoint's place) has moved on. Chains that may be cut prove nothing.
 */
static bool nested_in(const struct model *m, uint32_t inner, const struct wait *w)
{
	uint32_t moved = filelock_is(w->addr) ? MOVED_ON_FILE : MOVED_ON;
	uint32_t n_in = stack_kernel_frames(m->stacks, inner),
		 n_out = stack_kernel_frames(m->stacks, w->stack);
	uint32_t n = n_out > moved ? n_out - moved : 0;

	if (!n || inner == STACK_OTHER || may_be_cut(m, n_in) || may_be_cut(m, n_out))
		return true;
	if (n_in <= n)
		return false;
	return are_same_code(m, stack_frames(m->stacks, inner) + n_in - n,
			     stack_frames(m->stacks, w->stack) + moved, n);
}

/* Drops what the new wait shows to be over. */
static void drop_stale(struct model *m, struct nest *n, const struct wait *new, bool spin)
{
	uint32_t same;

	if (find_wait(m, n, new->addr, &same))
		give_up(m, n, same);
	for (uint32_t i = 0; i < n->depth; i++) {
		const struct wait *w = &m->waits->waits[n->waits[i]];
		/* A task that is to sleep for this one has been awake since. */
		bool moved_on = spin ? w->task != new->task : wait_is_silent(w);
		/* A snapshot has the calls of a sleeper. */
		if (moved_on || (!w->by_look && !nested_in(m, new->stack, w))) {
			give_up(m, n, i);
			break;
		}
	}
	if (n->depth == WAIT_DEPTH) {
		take_out_lost(m, n, 0);
		m->damage->deep++;
	}
}

static void begin_waiting(struct model *m, uint32_t index)
{
	struct wait *w = &m->waits->waits[index];

	holder_waits(m, w->lock);
	holder_let_go(m, w->lock, w->task, w->begin_ns);
	m->locks->locks[w->lock].waiting++;
	w->joined_ns = m->now_ns;
	if (m->held->max && !w->doubtful) {
		holds_waits(m, w->lock, 1);
		release_queue(m, &m->waits->waits[index]);
		lockqueue_begin(m, index);
	}
	if (m->blame->max && !w->doubtful)
		blame_wait(m, w);
}

static void push(struct model *m, struct nest *n, uint32_t index)
{
	m->last_wait = index;
	n->waits[n->depth++] = index;
	begin_waiting(m, index);
}

/* A mutex begins several times, and not each time frames of the program are read. */
static void wait_on(struct wait *w, const struct event *ev)
{
	if (ev->begin.on.kind)
		w->on = ev->begin.on;
}

/* A mutex whose wait continues in another phase, or a task that tries again to lock a file. */
static bool continues(struct model *m, const struct nest *n, const struct event *ev)
{
	uint32_t at;

	if (!(ev->begin.flags & LCB_F_MUTEX) && !filelock_is(ev->begin.lock))
		return false;
	if (!find_wait(m, n, ev->begin.lock, &at))
		return false;
	struct wait *w = &m->waits->waits[n->waits[at]];
	if (filelock_is(ev->begin.lock) ? w->flags != ev->begin.flags || w->doubtful
					: !(w->flags & LCB_F_MUTEX))
		return false;
	wait_phases_next(m, w, ev);
	wait_on(w, ev);
	w->flags = ev->begin.flags;
	if (m->held->max && !w->doubtful)
		release_queue(m, w);
	m->last_wait = n->waits[at];
	return true;
}

/* A wait that was reported in progress, and ends now, when its call chain is reported. */
static bool completes(struct model *m, const struct nest *n, const struct event *ev)
{
	uint32_t at;

	if (!ev->begin.since_ns || !find_wait(m, n, ev->begin.lock, &at))
		return false;
	struct wait *w = &m->waits->waits[n->waits[at]];
	if (w->begin_ns != ev->begin.since_ns)
		return false;
	m->last_wait = n->waits[at];
	wait_phases_begin(m, w, ev);
	/* A look may have read the part of the program meanwhile. */
	if (stack_kernel_frames(m->stacks, w->stack))
		return true;
	if (w->blame)
		blame_over(m, w);
	w->stack = wait_chain_intern(m, ev);
	wait_on(w, ev);
	w->cell = cell_prefetch(m->cells, wait_key(w));
	if (m->blame->max && !w->doubtful)
		blame_wait(m, w);
	return true;
}

/*
 * May the begin of the wait be wrong, as records are missing? A mutex begins several times: the
 * first of them is sure only if nothing is missing since the last record of the task.
 */
static bool is_doubtful(const struct model *m, const struct model_cpu *cpu, const struct task *t,
			const struct event *ev, bool spin)
{
	uint64_t known = t->reported_ns > t->start_ns ? t->reported_ns : t->start_ns;

	if (spin)
		return ev->time < cpu->lost_until;
	return ev->time < m->lost_until || (ev->begin.flags & LCB_F_MUTEX && known < m->lost_until);
}

/* False: there is no room to separate its sleeping waits from those of others. */
static bool find_untracked(struct model *m, uint32_t t, int32_t tid, struct untracked **ret)
{
	*ret = t == TASK_OTHER ? untracked_get(m->untracked, tid)
			       : untracked_find(m->untracked, tid);
	return *ret || t != TASK_OTHER;
}

static void note_wait(struct lock *l, const struct event *ev)
{
	l->begin_ns = l->begin_ns ? l->begin_ns : ev->time;
	l->cgroup = ev->cgroup;
}

/* Both halves of these waits were lost, or their gap was reported before. */
static void note_missed(struct model *m, struct model_cpu *cpu, uint32_t n)
{
	m->damage->lost += n;
	cpu->lost += n;
	cpu->unreported = false;
}

/* The holder when @w began, from its record or one of its own. */
static void note_owner(struct model *m, struct wait *w, uint32_t owner, uint64_t ns)
{
	uint32_t task = cell_owner_task(owner);

	if (task && task == w->task)
		return;
	m->holders_reported = true;
	if (w->reported == OWNER_NONE || cell_owner_is_free(w->reported))
		w->reported = owner;
	holder_report(m, w->lock, owner, ns);
}

/* False: there is no room for it. */
static bool find_owner(struct model *m, int32_t pid, int32_t tid, enum waitrec_owner is,
		       uint32_t *ret)
{
	uint32_t index = tid ? task_get_holder(m->tasks, pid, tid) : TASK_OTHER;

	if (is == WAITREC_HANDED || !index)
		*ret = cell_owner_handed(index);
	else
		*ret = index | (is == WAITREC_READ ? OWNER_HINT : 0);
	return index < OWNER_NEXT && (index != TASK_OTHER || !tid);
}

/* Readers have the lock, and the one that its word names may be none of them. */
static void note_exited_reader(struct model *m, const struct wait *w, int32_t tid, uint64_t ns)
{
	if (task_has_ended(m->tasks, tid))
		holder_readers(m, w->lock, ns);
}

/* Sums are by who had the lock; who was to take it makes no difference there. */
static void sum_by_owner(struct model *m, struct wait *w)
{
	m->owners_reported = true;
	if (w->owner != OWNER_NONE && w->owner != OWNER_FREE)
		return;
	w->owner = cell_owner_is_free(w->reported) ? OWNER_FREE : w->reported;
	w->cell = cell_prefetch(m->cells, wait_key(w));
}

/* A process that took the lock and has ended is not named: then it is the one that has it now. */
static void note_taken(struct model *m, const struct wait *w, const struct event *ev)
{
	bool is_said = ev->begin.owner != WAITREC_NOT_SAID;
	uint64_t ns = ev->begin.held_ns;

	holder_taken(m, w->lock, is_said ? ev->begin.owner_pid : 0,
		     ns && ns < ev->time ? ev->time - ns : 0);
}

/* Also for a mutex that continues in another phase. */
static void begin_owner(struct model *m, const struct event *ev)
{
	struct wait *w = &m->waits->waits[m->last_wait];
	uint32_t owner;

	if (m->last_wait && filelock_is(w->addr))
		note_taken(m, w, ev);
	if (m->last_wait && ev->begin.owner == WAITREC_READ)
		note_exited_reader(m, w, ev->begin.owner_tid, ev->time);
	if (ev->begin.owner == WAITREC_NOT_SAID || !m->last_wait ||
	    !find_owner(m, ev->begin.owner_pid, ev->begin.owner_tid,
			(enum waitrec_owner)ev->begin.owner, &owner))
		return;
	note_owner(m, w, owner, ev->begin.since_ns ? ev->begin.since_ns : ev->time);
	if (ev->begin.owner_asked)
		sum_by_owner(m, w);
}

/* Names it by device and inode as long as there is no other name. */
static int name_file(struct model *m, const struct event *ev)
{
	return filelock_is(ev->begin.lock) && ev->begin.ino ? lock_lifetime_file(m, ev) : 0;
}

/* One that continues has a chain when it ends. */
static bool is_without_chain(const struct event *ev)
{
	return ev->begin.since_ns && wait_chain_is_empty(ev);
}

static int begin(struct model *m, const struct event *ev)
{
	enum lock_type type =
		model_lock_type(m, ev->begin.flags, ev->begin.frames, ev->begin.n_frames);
	struct model_cpu *cpu = model_cpu(m, ev->cpu);
	uint32_t t = task_get_quickly(m->tasks, ev->pid, ev->tid);
	bool spin = locktype_is_spin(type);

	if (!cpu)
		return -ENOMEM;
	if (ev->begin.missed)
		note_missed(m, cpu, ev->begin.missed);
	if (m->no_ends) {
		m->damage->unmatched_begin++;
		return 0;
	}
	struct sleeper who = {.task = &m->tasks->tasks[t]};
	if (ev->cgroup && t != TASK_OTHER)
		who.task->cgroup = ev->cgroup;
	if (!spin && !find_untracked(m, t, ev->tid, &who.stray)) {
		m->damage->deep++;
		return 0;
	}
	struct nest n = {.waits = cpu->waits, .depth = cpu->depth};
	if (!spin) {
		n = nest_of(&who);
		cpu->slept_ns = ev->time;
	}
	if (completes(m, &n, ev) || continues(m, &n, ev) || begins_part(m, &n, ev)) {
		set_depth(m, &who, n.depth, ev);
		return 0;
	}
	uint32_t index = wait_new(m->waits);
	if (!index)
		return -ENOMEM;
	/* Made in its place: a copy would have to wait until it is written. */
	struct wait *new = &m->waits->waits[index];
	new->begin_ns = ev->begin.since_ns ? ev->begin.since_ns : ev->time;
	new->addr = ev->begin.lock;
	new->file = ev->begin.file;
	new->task = t;
	new->stack = is_without_chain(ev) ? STACK_OTHER : wait_chain_intern(m, ev);
	wait_on(new, ev);
	new->flags = ev->begin.flags;
	new->cpu = (uint16_t)ev->cpu;
	new->lock = lock_get(m->locks, ev->begin.lock, type);
	new->doubtful = is_doubtful(m, cpu, who.task, ev, spin);
	note_wait(&m->locks->locks[new->lock], ev);
	new->cell = cell_prefetch(m->cells, wait_key(new));
	if (n.depth)
		drop_stale(m, &n, new, spin);
	new->nested = n.depth &&spin;
	wait_phases_begin(m, new, ev);
	wait_lost_begin(m, new, ev);
	if (ev->begin.since_ns)
		account_late(m, new);
	push(m, &n, index);
	if (spin)
		cpu->depth = n.depth;
	else
		set_depth(m, &who, n.depth, ev);
	return 0;
}

/* Tracepoints at each try say who took the lock, unless the record of its release may be lost. */
static void begin_file(struct model *m, const struct event *ev)
{
	const struct file_hold *h = file_holds_find(m->file_holds, ev);
	struct event with = *ev;

	if (h && h->since_ns >= m->lost_until && h->since_ns <= ev->time)
		with.begin.held_ns = ev->time - h->since_ns;
	if (with.begin.held_ns && h->pid > 0 && !task_has_ended(m->tasks, h->pid)) {
		with.begin.owner = h->reads ? WAITREC_READ : WAITREC_OWNED;
		with.begin.owner_pid = with.begin.owner_tid = h->pid;
		with.begin.owner_asked = false;
	}
	begin_owner(m, &with);
}

int pair_begin(struct model *m, const struct event *ev)
{
	int code = name_file(m, ev);

	code = code < 0 ? code : begin(m, ev);
	if (code == 0 && ev->begin.owner_file)
		begin_file(m, ev);
	else if (code == 0)
		begin_owner(m, ev);
	return code;
}

/*
 * The holder of the lock when the innermost wait of the task for it began: reported right after the
 * begin. A mutex is read again before each sleep: the first report counts. A task that is not
 * measured has no wait here.
 */
int pair_owner(struct model *m, const struct event *ev)
{
	const uint32_t *t = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);
	uint32_t at;

	if (!t)
		return 0;
	const struct task *task = &m->tasks->tasks[*t];
	const struct nest n = {.waits = m->tasks->tasks[*t].waits, .depth = task->depth};
	if (!find_wait(m, &n, ev->owner.lock, &at))
		return 0;
	struct wait *w = &m->waits->waits[n.waits[at]];
	uint32_t owner;
	if (ev->owner.hint)
		note_exited_reader(m, w, ev->owner.tid, ev->time);
	if (!find_owner(m, ev->owner.pid, ev->owner.tid,
			ev->owner.hint ? WAITREC_READ : WAITREC_OWNED, &owner))
		return 0;
	note_owner(m, w, owner, ev->time);
	sum_by_owner(m, w);
	return cell_owner_task(owner) ? task_name(m->tasks, cell_owner_task(owner), ev->owner.comm)
				      : 0;
}

/* Ends the wait at @at; those nested in it have lost their ends. */
static void finish(struct model *m, struct nest *n, uint32_t at, const struct event *ev)
{
	struct wait *w = &m->waits->waits[n->waits[at]];

	give_up(m, n, at + 1);
	if (!ev->end.ret)
		m->locks->locks[w->lock].last_got_ns = ev->time;
	w->held_by = holder_last(m, w);
	wait_parts_end(m, w, ev->time);
	account_end(m, w, ev);
	if (m->held->max && !ev->end.ret)
		holds_got(m, w, ev->time);
	if (m->blame->max && !ev->end.ret)
		blame_got(m, w);
	if (!ev->end.ret)
		holder_got(m, w, ev->time);
	lockqueue_end(m, w, ev->time, !ev->end.ret);
	if (w->by_look && (w->doubtful || w->no_cpu))
		m->damage->unmatched_end++;
	else
		m->last_wait = n->waits[at];
	take_out(m, n, at);
}

/* The task whose sleeping wait ends; NULL: there is no room for it. */
static struct task *task_of_end(struct model *m, const struct event *ev)
{
	const uint32_t *known = map64_get(&m->tasks->by_tid, (uint32_t)ev->tid);
	uint32_t t = known ? *known : TASK_OTHER;

	if (!known && ev->tid > 0)
		t = task_get(m->tasks, ev->pid, ev->tid);
	return t != TASK_OTHER ? &m->tasks->tasks[t] : NULL;
}

/* When a signal ended it is not known. */
static bool is_over_before(const struct event *ev)
{
	return ev->end.ret == FILELOCK_OVER && filelock_is(ev->end.lock);
}

/*
 * A task that is through with its try for a file has no other file to wait for. Most tries need not
 * wait: without a begin there is nothing missing.
 */
static void end_file(struct model *m, const struct sleeper *who, struct nest *n,
		     const struct event *ev)
{
	for (uint32_t i = n->depth; i-- > 0;)
		if (filelock_is(m->waits->waits[n->waits[i]].addr))
			give_up(m, n, i);
	if (who->task || who->stray)
		set_depth(m, who, n->depth, ev);
}

int pair_end(struct model *m, const struct event *ev)
{
	struct model_cpu *cpu = model_cpu(m, ev->cpu);
	uint32_t at;

	if (!cpu || (ev->end.owner_file && file_holds_take(m->file_holds, ev) < 0))
		return -ENOMEM;
	struct nest n = {.waits = cpu->waits, .depth = cpu->depth};
	if (n.depth && find_wait(m, &n, ev->end.lock, &at)) {
		finish(m, &n, at, ev);
		cpu->depth = n.depth;
		return 0;
	}
	struct task *task = task_of_end(m, ev);
	const struct sleeper who = {.task = task, .stray = untracked_find(m->untracked, ev->tid)};
	if (task)
		task->end_ns = ev->time;
	if (task || who.stray)
		n = nest_of(&who);
	if ((task || who.stray) && !is_over_before(ev) && find_ending(m, &n, ev->end.lock, &at)) {
		finish(m, &n, at, ev);
		set_depth(m, &who, n.depth, ev);
		cpu->slept_ns = ev->time;
		return 0;
	}
	if ((task || who.stray) && is_part(m, &n, ev->end.lock))
		return 0;
	if (filelock_is(ev->end.lock)) {
		end_file(m, &who, &n, ev);
		return 0;
	}
	lockqueue_seen_unreported(m, ev->end.lock);
	m->damage->unmatched_end++;
	return 0;
}

void pair_untracked_gone(struct model *m, int32_t tid)
{
	struct untracked *s = untracked_find(m->untracked, tid);

	if (!s)
		return;
	struct nest n = {.waits = s->waits, .depth = s->depth};
	give_up(m, &n, 0);
	untracked_put(m->untracked, s);
}

void pair_task_gone(struct model *m, uint32_t t)
{
	struct task *task = &m->tasks->tasks[t];
	struct nest n = {.waits = task->waits, .depth = task->depth};

	give_up(m, &n, 0);
	task->depth = 0;
	blame_task_gone(m, t);
}

void pair_vanished(struct model *m, uint32_t index)
{
	struct task *task = &m->tasks->tasks[m->waits->waits[index].task];
	struct nest n = {.waits = task->waits, .depth = task->depth};

	for (uint32_t i = 0; i < n.depth; i++)
		if (n.waits[i] == index) {
			give_up_one(m, &n, i);
			break;
		}
	task->depth = (uint8_t)n.depth;
}

/* Waits that began later are inside of it. */
void pair_insert(struct model *m, uint32_t index)
{
	struct task *task = &m->tasks->tasks[m->waits->waits[index].task];
	uint32_t at = task->depth++;

	for (;
	     at && m->waits->waits[task->waits[at - 1]].begin_ns > m->waits->waits[index].begin_ns;
	     at--)
		task->waits[at] = task->waits[at - 1];
	task->waits[at] = index;
}

void pair_tick(struct model *m)
{
	for (uint32_t i = 0; i < m->n_cpus; i++) {
		struct model_cpu *cpu = &m->cpus[i];
		struct nest n = {.waits = cpu->waits, .depth = cpu->depth};

		for (uint32_t k = n.depth; k-- > 0;) {
			if (m->waits->waits[n.waits[k]].begin_ns >= cpu->slept_ns)
				continue;
			give_up_one(m, &n, k);
		}
		cpu->depth = n.depth;
	}
}

static void doubt(struct model *m, uint32_t cpu, uint64_t until_ns)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		struct wait *w = &m->waits->waits[i];
		bool reported = cpu == PAIR_ANY_CPU || w->cpu == cpu ||
				!locktype_is_spin(m->locks->locks[w->lock].type);
		if (!w->used || w->doubtful || !reported || w->begin_ns >= until_ns)
			continue;
		lose_end(m, w);
		w->doubtful = true;
		if (m->held->max) {
			holds_waits(m, w->lock, -1);
			release_unqueue(m, w);
			lockqueue_doubt(m, w);
		}
		if (w->blame)
			blame_over(m, w);
	}
	if (m->blame->max)
		blame_lost(m);
	blame_take_back(m);
}

/* Like push() and take_out(). */
static void renew(struct model *m, uint32_t index)
{
	struct wait *w = &m->waits->waits[index];
	const struct lock old = m->locks->locks[w->lock];
	const struct lock_has has = holder_state(m, w->lock);

	m->locks->locks[w->lock].waiting--;
	if (m->held->max) {
		holds_waits(m, w->lock, -1);
		release_unqueue(m, w);
	}
	holder_gives_up(m, w);
	if (w->blame) {
		blame_not_taken(m, w);
		blame_over(m, w);
	}
	lockqueue_give_up(m, w);
	w->lock = lock_get(m->locks, old.addr, (enum lock_type)old.type);
	struct lock *new = &m->locks->locks[w->lock];
	if (!new->begin_ns || new->begin_ns > w->begin_ns)
		new->begin_ns = w->begin_ns;
	new->cgroup = old.cgroup;
	w->cell = cell_prefetch(m->cells, wait_key(w));
	begin_waiting(m, index);
	if (w->reported != OWNER_NONE)
		holder_since(m, w->lock, w->reported, w->begin_ns);
	/* Reports since then are of this wait, too. */
	holder_move(m, w->lock, &has);
}

void pair_renew(struct model *m, uint64_t addr)
{
	for (uint32_t i = 1; i < m->waits->high; i++) {
		const struct wait *w = &m->waits->waits[i];
		if (w->used && !w->doubtful && w->addr == addr && m->locks->locks[w->lock].over)
			renew(m, i);
	}
}

void pair_lost(struct model *m, uint32_t cpu, uint64_t until_ns)
{
	doubt(m, cpu, until_ns);
	if (until_ns > m->lost_until)
		m->lost_until = until_ns;
	for (uint32_t i = 0; i < m->n_cpus; i++)
		if ((cpu == PAIR_ANY_CPU || cpu == i) && until_ns > m->cpus[i].lost_until)
			m->cpus[i].lost_until = until_ns;
}
