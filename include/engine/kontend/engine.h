/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENGINE_H
#define KONTEND_ENGINE_H

#include "kontend/decode.h"
#include "kontend/engine-slices.h"
#include "kontend/lock-requests.h"
#include "kontend/model.h"
#include "kontend/order.h"
#include "kontend/sandbox-state.h"
#include "kontend/source.h"
#include "kontend/sym.h"

/* Positive answers of engine_pump(). */
enum {
	ENGINE_IDLE = 1, /* nothing arrived within the timeout */
	ENGINE_TICK = 2, /* a bucket was closed: time to draw */
	ENGINE_END = 3,	 /* the source has ended, everything is applied */
};

/*
 * Sees every event when the model has taken it; model.last_wait is its wait. For what has to be
 * written event by event, or judged. A negative errno ends engine_pump() with it. Several are a
 * list, and are asked in its order.
 */
struct engine_watch {
	int (*event)(struct engine_watch *w, const struct event *ev, struct error *err);
	/* Behind a round or a tick: all up to @time_ns has been applied. NULL: it need not know. */
	void (*passed)(struct engine_watch *w, uint64_t time_ns);
	struct engine_watch *next; /* NULL: the last one */
};

/*
 * A part of the stream: sums are of the time after @from_ns, up to and with @to_ns, as if they had
 * been cleared at the one and were read at the other; so ranges in a row add up. Earlier events are
 * applied as well: tasks, names and waits in flight are known. Watchers see the events of @from_ns
 * as well.
 */
struct engine_range {
	/* Called once, when it is known where the stream begins: fills in both. 0, or a negative
	 * errno with @err, which ends engine_pump(). */
	int (*find)(struct engine_range *r, uint64_t begin_ns, struct error *err);
	uint64_t from_ns, to_ns;
	enum engine_range_state {
		ENGINE_RANGE_UNKNOWN,
		ENGINE_RANGE_BEFORE,
		ENGINE_RANGE_WITHIN,
		ENGINE_RANGE_ENDING, /* no event is taken; sums of its short waits are to come */
		ENGINE_RANGE_BEHIND, /* complete: what still comes is passed over */
	} state;
};

/* A tick to come back to: where its source was, and what is counted outside of the model. */
struct engine_place {
	uint64_t time_ns; /* 0: none yet */
	uint64_t mark;
	uint64_t last_time, n_late, n_bad, n_skipped;
};

/* How far the merge was when it handed out what is applied now. */
struct engine_merged {
	uint64_t last_time, n_late, n_bad, n_skipped;
	uint64_t mark; /* where the source was; of a tick only */
	bool no_ends;  /* decode_lacks_ends() */
};

/* Sums of short waits that were read, and until when they were estimated from there on. */
struct engine_sums {
	void *bytes; /* of the snapshot's payload; NULL: none */
	size_t len;
	uint64_t time_ns, estimated_ns;
};

/* Snapshots that wait for their time, by it. */
struct engine_held {
	struct record *records;
	size_t n, cap, bytes;
	uint64_t next_ns; /* of the first; UINT64_MAX: none */
};

/* source -> decode -> order -> model, one object; live and replay share it. */
struct pathgroups;
struct ahead;

struct engine {
	struct source *source; /* owned */
	struct decode decode;
	struct order order;
	/*
	 * Another thread may write the fields above, only this one those below: they share no line
	 * of a cache.
	 */
	char apart[128];
	struct ahead *ahead; /* the thread that has what is above; NULL: this one has */
	struct engine_merged merged;
	struct engine_held held;
	struct engine_sums sums; /* at the last end of a slice */
	struct sym sym;
	struct model model;
	struct engine_unwind *unwind;	/* works for the model's profile */
	struct engine_tracing *tracing; /* works for the model */
	struct engine_watch *watch;	/* NULL: none */
	struct engine_range *range;   /* NULL: all of the stream; borrowed, set before it is read */
	struct engine_slices *slices; /* NULL: it is one part; borrowed, as the range is */
	struct lock_requests *lock_requests; /* what to look up of which locks; NULL: they
						are not looked at; borrowed */
	const struct pathgroups *groups;     /* of one's own; NULL: none; borrowed */
	struct codesource *code; /* of the kernel that runs here; NULL: none; borrowed */
	/* How lines of source are looked for; NULL: they are not; borrowed. */
	const struct srclines_config *lines;
	const struct sandbox *sandbox; /* where a recording is read; NULL: it is none; borrowed */
	bool keep_symbols;	       /* of programs, in files, for the next time */
	size_t asked;		       /* lock from which the next list begins */
	struct engine_place place;     /* the latest tick, where the source can seek */
	uint64_t changes;	       /* as long as it is equal, so is what was taken */
	bool rewinding;		       /* on the way back to `place` */
	char note[600];		       /* the last RECORD_NOTE; untrusted text */
	uint64_t n_notes;
};

/*
 * The body of a snapshot of the tables by which stacks of file @object of the model were unwound,
 * if any were: 1, and *ret is the caller's to mem_free(); 0; -ENOMEM; -EFBIG: they are too many
 * bytes.
 */
int engine_tables(const struct engine *e, uint32_t object, char **ret, size_t *ret_len);

/* Takes over @source, at success only. */
int engine_init(struct engine *e, struct source *source, const struct model_limits *limits,
		struct error *err);
void engine_deinit(struct engine *e);

/*
 * Takes records until a tick, the end, or nothing within @timeout_ms: ENGINE_*; 0 after a bounded
 * amount of work, so that a user interface stays alive in a storm; negative errno: fatal.
 */
int engine_pump(struct engine *e, int timeout_ms, struct error *err);

/*
 * From now on a thread of its own reads, decodes and merges, ahead of engine_pump(), which applies:
 * the result is the same. Until the end only engine_pump() may use source, decode and order; going
 * back ends it, too. For a source that can seek; 0, or -ENOMEM, -EAGAIN: all goes on as before.
 */
int engine_read_ahead(struct engine *e);

/*
 * Back to the tick at @place with @model, a copy made right after it, which is taken over at
 * success and gets a generation of its own. Of several ticks at one time the first is meant. After
 * a failure the engine must be rewound again before it is pumped.
 */
int engine_rewind(struct engine *e, struct model *model, const struct engine_place *place,
		  struct error *err);

#endif
