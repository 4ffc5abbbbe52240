// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callers that wait for the locks around breakpoint slots. The slot accounting is guarded by
 * bp_cpuinfo_sem and the perf_event_mutex of a task (6.1 and later), or by the global nr_bp_mutex
 * (before). The events do not name these locks, but the functions that take them have names. Seen
 * with breakpoints opened and closed in parallel on 6.18: bp_constraints_lock(), both as writer and
 * reader. Compilers inline these functions into one another differently, so all of them are listed,
 * and the functions that open, inherit and close the events. Names are compared without leading
 * underscores and compiler suffixes; the table is sorted.
 */
#include "kontend/sym.h"

#include <stdlib.h>
#include <string.h>

static const struct entry {
	const char *name;
	bool accounts; /* takes only the locks of the accounting */
} names[] = {
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

struct wanted {
	const char *name;
	size_t len;
};

static int compare(const void *key, const void *entry)
{
	const struct wanted *w = key;
	const char *name = ((const struct entry *)entry)->name;
	int order = strncmp(w->name, name, w->len);

	return order ? order : name[w->len] ? -1 : 0;
}

static const struct entry *find_function(const char *name)
{
	while (*name == '_')
		name++;
	struct wanted w = {name, strcspn(name, ".")};

	return bsearch(&w, names, sizeof(names) / sizeof(names[0]), sizeof(names[0]), compare);
}

bool sym_is_slot_function(const char *name)
{
	return find_function(name);
}

bool sym_accounts_slots(const char *name)
{
	const struct entry *e = find_function(name);

	return e && e->accounts;
}
