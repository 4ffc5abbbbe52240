// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which lock of an object functions wait for, where the object itself is not known any more: most
 * live shorter than the time between two snapshots. As in staticfn.c, a function that takes several
 * locks of one type is in none of these tables.
 */
#include "kontend/sym.h"

#include <string.h>

struct field_lock {
	const char *lock, *type;
	const char *functions; /* with blanks between */
};

static const struct field_lock spinlocks[] = {
	{"pi_lock", "task_struct", "try_to_wake_up wake_up_new_task task_rq_lock"},
	{"alloc_lock", "task_struct", "ptrace_may_access"},
	{"siglock", "sighand_struct",
	 "get_signal __lock_task_sighand lock_task_sighand __set_current_blocked do_sigaction "
	 "exit_signals do_notify_parent do_notify_parent_cldstop"},
	{"d_lock", "dentry",
	 "__d_lookup __dentry_kill d_alloc d_alloc_parallel d_walk dget_parent"},
	{"xa_lock", "inode", "__filemap_add_folio shmem_add_to_page_cache __folio_start_writeback"},
	{"sk_lock.slock", "sock",
	 "lock_sock_nested release_sock __lock_sock __lock_sock_fast tcp_v4_rcv tcp_v6_rcv "
	 "tcp_write_timer tcp_delack_timer tcp_keepalive_timer"},
	{"futex bucket->lock", "futex_hash_bucket",
	 "futex_wake futex_wait_setup futex_unqueue futex_q_lock futex_wake_op"},
	{"epoll->lock", "eventpoll", "ep_poll_callback"},
	{"list_lock", "kmem_cache_node",
	 "__slab_free get_partial_node get_partial_node_bulk __put_partials deactivate_slab"},
	{"barn->lock", "node_barn",
	 "barn_get_empty_sheaf barn_get_full_or_empty_sheaf barn_put_empty_sheaf "
	 "barn_put_full_sheaf barn_replace_empty_sheaf barn_replace_full_sheaf"},
	{"list_lru->lock", "list_lru", "list_lru_add list_lru_del list_lru_walk_one"},
	{"bucket->lock", "bpf_local_storage_map", "bpf_selem_link_map bpf_selem_unlink_map"},
	{"vq->lock", "virtio_blk_vq", "virtio_queue_rq virtio_queue_rqs virtblk_done virtblk_poll"},
	{"hctx->lock", "blk_mq_hw_ctx", "__blk_mq_sched_dispatch_requests"},
	{"mq_flush_lock", "blk_flush_queue", "blk_insert_flush flush_end_io mq_flush_data_end_io"},
	{"mq-deadline->lock", "deadline_data",
	 "dd_bio_merge dd_dispatch_request dd_insert_requests"},
	{"removed.lock", "cfs_rq", "remove_entity_load_avg"},
};

/* By the callers of functions that take a lock with a counter of users, which they are given. */
static const struct field_lock lockrefs[] = {
	{"d_lock", "dentry",
	 "__legitimize_path d_lookup dget_parent dput legitimize_links path_get path_init "
	 "try_to_unlazy try_to_unlazy_next"},
};

static const struct field_lock rwlocks[] = {
	{"epoll->lock", "eventpoll", "ep_poll_callback"},
};

static const struct field_lock mutexes[] = {
	{"f_pos_lock", "file", "fdget_pos __fdget_pos"},
	{"pipe->mutex", "pipe_inode_info",
	 "anon_pipe_read anon_pipe_write fifo_open fifo_pipe_read fifo_pipe_write pipe_fasync "
	 "pipe_ioctl pipe_lock pipe_release"},
	{"epoll->mtx", "eventpoll", "do_epoll_ctl do_epoll_wait ep_poll ep_send_events"},
	{"iolock", "unix_sock", "__unix_dgram_recvmsg unix_stream_read_generic"},
};

static const struct field_lock rwsems[] = {
	/* The others that take it, of their own process, keep locks of several processes apart. */
	{"mmap_lock", "mm_struct", "__access_remote_vm madvise_lock register_for_each_vma"},
	/* register_rwsem and consumer_rwsem: these take both. */
	{"rwsem", "uprobe",
	 "uprobe_apply uprobe_register uprobe_unregister uprobe_unregister_nosync"},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
	const char *type;
	const struct field_lock *of;
	size_t n;
} tables[] = {
	{"spinlock", spinlocks, COUNT(spinlocks)}, {"lockref", lockrefs, COUNT(lockrefs)},
	{"rwlock", rwlocks, COUNT(rwlocks)},	   {"mutex", mutexes, COUNT(mutexes)},
	{"rwsem", rwsems, COUNT(rwsems)},
};

static bool has_word(const char *words, const char *word, size_t len)
{
	for (const char *p = words; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (!strncmp(p, word, len) && (!p[len] || p[len] == ' '))
			return true;
	}
	return false;
}

const char *sym_field_lock(const char *type, const char *function, const char **ret_of)
{
	/* Compilers add ".isra.0" and the like. */
	size_t len = strcspn(function, ".");

	for (size_t t = 0; t < COUNT(tables); t++) {
		for (size_t i = 0; !strcmp(tables[t].type, type) && i < tables[t].n; i++) {
			const struct field_lock *l = &tables[t].of[i];
			if (!has_word(l->functions, function, len))
				continue;
			*ret_of = l->type;
			return l->lock;
		}
	}
	return NULL;
}
