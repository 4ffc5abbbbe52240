/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_QUERY_INT_H
#define KONTEND_QUERY_INT_H

#include "group.h"
#include "kontend/engine.h"
#include "kontend/pathgroup.h"
#include "kontend/query-origin.h"
#include "kontend/query.h"
#include "reuse.h"

/* Shared by the files of src/query; no other module includes it. */
struct cell;
struct cell_table;
struct lockname;
struct runs;
struct wait;

/* A function that was met in a call chain. Entry 0 is "not known". */
struct query_func {
	uint64_t start;	     /* of the symbol, or the address itself where there is none */
	const char *name;    /* NULL for entry 0 */
	const char *object;  /* "[kernel]", "[module]", "/usr/lib/libc.so.6" */
	uint8_t group;	     /* enum path_group, of kernel functions */
	bool recorded;	     /* the name is from the recording, not from a file */
	bool trusted;	     /* from a file of which only the path is that of the recording */
	const char *unnamed; /* why no name is known, and `name` is an address; else NULL */
	uint32_t inlined_in; /* the function that it is a part of; 0: none */
	uint64_t sum, stamp; /* scratch of the search for the hottest; stamp: query_cache's */
};

/* The functions of a call chain, innermost first. */
struct query_chain {
	const uint32_t *funcs;
	uint32_t n;
	uint64_t frame; /* of the screen: for that alone, as not all is known yet; 0: for good */
};

/* By stack. */
struct query_chains {
	struct query_chain *of;
	size_t n;
};

struct query_stack {
	uint32_t func;	/* the caller, + 1; 0 = not asked for yet */
	uint32_t frame; /* its index in the chain */
	uint32_t inner; /* index of the first frame that is not of the tracing */
};

/* Names that answers of this frame may point to, though the model has others meanwhile. */
struct query_hold {
	struct query_hold *next; /* in the arena */
	struct map_objects *objects;
	struct task_names *names;
};

/* Groups of call chains of the profile, by number, which go on from frame to frame. */
struct query_hot_groups {
	uint8_t *groups;
	size_t n, cap;
	uint64_t generation, profile_generation; /* of the chains */
	uint32_t n_loads;			 /* of the symbols */
	enum sym_state sym_state;
	size_t rows; /* that the last sum had */
};

/* State of the sources of function names: while it is equal, names do not change. */
struct query_stamp {
	uint64_t generation;
	uint64_t funcs_reported;	   /* changes of what the recording says of functions */
	const struct map_objects *objects; /* that numbers in frames are of */
	uint32_t epoch;
	uint32_t n_loads; /* of the symbols */
	uint64_t sym_state;
	uint64_t profile_generation; /* of its call chains */
};

/* Of call chains, by index. */
struct query_origins {
	struct query_origin *list;
	size_t n;
};

struct query_cache {
	struct reuse reuse;
	uint64_t n_renewed;	   /* how often names were forgotten */
	bool valid, asked, failed; /* failed: an allocation did, the query must not answer */
	struct query_hold *holds;
	struct query_hot_groups hot_groups;
	struct query_stamp names;
	struct map64 by_addr; /* address -> func */
	struct map64 unnamed; /* frame of a program -> func: these frames may get a name later */
	struct query_func *funcs;
	size_t n_funcs, cap_funcs, n_stacks;
	uint64_t stamp;
	struct query_stack *stacks;	     /* by stack index */
	struct query_chains sampled, waited; /* names/chains.c */
	struct query_origins origins;	     /* names/origin.c: by stack, */
	struct query_origins run_origins;    /* and by that of runs.h */
	bool pending;			     /* debug information is being read */
	/* Names; those of before stay for the answers of this frame. */
	struct arena text, old_text;
	/* Of this frame, in the query's arena, made when first asked for. */
	const char **lock_names;
	size_t n_locks;
	/* Kept: the cells of a lock, as index + 1; the function that waits for it most, + 1. */
	uint32_t *lock_head, *lock_next, *lock_hottest;
};

/* How long answers that are written once wait for names, and for lines of source. */
static const uint64_t QUERY_WAIT_NS = 30000000000;

int query_sync(struct query *q);		      /* at the start of every query */
uint32_t query_func(struct query *q, uint64_t frame); /* as in maps.h */
uint64_t query_kernel_address(const struct query *q, uint64_t frame);
uint32_t query_caller(struct query *q, uint32_t stack);
uint32_t query_caller_frame(struct query *q, uint32_t stack); /* after query_caller() */
/* The chain of a wait, without what reported it. */
const uint64_t *query_wait_frames(struct query *q, uint32_t stack, uint32_t *ret_n);
enum path_group query_func_group(const struct query *q, uint32_t func);
const char *query_func_name(const struct query *q, uint32_t func);
int query_enomem(struct error *err, const char *what);
/*
 * filtered-model.c: @whole with @cells instead of its own, and without waits in flight. It lies in
 * the arena of the frame. NULL: no memory.
 */
const struct model *query_model_of_cells(struct query *q, const struct model *whole,
					 const struct cell_table *cells);

/*
 * part.c: the cells of q->part that are marked in @kept. Their memory is the query's. 0 or -ENOMEM.
 */
int query_part_cells(struct query *q, const uint8_t *kept, struct cell_table *ret);
void query_part_deinit(struct query *q);
uint64_t query_part_hash(const struct heat_part *p); /* 0: there is no bound */

/* names/origin.c: of the waits with that call chain; cached as long as names are. */
const struct query_origin *query_origin(struct query *q, uint32_t stack);
/* The place of code whose names are still being read. */
extern const char query_loading[];
/* The same of a chain that is none of the model's; for this frame. */
struct query_chain_parts {
	const uint64_t *kernel, *user; /* innermost first */
	uint32_t n_kernel, n_user;
};
void query_origin_of(struct query *q, const struct query_chain_parts *c, struct query_origin *ret);
/*
 * Of the part of a call chain in its program, which is not empty: the frame that AT is of. If all
 * are of libraries and runtimes, or a mark is next, the one that stands for them.
 */
uint32_t query_own_frame(struct query *q, const uint64_t *frames, uint32_t n);
/* Has any call chain of a wait a part in a program? Else no row has a line. */
bool query_has_program(const struct query *q);
/* The system call, or "page fault", of a kernel stack; NULL: no function says it. */
const char *query_syscall(struct query *q, const uint64_t *frames, uint32_t n);
/* For a report: once names and lines are there. 0 or -ENOMEM. */
int query_origins_load(struct query *q);
/* The same of a call chain of what a chosen task did: runs.h. */
const struct query_origin *query_run_origin(struct query *q, const struct runs *r, uint32_t stack);
int query_run_origins_load(struct query *q, const struct runs *r);
/* locks/places.c: asks for the lines where holders are. True: they are still to come. */
bool query_programs_load(struct query *q);
void query_origins_drop(struct query_cache *c);

/* names/list.c */
const char *query_hex(struct arena *a, uint64_t addr);
/* locks/name.c: the object at an address since @time_ns; per-CPU ones, too. NULL: not known. */
const struct lockname *query_lock_object(const struct query *q, uint64_t addr, uint64_t time_ns);
const struct lockname *query_lock_place(struct query *q, uint64_t addr, uint64_t time_ns);
/* Its name by that; NULL: none, as of a slab object, or no memory. */
const char *query_object_name(struct query *q, const struct lockname *n);
const char *query_object_everywhere(struct query *q, const struct lockname *n);
const char *query_object_kind(const struct lockname *n); /* "i_rwsem", a slab cache; NULL */
bool query_object_has_path(const struct lockname *n);	 /* is its text one? */
const char *query_lock_name(struct query *q, uint32_t lock);
/* "task_struct:try_to_wake_up", "(pipe_read)": others of its kind have the same. */
const char *query_lock_class(struct query *q, uint32_t lock);
/* The same without numbers of processes and CPUs, which are others on another machine. */
const char *query_lock_everywhere(struct query *q, uint32_t lock);
/*
 * The name of a lock of the accounting of breakpoint slots, by its callers: "bp_cpuinfo_sem"; else
 * NULL.
 */
const char *query_slot_lock_name(struct query *q, uint32_t lock);
/* As query_lock_name() without the function that waits most, for which all cells are looked at. */
const char *query_lock_plain_name(struct query *q, uint32_t lock);

/* "COMM/ID"; @none: what stands for an empty @comm. */
const char *query_slash(struct arena *a, const char *comm, int32_t id, const char *none);
const char *query_task_name(struct query *q, uint32_t task);	/* "comm/tid" */
const char *query_process_name(struct query *q, uint32_t task); /* "comm/pid" */
const char *query_process_comm(struct query *q, uint32_t task); /* of the leader if known */
const char *query_task_comm(struct query *q, uint32_t task);
const char *query_task_comm_or_idle(struct query *q, uint32_t task); /* "swapper" of idle ones */
const char *query_cgroup_name(struct query *q, uint64_t id);	     /* NULL for 0 */
const char *query_owner_name(struct query *q, uint32_t owner);	     /* "mm/5219 R?"; NULL */
/* overview.c: returns true if it is a task of kontend. */
bool query_is_kontend(struct query *q, uint32_t task);
const char *query_chain(struct query *q, uint32_t stack); /* "caller < its caller < ..." */

struct query_where query_cell_where(const struct cell *c);
struct query_where query_wait_where(const struct wait *w);

/* Waits that have ended, also those that are too short to be kept. */
uint64_t query_waits_of(const struct model *m);
uint64_t query_from(const struct model *m);    /* begin of the time that sums are of */
uint64_t query_elapsed(const struct model *m); /* length of that time, ns */
struct query_parts;
/* Until @until_ns, its end or now. */
void query_wait_parts(const struct wait *w, uint64_t until_ns, struct query_parts *ret);
/* Of all waits for the lock, those in flight, too. */
void query_lock_parts(const struct model *m, uint32_t lock, struct query_parts *ret);
uint64_t query_wait_ns(const struct model *m, const struct wait *w);	    /* so far */
uint64_t query_wait_within_ns(const struct model *m, const struct wait *w); /* since query_from() */
double query_per_s(uint64_t n, uint64_t ns);				    /* 0 if @ns is 0 */

#endif
