/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_ENGINE_H
#define KONTEND_ENGINE_H

#include "kontend/decode.h"
#include "kontend/engine-slices.h"
#include "kontend/lock-requests.h"
#include "kontend/model.h"
#include "kontend/notes.h"
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
 * Called for each event right after the model has taken it; model.last_wait is its wait. For
 * writers of single events, and for triggers. A negative errno ends engine_pump() with it. Watches
 * are a list, and are called in its order.
 */
struct engine_watch {
	int (*event)(struct engine_watch *w, const struct event *ev, struct error *err);
	/* Called after a round or a tick: all events up to @time_ns are applied. May be NULL. */
	void (*passed)(struct engine_watch *w, uint64_t time_ns);
	struct engine_watch *next; /* NULL: the last one */
};

/*
 * A part of the stream: sums are of the time after @from_ns, up to and including @to_ns, as if they
 * had been cleared at @from_ns and read at @to_ns. So consecutive ranges add up. Earlier events are
 * applied as well: tasks, names and waits in flight are known. Watches also get the events of
 * @from_ns.
 */
struct engine_range {
	/*
	 * Called once, when the begin of the stream is known: fills in both ends. 0, or a negative
	 * errno with @err, which ends engine_pump().
	 */
	int (*find)(struct engine_range *r, uint64_t begin_ns, struct error *err);
	uint64_t from_ns, to_ns;
	enum engine_range_state {
		ENGINE_RANGE_UNKNOWN,
		ENGINE_RANGE_BEFORE,
		ENGINE_RANGE_WITHIN,
		ENGINE_RANGE_ENDING, /* no more events are applied; sums of its short waits are
					still to come */
		ENGINE_RANGE_DONE,   /* complete: all further records are skipped */
	} state;
};

/* A tick to go back to: the place of the source there, and the counts outside of the model. */
struct engine_place {
	uint64_t time_ns; /* 0: none yet */
	uint64_t mark;
	uint64_t last_time, n_late, n_bad, n_skipped;
	uint64_t samples[EVENTLIST_MOST];
};

/* The counts of the merge when it handed out the event that is applied now. */
struct engine_merged {
	uint64_t last_time, n_late, n_bad, n_skipped;
	uint64_t samples[EVENTLIST_MOST]; /* of each event, decoded or not */
	uint64_t mark;			  /* the place of the source; only for a tick */
	bool no_ends;			  /* decode_lacks_ends() */
	bool no_locks;			  /* decode_lacks_locks() */
};

/* Sums of short waits as read, and the time up to which they were estimated from there. */
struct engine_sums {
	void *bytes; /* payload of the snapshot; NULL: none */
	size_t len;
	uint64_t time_ns, estimated_ns;
};

/* Snapshots that wait for their time, in its order. */
struct engine_held {
	struct record *records;
	size_t n, cap, bytes;
	uint64_t next_ns; /* time of the first; UINT64_MAX: none */
};

/* source -> decode -> order -> model, one object; live and replay share it. */
struct pathgroups;
struct ahead;

struct engine {
	struct source *source; /* owned */
	struct decode decode;
	struct order order;
	/*
	 * Another thread may write the fields above, and only this one those below: they share no
	 * cache line.
	 */
	char apart[128];
	struct ahead *ahead; /* the thread that uses the fields above; NULL: this one does */
	struct engine_merged merged;
	struct eventlist events; /* of the records that were handled */
	struct engine_held held;
	struct engine_sums sums; /* at the last end of a slice */
	struct sym sym;
	struct model *model;		/* owned */
	struct engine_unwind *unwind;	/* works for the model's profile */
	struct engine_tracing *tracing; /* works for the model */
	struct engine_watch *watch;	/* NULL: none */
	/* Borrowed; both are set before the first record. NULL: all of the stream, in one part. */
	struct engine_range *range;
	struct engine_slices *slices;
	/* Borrowed; NULL: none. Requests to the lock snapshots; the user's groups of paths. */
	struct lock_requests *lock_requests;
	bool asks_names; /* for names alone: its stream lacks ends of waits */
	const struct pathgroups *groups;
	/* The events that profiles show, as eventlist_match() takes them; NULL: the default. */
	const char *events_asked;
	struct codesource *code; /* of the kernel that runs here; NULL: none; borrowed */
	/* Of the kernel that was recorded, from a copy of its memory; the same. */
	struct codesource *recorded_code;
	/* How to look up source lines; NULL: not at all; borrowed. */
	const struct srclines_config *lines;
	const struct sandbox *sandbox; /* of a process that reads a recording, borrowed; or NULL */
	bool keep_symbols;	       /* cache the symbols of programs in files */
	uint64_t symbols_most;	       /* bytes of these in memory; 0: the default */
	/* As in struct usersyms_config. */
	bool trust_paths;
	const char *symfs;
	size_t asked;		   /* index of the first lock of the next request */
	struct engine_place place; /* the latest tick, if the source can seek */
	uint64_t changes;	   /* changes with every record that was taken */
	bool rewinding;		   /* on the way back to `place` */
	struct notes notes;	   /* about the recording */
	bool noted_formats;	   /* they have those of engine_note_formats() */
};

struct usersyms;
struct usersyms_config;
struct map_object;

/* How to open the files of the mappings of @m: for usersyms_new(). */
struct usersyms_config engine_files(const struct engine *e, const struct model *m);
/* The number of the file of @o, a mapping of @m, in @files. 0 or -ENOMEM. */
int engine_file(const struct model *m, const struct map_object *o, struct usersyms *files,
		uint32_t *ret);

/*
 * The body of a snapshot of the unwind tables that were used for file @object of the model. 1: *ret
 * is for the caller to mem_free(); 0: none were used; -ENOMEM; -EFBIG: the tables are too long.
 */
int engine_tables(const struct engine *e, uint32_t object, char **ret, size_t *ret_len);

/*
 * Code that the kernel made at @frame, one of the model's; NULL: none, or a function that kallsyms
 * has begins nearer.
 */
const struct ksym *engine_ksym(const struct engine *e, uint64_t frame);

/* Takes over @source, unless it fails. */
int engine_init(struct engine *e, struct source *source, const struct model_limits *limits,
		struct error *err);
void engine_deinit(struct engine *e);

/*
 * Before the first record: profiles are of the events of a recording that @pattern selects, as for
 * eventlist_match(); NULL: the default. @any: samples of all events are kept, so that another one
 * can be shown later. Borrows @pattern.
 */
void engine_choose_events(struct engine *e, const char *pattern, bool any);

/*
 * Takes records until a tick, the end, or @timeout_ms without a record: ENGINE_*. 0: after a
 * limited amount of work, so that a user interface stays responsive. Negative errno: fatal.
 */
int engine_pump(struct engine *e, int timeout_ms, struct error *err);

/*
 * From now on a separate thread reads, decodes and merges, ahead of engine_pump(), which only
 * applies: the result is the same. Until the end only engine_pump() may use source, decode and
 * order. Going back ends the thread, too. For a source that can seek. 0; -ENOMEM or -EAGAIN: there
 * is no thread, and the engine works as before.
 */
int engine_read_ahead(struct engine *e);

/*
 * Goes back to the tick at @place with @model, a copy made right after that tick. On success the
 * engine takes the copy over, with a new generation. If several ticks have the same time, the first
 * is meant. After a failure the engine must be rewound again before it is pumped.
 */
int engine_rewind(struct engine *e, struct model *model, const struct engine_place *place,
		  struct error *err);

#endif
