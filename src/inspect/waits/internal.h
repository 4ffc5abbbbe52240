/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_INSPECT_WAITS_INTERNAL_H
#define KONTEND_INSPECT_WAITS_INTERNAL_H

/* The parts of the feed of waits in user space, each with a thread. */
#include "kontend/error.h"
#include "kontend/feed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_object;

/* bpf-thread.c */

/* A thread that checks something now and then until the measurement ends. */
struct bpf_thread {
	pthread_t thread;
	bool started;
	int wake_fd;
	atomic_bool stopping;
};

int bpf_thread_init(struct bpf_thread *b, struct error *err);
/* It handles no signals, and gets the CPU early. @what: "the thread that ...", for @err. */
int bpf_thread_start(struct bpf_thread *b, void *(*run)(void *arg), void *arg, const char *what,
		     struct error *err);
/* In the thread, at its start. */
void bpf_thread_begin(void);
/* In the thread: sleeps; returns at once if the thread is to end. */
void bpf_thread_sleep(struct bpf_thread *b, int ms);
bool bpf_thread_goes_on(struct bpf_thread *b);
void bpf_thread_stop(struct bpf_thread *b); /* async-signal-safe */
/* Waits for its end. Accepts @b after a failed bpf_thread_init(), too. */
void bpf_thread_deinit(struct bpf_thread *b);

/* sched.c */

/* Programs at the scheduler's tracepoints, attached while features use them; from any thread. */
enum { SCHED_PROGRAMS = 2 };

/* Those that all features share, those without following, and those that only follow holders. */
enum sched_kind { SCHED_SHARED, SCHED_TYPED, SCHED_FOLLOW, SCHED_KINDS };

struct sched {
	enum sched_kind kind;
	pthread_mutex_t lock;
	int programs[SCHED_PROGRAMS], links[SCHED_PROGRAMS]; /* links: -1: not attached */
	unsigned users;
};

/* Before @o is loaded: leaves out programs of this kind. */
int sched_leave_out(struct bpf_object *o, enum sched_kind kind);
/* Of a loaded object, which must outlive it. */
int sched_init(struct sched *s, struct bpf_object *o, enum sched_kind kind, struct error *err);
int sched_use(struct sched *s);	   /* 0 or a negative errno */
void sched_leave(struct sched *s); /* after a sched_use() that returned 0 */

/* feed.c */

struct waitfeed;

/* Of a feed that measures sleeps. */
struct waitfeed_sleeps {
	struct bpf_object *object;
	struct sched *sched;
	bool sums; /* of sleeps in state D */
	uint64_t min_ns, user_ns;
};

/* 0, or negative with the reason why this one measures none. */
int waitfeed_sleeps(struct waitfeed *f, struct waitfeed_sleeps *ret, struct error *err);

/* slept.c */

/* Before @o is loaded: leaves out programs and maps of sleeps that are not measured. */
int slept_leave(struct bpf_object *o, bool sums, bool users);

/* follow.c */

/* The thread that has tasks followed by follow.bpf.c while there are long waits. */
struct follow;

/* Before @o is loaded: leaves out its program, and makes its maps small. */
int follow_leave(struct bpf_object *o);
/* For a loaded object, which must outlive it, as must @sched: the programs that follow. */
int follow_new(struct follow **ret, struct bpf_object *o, struct sched *sched, uint64_t longer_ns,
	       struct error *err);
/* Reports that there is a ring for records of @cpu. */
void follow_add_cpu(struct follow *f, uint32_t cpu);
int follow_start(struct follow *f, struct error *err);
/* Makes the thread end. Async-signal-safe; NULL is fine. */
void follow_stop(struct follow *f);
/* Its counts so far; from any thread. */
void follow_counts(const struct follow *f, struct feed_follow *ret);
void follow_free(struct follow *f); /* NULL is fine */

/* short.c */

/*
 * The part of short.bpf.c in user space: sets the level of reports, reads sums, reports long waits.
 */
struct shorts;

struct short_options {
	uint64_t threshold_ns; /* shorter waits are summed up; 0: no wait is */
	uint32_t target_ppm;   /* of the CPU time of all CPUs; 0: no governor */
	uint64_t report_ns;    /* waits of this length are always reported; 0: no such length */
};

/* Before @o is loaded: for @n_cpus CPUs; 0: its programs are left out, and its maps are small. */
int short_prepare(struct bpf_object *o, uint32_t n_cpus);
/* For a loaded object, which must outlive it. */
int short_new(struct shorts **ret, struct bpf_object *o, uint32_t n_cpus,
	      const struct short_options *options, struct error *err);
/* Starts the thread that reports long waits before they end, and runs the governor. */
int short_start(struct shorts *s, struct error *err);
void short_report(struct shorts *s, uint64_t report_ns); /* from now on; by any thread */
void short_stop(struct shorts *s);			 /* async-signal-safe; NULL is fine */
/*
 * The payload of a SNAPSHOT_SHORT as of now, for one thread; valid until the next call. @begin: of
 * the begin of sums, at @now_ns, without rows. NULL: no memory.
 */
const void *short_snapshot(struct shorts *s, bool begin, uint64_t now_ns, size_t *ret_len);
void short_free(struct shorts *s); /* NULL is fine */

/* file-programs.c */

struct kerntypes;

struct file_program {
	const char *type; /* of the tracepoint in the kernel's types; NULL after the last one */
	const char *tracepoint, *program;
};

extern const struct file_program file_programs[];
bool file_programs_fit(struct kerntypes *types); /* the kernel has all of the tracepoints */
int file_programs_leave(struct bpf_object *o);	 /* before @o is loaded: none is wanted */

/* user-frames.c */

/* The thread that answers how callers are found in code of programs: see frames.bpf.c. */
struct user_frames;

int user_frames_new(struct user_frames **ret, struct bpf_object *o, struct error *err);
int user_frames_start(struct user_frames *u, struct error *err);
void user_frames_stop(struct user_frames *u); /* async-signal-safe; NULL is fine */
void user_frames_free(struct user_frames *u); /* NULL is fine */

/* why.c */

/*
 * Reports what chosen tasks do, and those that wake them (runrec.h): the threads or processes of
 * a scope; of others there would be too many. Records go into the rings of @waits, the object of
 * waits.bpf.c, and its call chains of programs have the same rules.
 */
struct why;
struct kerntypes;

struct why_options {
	unsigned scope;	    /* enum waits_scope */
	bool user_frames;   /* call chains of the programs, */
	uint32_t frames_ns; /* as in struct waits_config */
};

int why_new(struct why **ret, struct bpf_object *waits, const struct why_options *o,
	    struct kerntypes *types, struct error *err);
/* A task that is chosen, by its number in the initial namespace. 0 or a negative errno. */
int why_choose(struct why *w, uint32_t id);
int why_attach(struct why *w, struct error *err);
/* Starts the thread that has lasting stretches reported. */
int why_start(struct why *w, struct error *err);
void why_stop(struct why *w); /* async-signal-safe; NULL is fine */
void why_free(struct why *w); /* NULL is fine */

#endif
