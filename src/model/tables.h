/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_MODEL_TABLES_H
#define KONTEND_SRC_MODEL_TABLES_H

#include "file-holds.h"
#include "kontend/blame.h"
#include "kontend/blocked.h"
#include "kontend/damage.h"
#include "kontend/holds.h"
#include "kontend/limits.h"
#include "kontend/lock.h"
#include "kontend/lockqueue.h"
#include "kontend/longest-recent.h"
#include "kontend/loss.h"
#include "kontend/mmlock.h"
#include "kontend/model-cpu.h"
#include "kontend/model.h"
#include "kontend/preempted.h"
#include "kontend/profile.h"
#include "kontend/record.h"
#include "kontend/rotation.h"
#include "kontend/runs.h"
#include "kontend/series.h"
#include "kontend/shorts.h"
#include "kontend/sleeps.h"
#include "kontend/snapshot.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/untracked.h"
#include "kontend/user-seen.h"
#include "kontend/wait-on.h"
#include "kontend/wait.h"
#include "user-releases.h"

/*
 * The memory of a model's tables: one allocation, to which the pointers of struct model lead. Only
 * the files that make, copy and free models include this header, so a change of one table rebuilds
 * only the files that use this table.
 */
struct model_tables {
	struct model_limits limits;
	struct record_host host;
	struct task_table tasks;
	struct lock_table locks;
	struct stack_table stacks;
	struct wait_pool waits;
	struct untracked_table untracked;
	struct file_holds file_holds;
	struct cell_table cells, held, handed, mm_held;
	struct holds holds;
	struct blame blame;
	struct lockqueues queues;
	struct blocked blocked;
	struct preempted preempted;
	struct sleeps sleeps;
	struct runs runs;
	struct user_releases user_releases;
	struct user_seen user_seen;
	struct wait_ons ons;
	struct model_type types[LOCK_TYPES];
	struct model_damage damage;
	struct loss_state loss;
	struct model_before before;
	struct shorts_state shorts;
	struct wait_looks looks;
	struct series n_series, wait_series, waiting_series;
	struct rotation rotation;
	struct profile profile;
	struct mmlocks mmlocks;
	struct snapshot_set snapshots, snapshots_before;
	uint64_t n_snapshots[SNAPSHOT_KINDS];
	struct longest_recent past;
};

/* The pointers of @m lead into @t, which @m owns from now on. */
void model_use_tables(struct model *m, struct model_tables *t);

#endif
