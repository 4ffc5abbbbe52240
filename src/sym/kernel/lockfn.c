// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kinds of kernel functions that matter for locks, by their names: locking code, trylocks, and
 * the accounting of breakpoint slots.
 *
 * Locking code is what a caller of a lock is not. The kernel keeps most of the locking code
 * between __sched_text_start/end and __lock_text_start/end. Functions that are inlined elsewhere,
 * spin outside (MCS queues, rwsem and rtmutex helpers) or lack such a section on some architecture
 * are known by name. Names are compared without leading underscores and compiler suffixes. A table
 * entry is exact unless it ends in '*'. A prefix is used only where no other kernel function begins
 * like that: if a caller matched, its waits would be charged to another function. The path of an
 * event from the tracepoint to perf or BPF counts as locking code. Some of it (bpf_trace_run*) is
 * common to all tracepoints and does not prove that a tracing frame is near.
 * __schedule() is in the sched text, but no lock function is ever called through it: it is in a
 * chain only when the scheduler itself waits for a runqueue lock, and then it is the caller.
 */
#include "kallsyms.h"
#include "kontend/bisect.h"
#include <stdlib.h>
#include <string.h>

static const char *const lockfn_names[] = {
	"arch_read_lock_wait",
	"arch_spin_lock_*",
	"arch_write_lock_wait",
	"atomic_dec_and_lock*",
	"atomic_dec_and_mutex_lock",
	"atomic_dec_and_raw_lock*",
	"bpf_res_spin_lock*",
	"bpf_res_spin_unlock*",
	"bpf_trace_run*",
	"do_raw_read_lock",
	"do_raw_spin_lock",
	"do_raw_spin_trylock",
	"do_raw_write_lock",
	"do_raw_read_unlock",
	"do_raw_spin_unlock",
	"do_raw_write_unlock",
	"double_lock_balance",
	"double_rq_lock",
	"down",
	"down_common",
	"down_interruptible",
	"down_killable",
	"down_read",
	"down_read_common",
	"down_read_interruptible",
	"down_read_killable",
	"down_read_killable_nested",
	"down_read_nested",
	"down_read_non_owner",
	"down_read_trylock",
	"down_timeout",
	"down_trylock",
	"down_write",
	"down_write_common",
	"down_write_killable",
	"down_write_killable_nested",
	"down_write_nest_lock",
	"down_write_nested",
	"down_write_trylock",
	"downgrade_write",
	"htab_lock_bucket",
	"htab_unlock_bucket",
	"lock_acquire",
	"lock_contended",
	"mmap_lock_do_trace_*",
	"mutex_add_waiter",
	"mutex_handoff",
	"mutex_lock*",
	"mutex_optimistic_spin",
	"mutex_remove_waiter",
	"mutex_spin_on_owner",
	"mutex_trylock*",
	"mutex_unlock*",
	"native_queued_spin_*",
	"osq_lock",
	"osq_unlock",
	"osq_wait_next",
	"perf_tp_event",
	"perf_trace_run_bpf_submit",
	"percpu_down_read*",
	"percpu_down_write*",
	"percpu_rwsem_*",
	"percpu_up_read",
	"percpu_up_write",
	"pv_queued_spin_*",
	"queued_read_lock*",
	"queued_spin_lock*",
	"queued_write_lock*",
	"raw_callee_save___native_queued_spin_*",
	"raw_callee_save___pv_queued_spin_*",
	"raw_read_lock*",
	"raw_read_trylock*",
	"raw_read_unlock*",
	"raw_spin_lock*",
	"raw_spin_rq_lock*",
	"raw_spin_rq_trylock",
	"raw_spin_rq_unlock",
	"raw_spin_trylock*",
	"raw_spin_unlock*",
	"raw_write_lock*",
	"raw_write_trylock*",
	"raw_write_unlock*",
	"resilient_queued_spin_*",
	"resilient_tas_spin_*",
	"resilient_virt_spin_*",
	"rt_mutex_*",
	"rt_read_lock",
	"rt_read_trylock",
	"rt_read_unlock",
	"rt_spin_lock",
	"rt_spin_lock_nest_lock",
	"rt_spin_lock_nested",
	"rt_spin_lock_unlock",
	"rt_spin_trylock*",
	"rt_spin_unlock",
	"rt_write_lock*",
	"rt_write_trylock",
	"rt_write_unlock",
	"rtlock_*",
	"rwbase_*",
	"rwsem_*",
	"task_blocks_on_rt_mutex",
	"task_rq_lock",
	"trace_call_bpf",
	"try_to_take_rt_mutex",
	"up",
	"up_read",
	"up_read_non_owner",
	"up_write",
	"virt_spin_lock",
	"ww_mutex_*",
	"ww_rt_mutex_*",
};

enum {
	LOCKFN_NAMES = sizeof(lockfn_names) / sizeof(lockfn_names[0]),
	LOCKFN_TRACE_DEPTH = 8,
};
_Static_assert(LOCKFN_NAMES < UINT8_MAX, "indices are bytes");

static bool lockfn_matches(const char *pattern, const char *name, size_t len)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return len >= n - 1 && !memcmp(pattern, name, n - 1);
	return len == n && !memcmp(pattern, name, n);
}

/* True if the name is in the table from index @from on, before @to. */
static bool lockfn_is_known(unsigned from, unsigned to, const char *name, size_t len)
{
	for (; from < to; from++)
		if (lockfn_matches(lockfn_names[from], name, len))
			return true;
	return false;
}

/* True for the names of functions that run at these events, by their endings. */
static bool lockfn_is_tracing(const char *name, size_t len)
{
	static const char begin[] = "contention_begin", end[] = "contention_end";
	static const char away[] = "_sched_switch", trace[] = "traceiter_";
	enum {
		TRACE = sizeof(trace) - 1,
		BEGIN = sizeof(begin) - 1,
		END = sizeof(end) - 1,
		AWAY = sizeof(away) - 1
	};

	if (len > TRACE && !memcmp(name, trace, TRACE))
		return true;
	if (len < AWAY || !strchr("ndh", name[len - 1]))
		return false;
	return !memcmp(name + len - AWAY, away, AWAY) ||
	       (len >= END && !memcmp(name + len - END, end, END)) ||
	       (len >= BEGIN && !memcmp(name + len - BEGIN, begin, BEGIN));
}

static unsigned lockfn_pair(const char *name, size_t len)
{
	return (len > 0 ? name[0] & 31u : 0) << 5 | (len > 1 ? name[1] & 31u : 0);
}

void lockfn_filter_init(struct lockfn_filter *f)
{
	memset(f, 0, sizeof(*f));
	for (unsigned i = LOCKFN_NAMES; i-- > 0;) {
		unsigned pair = lockfn_pair(lockfn_names[i], strlen(lockfn_names[i]));

		f->from[pair] = (uint8_t)i;
		if (!f->to[pair])
			f->to[pair] = (uint8_t)(i + 1);
	}
}

enum sym_lockfn lockfn_by_name(const struct lockfn_filter *f, const char *name, size_t len)
{
	for (; len && *name == '_'; len--)
		name++;
	unsigned pair = lockfn_pair(name, len);

	if (lockfn_is_tracing(name, len))
		return SYM_LOCKFN_TRACE;
	return lockfn_is_known(f->from[pair], f->to[pair], name, len) ? SYM_LOCKFN_LOCK
								      : SYM_LOCKFN_NOT;
}

/* Marks functions between two linker labels. */
static void lockfn_mark_range(const struct sym *s, struct sym_entry *entries, size_t n,
			      const uint64_t range[2])
{
	size_t i = range[0] ? BISECT(entries, n, addr, range[0] - 1) : 0;

	for (; i < n && entries[i].addr < range[1]; i++) {
		struct sym_entry *e = &entries[i];

		if (!e->lockfn && sym_type_is_code(e->type) &&
		    strcmp(sym_text(s, e), "__schedule") != 0)
			e->lockfn = SYM_LOCKFN_LOCK;
	}
}

void lockfn_mark_ranges(const struct sym *s, struct sym_entry *entries, size_t n)
{
	lockfn_mark_range(s, entries, n, s->sched_text);
	lockfn_mark_range(s, entries, n, s->lock_text);
}

static enum sym_lockfn lockfn_at(const struct sym *s, uint64_t addr)
{
	const struct sym_entry *e = sym_find(s, addr);

	return e ? (enum sym_lockfn)e->lockfn : SYM_LOCKFN_NOT;
}

bool sym_is_lock_function(const struct sym *s, uint64_t addr)
{
	return lockfn_at(s, addr) != SYM_LOCKFN_NOT;
}

bool sym_is_tracing(const struct sym *s, uint64_t addr)
{
	return lockfn_at(s, addr) == SYM_LOCKFN_TRACE;
}

bool sym_is_resilient(const struct sym *s, uint64_t addr)
{
	static const char begin[] = "resilient_";
	const struct sym_entry *e = sym_find(s, addr);

	return e && e->lockfn == SYM_LOCKFN_LOCK &&
	       !strncmp(sym_text(s, e), begin, sizeof(begin) - 1);
}

static bool runs_programs(const struct sym *s, uint64_t addr)
{
	static const char begin[] = "bpf_trace_run";
	const struct sym_entry *e = sym_find(s, addr);

	return e && !strncmp(sym_text(s, e), begin, sizeof(begin) - 1);
}

/*
 * A chain taken by a BPF program begins with that program, whose name has no meaning. Only the
 * first tracing frame counts: frames further out belong to programs that wait for a lock
 * themselves.
 */
uint32_t sym_after_tracing(const struct sym *s, const uint64_t *frames, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && i < LOCKFN_TRACE_DEPTH && !sym_is_tracing(s, frames[i]))
		i++;
	/* The function that runs at the event may be inlined into the one that runs programs. */
	if (i == n || i == LOCKFN_TRACE_DEPTH)
		return n > 1 && runs_programs(s, frames[0]);
	while (i < n && sym_is_tracing(s, frames[i]))
		i++;
	return i;
}

uint32_t sym_caller(const struct sym *s, const uint64_t *frames, uint32_t n)
{
	if (!n)
		return 0;
	uint32_t i = sym_after_tracing(s, frames, n);

	while (i < n && sym_is_lock_function(s, frames[i]))
		i++;
	return i < n ? i : n - 1;
}

/*
 * Functions that try to get a lock and return at once if they cannot. They never wait, so the
 * kernel reports no contention for them, however long CPUs spend there in an atomic instruction on
 * a contended cache line.
 */
const char sym_trylock_note[] =
	"a trylock spins in cmpxchg and does not wait: the kernel reports no wait";

static const char *const lockfn_trylocks[] = {
	"arch_spin_trylock",
	"do_raw_read_trylock",
	"do_raw_spin_trylock",
	"do_raw_write_trylock",
	"down_read_trylock",
	"down_trylock",
	"down_write_trylock",
	"mutex_trylock*",
	"percpu_down_read_trylock",
	"queued_read_trylock",
	"queued_spin_trylock",
	"queued_write_trylock",
	"raw_read_trylock*",
	"raw_spin_rq_trylock",
	"raw_spin_trylock*",
	"raw_write_trylock*",
	"resilient_queued_spin_trylock",
	"rt_mutex_slowtrylock",
	"rt_mutex_trylock",
	"rt_read_trylock",
	"rt_spin_trylock*",
	"rt_write_trylock",
	"rwbase_read_trylock",
	"rwbase_write_trylock",
	"ww_mutex_trylock",
};

bool sym_is_trylock(const char *name)
{
	name += strspn(name, "_");
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(lockfn_trylocks) / sizeof(*lockfn_trylocks); i++)
		if (lockfn_matches(lockfn_trylocks[i], name, len))
			return true;
	return false;
}

/*
 * Callers that wait for the locks around breakpoint slots. The slot accounting is guarded by
 * bp_cpuinfo_sem and the perf_event_mutex of a task (6.1 and later), or by the global nr_bp_mutex
 * (before). The events do not name these locks, but the functions that take them have names. Seen
 * with breakpoints opened and closed in parallel on 6.18: bp_constraints_lock(), both as writer and
 * reader. Compilers inline these functions into one another differently, so all of them are listed,
 * and the functions that open, inherit and close the events. Sorted.
 */
static const struct slotfn {
	const char *name;
	bool accounts; /* takes only the locks of the accounting */
} slotfn_names[] = {
	{"bp_constraints_lock", true},
	{"bp_constraints_unlock", true},
	{"bp_perf_event_destroy", true},
	{"dbg_release_bp_slot", true},
	{"dbg_reserve_bp_slot", true},
	{"do_sys_perf_event_open"},
	{"find_get_context"},
	{"free_event"},
	{"hw_breakpoint_event_init", true},
	{"hw_breakpoint_is_used"},
	{"inherit_event"},
	{"inherit_group"},
	{"inherit_task_group"},
	{"modify_bp_slot", true},
	{"modify_breakpoint"},
	{"modify_user_hw_breakpoint"},
	{"modify_user_hw_breakpoint_check"},
	{"perf_event_alloc"},
	{"perf_event_ctx_lock_nested"},
	{"perf_event_exit_event"},
	{"perf_event_exit_task"},
	{"perf_event_exit_task_context"},
	{"perf_event_free_task"},
	{"perf_event_init_context"},
	{"perf_event_init_task"},
	{"perf_event_release_kernel"},
	{"perf_event_task_disable"},
	{"perf_event_task_enable"},
	{"perf_install_in_context"},
	{"perf_release"},
	{"perf_remove_from_owner"},
	{"register_perf_hw_breakpoint", true},
	{"register_user_hw_breakpoint"},
	{"register_wide_hw_breakpoint"},
	{"release_bp_slot", true},
	{"reserve_bp_slot", true},
	{"se_sys_perf_event_open"},
	{"toggle_bp_slot"},
	{"unregister_hw_breakpoint"},
	{"unregister_wide_hw_breakpoint"},
	{"x64_sys_perf_event_open"},
};

struct slotfn_key {
	const char *name;
	size_t len;
};

static int slotfn_compare(const void *key, const void *slotfn)
{
	const struct slotfn_key *w = key;
	const char *name = ((const struct slotfn *)slotfn)->name;
	int order = strncmp(w->name, name, w->len);

	return order ? order : name[w->len] ? -1 : 0;
}

static const struct slotfn *slotfn_find(const char *name)
{
	while (*name == '_')
		name++;
	struct slotfn_key w = {name, strcspn(name, ".")};

	return bsearch(&w, slotfn_names, sizeof(slotfn_names) / sizeof(slotfn_names[0]),
		       sizeof(slotfn_names[0]), slotfn_compare);
}

bool sym_is_slot_function(const char *name)
{
	return slotfn_find(name);
}

bool sym_accounts_slots(const char *name)
{
	const struct slotfn *e = slotfn_find(name);

	return e && e->accounts;
}

const char *sym_percpu_rwsem(const char *name)
{
	static const char *const known[][2] = {
		{"cgroup_attach_lock", "cgroup_threadgroup_rwsem"},
		{"cgroup_attach_task_all", "cgroup_threadgroup_rwsem"},
		{"cgroup_can_fork", "cgroup_threadgroup_rwsem"},
		{"cgroup_procs_write_start", "cgroup_threadgroup_rwsem"},
		{"cgroup_transfer_tasks", "cgroup_threadgroup_rwsem"},
		{"cgroup_update_dfl_csses", "cgroup_threadgroup_rwsem"},
		{"exit_signals", "cgroup_threadgroup_rwsem"},
		{"cpus_read_lock", "cpu_hotplug_lock"},
		{"cpus_write_lock", "cpu_hotplug_lock"},
		{"dup_mmap", "dup_mmap_sem"},
		{"register_for_each_vma", "dup_mmap_sem"},
		{"uprobe_start_dup_mmap", "dup_mmap_sem"},
		{"flock_lock_inode", "file_rwsem"},
		{"locks_start", "file_rwsem"},
		{"posix_lock_inode", "file_rwsem"},
	};
	size_t len = strcspn(name, ".");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i][0]) == len && !strncmp(name, known[i][0], len))
			return known[i][1];
	return NULL;
}
