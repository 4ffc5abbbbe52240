// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of static locks by the functions that wait for them. Kernels without CONFIG_KALLSYMS_ALL
 * have no names of data, but a function that takes one static lock of its type says which lock it
 * is. A function that takes several of one type, or one that it is given, is in none of these
 * tables. Compilers put functions with one caller into that, so callers are here as well.
 */
#include "kontend/sym.h"

#include <string.h>

struct static_lock {
	const char *function, *lock;
};

static const struct static_lock spinlocks[] = {
	{"__insert_inode_hash", "inode_hash_lock"},
	{"__percpu_counter_init_many", "percpu_counters_lock"},
	{"__remove_inode_hash", "inode_hash_lock"},
	{"_mix_pool_bytes", "input_pool.lock"},
	{"add_device_randomness", "input_pool.lock"},
	{"alloc_pid", "pidmap_lock"},
	{"alloc_super", "sb_lock"},
	{"cgroup_destroy_locked", "css_set_lock"},
	{"cgroup_do_freeze", "css_set_lock"},
	{"cgroup_mkdir", "css_set_lock"},
	{"cgroup_enter_frozen", "css_set_lock"},
	{"cgroup_leave_frozen", "css_set_lock"},
	{"cgroup_migrate_execute", "css_set_lock"},
	{"cgroup_move_task", "css_set_lock"},
	{"cgroup_post_fork", "css_set_lock"},
	{"cgroup_task_dead", "css_set_lock"},
	{"cgroup_update_frozen", "css_set_lock"},
	{"css_task_iter_end", "css_set_lock"},
	{"css_task_iter_next", "css_set_lock"},
	{"css_task_iter_start", "css_set_lock"},
	{"d_exchange", "rename_lock"},
	{"d_move", "rename_lock"},
	{"disable_pid_allocation", "pidmap_lock"},
	{"do_cgroup_task_dead", "css_set_lock"},
	{"extract_entropy", "input_pool.lock"},
	{"find_css_set", "css_set_lock"},
	{"find_inode_nowait", "inode_hash_lock"},
	{"find_uprobe", "uprobes_treelock"},
	{"folio_wait_bit_common", "folio_wait_table"},
	{"folio_wake_bit", "folio_wait_table"},
	{"force_qs_rnp", "rcu_node->lock"},
	{"free_percpu", "pcpu_lock"},
	{"free_pid", "pidmap_lock"},
	{"grab_super", "sb_lock"},
	{"iget5_locked", "inode_hash_lock"},
	{"iget_locked", "inode_hash_lock"},
	{"ilookup", "inode_hash_lock"},
	{"ilookup5_nowait", "inode_hash_lock"},
	{"inode_insert5", "inode_hash_lock"},
	{"insert_inode_locked", "inode_hash_lock"},
	{"iterate_supers", "sb_lock"},
	{"locks_delete_block", "blocked_lock_lock"},
	{"mix_interrupt_randomness", "input_pool.lock"},
	{"mntput_no_expire", "mount_lock"},
	{"note_gp_changes", "rcu_node->lock"},
	{"pcpu_alloc", "pcpu_lock"},
	{"pcpu_alloc_noprof", "pcpu_lock"},
	{"pcpu_balance_workfn", "pcpu_lock"},
	{"percpu_counter_destroy", "percpu_counters_lock"},
	{"percpu_counter_destroy_many", "percpu_counters_lock"},
	{"percpu_ref_kill_and_confirm", "percpu_ref_switch_lock"},
	{"percpu_ref_reinit", "percpu_ref_switch_lock"},
	{"percpu_ref_resurrect", "percpu_ref_switch_lock"},
	{"perf_event_alloc", "pmu->events_lock"},
	{"pgd_alloc", "pgd_lock"},
	{"pgd_free", "pgd_lock"},
	{"proc_sys_permission", "sysctl_lock"},
	{"put_css_set", "css_set_lock"},
	{"put_super", "sb_lock"},
	{"rcu_accelerate_cbs_unlocked", "rcu_node->lock"},
	{"rcu_core", "rcu_node->lock"},
	{"rcu_gp_cleanup", "rcu_node->lock"},
	{"rcu_gp_fqs_loop", "rcu_node->lock"},
	{"rcu_gp_init", "rcu_node->lock"},
	{"rcu_gp_kthread", "rcu_node->lock"},
	{"rcu_report_qs_rdp", "rcu_node->lock"},
	{"sget_fc", "sb_lock"},
	{"super_lock", "sb_lock"},
	{"task_cgroup_from_root", "css_set_lock"},
	{"unix_gc", "unix_gc_lock"},
	{"unix_inflight", "unix_gc_lock"},
	{"unix_notinflight", "unix_gc_lock"},
};

static const struct static_lock rwlocks[] = {
	{"__do_wait", "tasklist_lock"},
	{"__x64_sys_setpgid", "tasklist_lock"},
	{"bprm_execve", "binfmt_lock"},
	{"copy_process", "tasklist_lock"},
	{"do_exit", "tasklist_lock"},
	{"do_wait", "tasklist_lock"},
	{"exit_notify", "tasklist_lock"},
	{"find_uprobe", "uprobes_treelock"},
	{"kill_something_info", "tasklist_lock"},
	{"ksys_setsid", "tasklist_lock"},
	{"mm_update_next_owner", "tasklist_lock"},
	{"proc_lookup_de", "proc_subdir_lock"},
	{"proc_readdir_de", "proc_subdir_lock"},
	{"proc_register", "proc_subdir_lock"},
	{"ptrace_attach", "tasklist_lock"},
	{"ptrace_check_attach", "tasklist_lock"},
	{"release_task", "tasklist_lock"},
	{"remove_proc_entry", "proc_subdir_lock"},
	{"remove_proc_subtree", "proc_subdir_lock"},
	{"search_binary_handler", "binfmt_lock"},
	{"sys_setpgid", "tasklist_lock"},
	{"wait_task_zombie", "tasklist_lock"},
};

static const struct static_lock mutexes[] = {
	{"cgroup_kn_lock_live", "cgroup_mutex"},
	{"cgroup_lock", "cgroup_mutex"},
	{"cgroup_lock_and_drain_offline", "cgroup_mutex"},
	{"cgroup_path_from_kernfs_id", "cgroup_mutex"},
	{"cgroup_show_path", "cgroup_mutex"},
	{"css_free_rwork_fn", "cgroup_mutex"},
	{"css_killed_work_fn", "cgroup_mutex"},
	{"css_release_work_fn", "cgroup_mutex"},
	{"dev_ifconf", "rtnl_mutex"},
	{"dev_ioctl", "rtnl_mutex"},
	{"devinet_ioctl", "rtnl_mutex"},
	{"inet_rtm_deladdr", "rtnl_mutex"},
	{"inet_rtm_newaddr", "rtnl_mutex"},
	{"inet6_rtm_newaddr", "rtnl_mutex"},
	{"jump_label_update", "jump_label_mutex"},
	{"kmem_cache_destroy", "slab_mutex"},
	{"linkwatch_event", "rtnl_mutex"},
	{"pcpu_alloc", "pcpu_alloc_mutex"},
	{"pcpu_alloc_noprof", "pcpu_alloc_mutex"},
	{"pcpu_balance_workfn", "pcpu_alloc_mutex"},
	{"perf_trace_destroy", "event_mutex"},
	{"perf_trace_init", "event_mutex"},
	{"perf_uprobe_destroy", "event_mutex"},
	{"perf_uprobe_init", "event_mutex"},
	{"proc_cgroup_show", "cgroup_mutex"},
	{"rcu_barrier", "rcu_state.barrier_mutex"},
	{"rtnetlink_rcv_msg", "rtnl_mutex"},
	{"rtnl_dellink", "rtnl_mutex"},
	{"rtnl_dumpit", "rtnl_mutex"},
	{"rtnl_getlink", "rtnl_mutex"},
	{"rtnl_lock", "rtnl_mutex"},
	{"rtnl_lock_killable", "rtnl_mutex"},
	{"rtnl_net_lock", "rtnl_mutex"},
	{"rtnl_newlink", "rtnl_mutex"},
	{"rtnl_setlink", "rtnl_mutex"},
	{"rtnl_stats_dump", "rtnl_mutex"},
	{"static_key_disable", "jump_label_mutex"},
	{"static_key_enable", "jump_label_mutex"},
	{"static_key_slow_inc", "jump_label_mutex"},
	{"text_poke_finish", "text_mutex"},
	{"unregister_netdev", "rtnl_mutex"},
	{"uprobe_clear_state", "delayed_uprobe_lock"},
	{"uprobe_mmap", "uprobes_mmap_mutex"},
};

static const struct static_lock rwsems[] = {
	{"attach_recursive_mnt", "namespace_sem"},
	{"cleanup_net", "pernet_ops_rwsem"},
	{"copy_mnt_ns", "namespace_sem"},
	{"copy_net_ns", "pernet_ops_rwsem"},
	{"do_lock_mount", "namespace_sem"},
	{"lock_mount", "namespace_sem"},
	{"m_start", "namespace_sem"},
	{"namespace_lock", "namespace_sem"},
	{"path_umount", "namespace_sem"},
	{"register_netdevice_notifier", "pernet_ops_rwsem"},
	{"register_pernet_device", "pernet_ops_rwsem"},
	{"register_pernet_subsys", "pernet_ops_rwsem"},
};

/* In the memory of page tables, of which no object leads to a process. */
static const char *const page_tables[] = {
	"__handle_mm_fault", "__pte_offset_map_lock",
	"change_protection", "change_pte_range",
	"copy_page_range",   "copy_pte_range",
	"do_anonymous_page", "do_fault",
	"do_swap_page",	     "do_wp_page",
	"filemap_map_pages", "finish_fault",
	"handle_mm_fault",   "handle_pte_fault",
	"move_page_tables",  "unmap_page_range",
	"wp_page_copy",	     "zap_pte_range",
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *type;
	const struct static_lock *of;
	size_t n;
} tables[] = {
	{"spinlock", spinlocks, COUNT(spinlocks)},
	{"rwlock", rwlocks, COUNT(rwlocks)},
	{"mutex", mutexes, COUNT(mutexes)},
	{"rwsem", rwsems, COUNT(rwsems)},
};

/* Compilers add ".isra.0" and the like. */
static bool is_function(const char *name, size_t len, const char *known)
{
	return !strncmp(name, known, len) && !known[len];
}

const char *sym_static_lock(const char *type, const char *function)
{
	size_t len = strcspn(function, ".");

	for (size_t t = 0; t < COUNT(tables); t++)
		for (size_t i = 0; !strcmp(tables[t].type, type) && i < tables[t].n; i++)
			if (is_function(function, len, tables[t].of[i].function))
				return tables[t].of[i].lock;
	return NULL;
}

bool sym_locks_page_table(const char *function)
{
	size_t len = strcspn(function, ".");

	for (size_t i = 0; i < COUNT(page_tables); i++)
		if (is_function(function, len, page_tables[i]))
			return true;
	return false;
}
