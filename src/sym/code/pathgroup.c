// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups functions by the work they do: prefixes of names, without leading underscores. The first
 * match wins, so special prefixes precede general ones. The names are from 5.19 to 6.18: functions
 * in the call chains of tasks that wait, spin or do accounting.
 *
 * The rules of user-defined groups are checked before that table, in the order given. A rule is the
 * name of a function, or the beginning of names and a '*'; leading underscores are ignored, too.
 */
#include "kontend/pathgroup.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *prefix;
	enum path_group group;
} prefixes[] = {
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
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(function, prefixes[i].prefix, strlen(prefixes[i].prefix)))
			return prefixes[i].group;
	return PATH_NONE;
}

bool pathgroup_allows_irqs(const char *function)
{
	static const char *const unlocks[] = {"raw_spin_unlock_irq", "raw_read_unlock_irq",
					      "raw_write_unlock_irq"};

	while (*function == '_')
		function++;
	for (size_t i = 0; i < sizeof(unlocks) / sizeof(*unlocks); i++)
		if (!strncmp(function, unlocks[i], strlen(unlocks[i])))
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

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";

static bool rule_fits(const struct pathgroup_rule *r, const char *function)
{
	return strncmp(function, r->name, r->length) == 0 && (r->prefix || !function[r->length]);
}

enum path_group pathgroup_find(const struct pathgroups *own, const char *function)
{
	const char *bare = function + strspn(function, "_");

	for (unsigned i = 0; own && i < own->n_rules; i++)
		if (rule_fits(&own->rules[i], bare))
			return (enum path_group)own->rules[i].group;
	return pathgroup_of(function);
}

const char *pathgroup_title(const struct pathgroups *own, enum path_group g)
{
	unsigned i = (unsigned)g - PATH_GROUPS;

	if (g < PATH_GROUPS)
		return pathgroup_name(g);
	return own && i < own->n_names ? own->names[i] : "";
}

int pathgroup_lookup(const struct pathgroups *own, const char *name, enum path_group *ret)
{
	for (unsigned i = 0; own && i < own->n_names; i++) {
		if (strcmp(own->names[i], name) == 0) {
			*ret = (enum path_group)(PATH_GROUPS + i);
			return 0;
		}
	}
	return pathgroup_parse(name, ret);
}

static int name_group(struct pathgroups *own, const char *name, enum path_group *ret,
		      struct error *err)
{
	if (pathgroup_lookup(own, name, ret) == 0)
		return 0;
	if (strlen(name) >= PATHGROUP_NAME)
		return error_set(err, -EINVAL, "the name of a group has at most %d characters",
				 PATHGROUP_NAME - 1);
	if (strcmp(name, "other") == 0)
		return error_set(
			err, -EINVAL,
			"'other' is reserved for functions in no group: choose another name");
	if (own->n_names == PATHGROUP_OWN)
		return error_set(err, -EINVAL, "there are more than %d user-defined groups",
				 PATHGROUP_OWN);
	snprintf(own->names[own->n_names], PATHGROUP_NAME, "%s", name);
	*ret = (enum path_group)(PATH_GROUPS + own->n_names++);
	return 0;
}

static int add_rule(struct pathgroups *own, enum path_group g, const char *s, size_t n,
		    struct error *err)
{
	struct pathgroup_rule r = {.group = (uint8_t)g, .prefix = s[n - 1] == '*'};
	size_t skip = strspn(s, "_");

	r.length = (uint8_t)(n - r.prefix);
	if (n > PATHGROUP_PATTERN || skip >= r.length || strspn(s, letters) < r.length)
		return error_set(
			err, -EINVAL,
			"'%.*s' is not a function name: give a name, or the beginning of names and "
			"a '*'",
			n > PATHGROUP_PATTERN ? PATHGROUP_PATTERN : (int)n, s);
	if (own->n_rules == PATHGROUP_RULES)
		return error_set(err, -EINVAL,
				 "there are more than %d functions in user-defined groups",
				 PATHGROUP_RULES);
	r.length = (uint8_t)(r.length - skip);
	memcpy(r.name, s + skip, r.length);
	own->rules[own->n_rules++] = r;
	return 0;
}

int pathgroup_add(struct pathgroups *own, const char *name, const char *functions,
		  struct error *err)
{
	enum path_group g = PATH_NONE;
	int r = name_group(own, name, &g, err);

	for (const char *s = functions + strspn(functions, " \t"); r == 0 && *s;) {
		size_t n = strcspn(s, " \t");
		r = add_rule(own, g, s, n, err);
		s += n;
		s += strspn(s, " \t");
	}
	return r;
}
