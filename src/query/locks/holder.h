/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_LOCKS_HOLDER_H
#define KONTEND_QUERY_LOCKS_HOLDER_H

#include "../internal.h"
#include "kontend/locksnap.h"

/*
 * The holder of the lock of a wait: the one answer of all tables. It is that of the latest lock
 * snapshot where the snapshot saw the wait and no event is newer, else that of events (holder.h of
 * the model), else that of an older snapshot, with its age. Of a wait that has ended: its last
 * holder.
 */
struct query_holder {
	int32_t pid, tid;      /* taskid.h; tid 0: no task */
	uint32_t task;	       /* of the model; TASK_OTHER: it has none, or not yet */
	uint32_t lock;	       /* of the model */
	uint32_t next;	       /* of the model, of a free lock: is to take it; TASK_OTHER */
	const char *name;      /* "mm/5219 W", "mm/5219 R?", "free, to mm/5219" */
	const char *comm;      /* NULL: not known */
	const char *certainty; /* "sure", "evidence", "hint", "free" */
	const struct locksnap_queue *look; /* that saw this holder; NULL */
	uint64_t age_ns;		   /* of that look, if it did not see the wait */
	bool by_look;			   /* the look says that it holds the lock */
};

/* For how long a holder has had its lock. */
struct query_held {
	uint64_t ns;	  /* 0: not known */
	uint64_t most_ns; /* not longer than that; 0: not known */
	bool at_least;	  /* a lock of a file was taken `ns` ago or earlier, not then */
	int32_t fd;	  /* by which it has the lock of a file; -1: not known */
};

/* False: it is not known. @ended: the wait is over. */
bool query_holder_of(struct query *q, const struct wait *w, bool ended, struct query_holder *ret);
/* The numbers of @h.next, and its name: columns from @at on. */
enum { HOLDER_NEXT_PID, HOLDER_NEXT_TID, HOLDER_NEXT_COMM };
void query_holder_next(struct query *q, const struct query_holder *h, struct value *at);
/* The same of the lock, if tasks wait for it, in whatever mode. */
bool query_holder_at(struct query *q, uint32_t lock, struct query_holder *ret);
/* Of the lock with that index. */
struct query_held query_holder_held(struct query *q, uint32_t lock, const struct query_holder *h);
/* Columns from @at on. */
enum { HELD_FD, HELD_NS, HELD_MOST_NS };
void query_fill_held(const struct query_held *h, struct value *at);
/* Of the lock of a file: "fd 9, held 3.2s", "held 3.2s or more", "held 3.2s to 3h2m"; NULL. */
const char *query_held_text(struct query *q, const struct query_held *h);
/* "running", "runnable", "asleep"; NULL: not known. */
const char *query_holder_state(const struct query *q, const struct query_holder *h);
/* "memcpy (write)": where it runs, by samples; NULL: it does not, or that is not known. */
const char *query_holder_runs_in(struct query *q, const struct query_holder *h);
/* places.c: the line of its program where it is, "db.c:412 commit_log"; NULL: not known. */
const char *query_holder_program(struct query *q, const struct query_holder *h);
/* "running on 1 in memcpy (write)", "runnable, kept off by stress/99", "asleep io_schedule"; NULL:
 * not known. */
const char *query_holder_is(struct query *q, const struct query_holder *h);

/* waiters.c: the id of a wait's row in the table "waiters". */
uint64_t query_wait_id(struct query *q, const struct wait *w);

#endif
