// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups functions by the work they do: prefixes of names, without leading underscores. The first
 * match wins, so special prefixes precede general ones. The names are from 5.19 to 6.18: functions
 * in the call chains of tasks that wait, spin or do accounting.
 */
#include "kontend/pathgroup.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *prefix;
	enum path_group group;
} functions[] = {
	{"perf_mux_hrtimer", PATH_PERF},
	{"perf_rotate_context", PATH_PERF},
	{"perf_event_task_sched_", PATH_PERF},
	{"perf_event_context_sched_", PATH_PERF},
	{"perf_cgroup_switch", PATH_PERF},
	{"perf_adjust_freq_unthr", PATH_PERF},
	{"perf_event_task_tick", PATH_PERF},
	{"ctx_sched_in", PATH_PERF},
	{"ctx_sched_out", PATH_PERF},
	{"ctx_flexible_sched_in", PATH_PERF},
	{"ctx_pinned_sched_in", PATH_PERF},
	{"visit_groups_merge", PATH_PERF},
	{"merge_sched_in", PATH_PERF},
	{"event_sched_in", PATH_PERF},
	{"event_sched_out", PATH_PERF},
	{"group_sched_in", PATH_PERF},
	{"group_sched_out", PATH_PERF},
	{"toggle_bp_slot", PATH_BREAKPOINT},
	{"task_bp_pinned", PATH_BREAKPOINT},
	{"max_task_bp_pinned", PATH_BREAKPOINT},
	{"fetch_bp_busy_slots", PATH_BREAKPOINT},
	{"reserve_bp_slot", PATH_BREAKPOINT},
	{"release_bp_slot", PATH_BREAKPOINT},
	{"modify_bp_slot", PATH_BREAKPOINT},
	{"bp_constraints_", PATH_BREAKPOINT},
	{"bp_perf_event_destroy", PATH_BREAKPOINT},
	{"bp_slots_histogram", PATH_BREAKPOINT},
	{"hw_breakpoint_event_init", PATH_BREAKPOINT},
	{"register_perf_hw_breakpoint", PATH_BREAKPOINT},
	{"uprobe_", PATH_UPROBE},
	{"uretprobe_", PATH_UPROBE},
	{"handle_swbp", PATH_UPROBE},
	{"handler_chain", PATH_UPROBE},
	{"find_uprobe", PATH_UPROBE},
	{"find_active_uprobe", PATH_UPROBE},
	{"xol_", PATH_UPROBE},
	{"arch_uprobe_", PATH_UPROBE},
	{"arch_uretprobe_", PATH_UPROBE},
	{"percpu_rwsem_", PATH_PERCPU_RWSEM},
	{"percpu_down_", PATH_PERCPU_RWSEM},
	{"percpu_up_", PATH_PERCPU_RWSEM},
	{"rwsem_", PATH_RWSEM},
	{"down_read", PATH_RWSEM},
	{"down_write", PATH_RWSEM},
	{"up_read", PATH_RWSEM},
	{"up_write", PATH_RWSEM},
	{"downgrade_write", PATH_RWSEM},
	{"ww_mutex_", PATH_MUTEX},
	{"mutex_", PATH_MUTEX},
	{"rt_mutex_", PATH_RTMUTEX},
	{"rtlock_", PATH_RTMUTEX},
	{"rt_spin_", PATH_RTMUTEX},
	{"queued_read_lock", PATH_RWLOCK},
	{"queued_write_lock", PATH_RWLOCK},
	{"raw_read_lock", PATH_RWLOCK},
	{"raw_write_lock", PATH_RWLOCK},
	{"raw_read_unlock", PATH_RWLOCK},
	{"raw_write_unlock", PATH_RWLOCK},
	{"native_queued_spin_lock", PATH_SPINLOCK},
	{"pv_queued_spin_", PATH_SPINLOCK},
	{"pv_wait", PATH_SPINLOCK},
	{"pv_kick", PATH_SPINLOCK},
	{"queued_spin_lock", PATH_SPINLOCK},
	{"raw_spin_", PATH_SPINLOCK},
	{"raw_callee_save___pv_queued_spin", PATH_SPINLOCK},
	{"raw_callee_save___native_queued_spin", PATH_SPINLOCK},
	{"osq_", PATH_LOCK},
	{"down_interruptible", PATH_SEMAPHORE},
	{"down_killable", PATH_SEMAPHORE},
	{"down_timeout", PATH_SEMAPHORE},
	{"down_trylock", PATH_SEMAPHORE},
	{"down_common", PATH_SEMAPHORE},
	{"lock_mm_and_find_vma", PATH_RWSEM},
	{"cpuidle_", PATH_IDLE},
	{"cpu_startup_entry", PATH_IDLE},
	{"default_idle", PATH_IDLE},
	{"do_idle", PATH_IDLE},
	{"intel_idle", PATH_IDLE},
	{"acpi_idle", PATH_IDLE},
	{"pv_native_safe_halt", PATH_IDLE},
};

static const char *const names[PATH_GROUPS] = {
	[PATH_NONE] = "",
	[PATH_IRQ_OFF] = "irq-off?",
	[PATH_IDLE] = "idle",
	[PATH_SPINLOCK] = "spinlock",
	[PATH_RWLOCK] = "rwlock",
	[PATH_MUTEX] = "mutex",
	[PATH_RTMUTEX] = "rtmutex",
	[PATH_SEMAPHORE] = "semaphore",
	[PATH_RWSEM] = "rwsem",
	[PATH_PERCPU_RWSEM] = "percpu-rwsem",
	[PATH_LOCK] = "lock",
	[PATH_PERF] = "perf",
	[PATH_BREAKPOINT] = "breakpoint",
	[PATH_UPROBE] = "uprobe",
};

enum path_group pathgroup_of(const char *function)
{
	while (*function == '_')
		function++;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (!strncmp(function, functions[i].prefix, strlen(functions[i].prefix)))
			return functions[i].group;
	return PATH_NONE;
}

bool pathgroup_allows_irqs(const char *function)
{
	static const char *const prefixes[] = {"raw_spin_unlock_irq", "raw_read_unlock_irq",
					       "raw_write_unlock_irq"};

	while (*function == '_')
		function++;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(function, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

const char *pathgroup_name(enum path_group g)
{
	return g < PATH_GROUPS ? names[g] : "";
}

int pathgroup_parse(const char *name, enum path_group *ret)
{
	for (int g = PATH_IRQ_OFF; g < PATH_GROUPS; g++) {
		if (!strcmp(names[g], name)) {
			*ret = (enum path_group)g;
			return 0;
		}
	}
	return -EINVAL;
}
