/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RUN_H
#define KONTEND_RUN_H

#include "kontend/engine.h"
#include "kontend/error.h"
#include "kontend/kallsyms-thread.h"
#include "kontend/live.h"
#include "kontend/mux.h"
#include "kontend/opts.h"
#include "kontend/srclines.h"
#include "kontend/textsnap.h"
#include <sys/types.h>

/*
 * One measurement: the target, the demo workload beside it, the live source and the engine on it.
 * `= {0}` is a valid empty one. Nothing of it prints.
 */
struct run {
	struct target target;
	struct live_info info;
	struct source *source;		 /* the engine's own, or below its history, once `opened` */
	uint64_t memory;		 /* bytes for separate rows; 0: the default */
	const struct pathgroups *groups; /* of one's own; NULL: none; borrowed */
	const char *events; /* of a recording, for profiles: engine_choose_events(); borrowed */
	struct engine engine;
	bool opened;
	bool remember; /* set before: the engine has a history of the last minutes */
	bool watches;  /* a recorder, for weeks: its tables are bounded as those of a screen */
	bool held;     /* set before: hold times are computed */
	bool blame;    /* set before: blame is computed */
	bool heat;     /* set before: when waits ended and how long they were is kept */
	uint64_t min_wait_ns; /* set before: the model only counts shorter waits, if BPF does not */
	uint64_t start_wall_ns; /* of CLOCK_REALTIME: run_start() waits for it; 0: not */
	uint64_t trigger_ns;	/* set before: triggers need each wait this long; 0: no trigger */
	/* Set before: a source around the live one, which then is the engine's. 0 or negative. */
	int (*wrap)(void *ctx, struct source **top, struct error *err);
	void *wrap_ctx;
	bool from_file;			 /* a recording: nothing is started, stopped or measured */
	struct run_snapshots *snapshots; /* of perf events, locks, uprobes ...; NULL: none */
	struct kallsyms_thread kallsyms; /* until the live source has the text */
	struct run_code *code;		 /* of the kernel; NULL: not wanted */
	struct srclines_config lines;
	bool keep_symbols; /* of programs, in the cache */
	/* Set before, of a recording: as in struct reader_options; and where it is read. */
	int (*open)(void *ctx, const char *path);
	void *open_ctx;
	const char *symbols;
	/* Set before, of a recording: as in struct usersyms_config. */
	const char *symfs;
	bool trust_paths;
	const struct sandbox *sandbox;
	struct uprobe_attach *placed; /* probes of ours (--probe), NULL = none */
	struct nsview *ns; /* in a PID namespace of its own: all tasks; NULL: not known */
	const struct sideband_source *names; /* of tasks outside of it; NULL: not needed */
	struct run_attach *attach;	     /* of the programs of waits, until run_start() */
	struct waitfeed *waits; /* reports waits and owners; NULL: perf reports waits */
	struct error refused;	/* BPF that was wanted and that the kernel refused; code 0: none */
	pid_t demo;		/* 0 = none */
	struct mux mux;		/* intervals that are other ones meanwhile */
	/* The command has ended: its wait status. */
	bool command_ended;
	int command_status;
};

/*
 * Bytes for rows that are kept separately, unless so many are @asked for: of a recording a quarter
 * of the memory that there is; when measuring live, less.
 */
uint64_t run_memory(uint64_t asked, bool from_file);
/*
 * Bytes for the records from before an incident, of the memory of a recorder, unless that much is
 * @asked for: a quarter of it.
 */
uint64_t run_backlog(uint64_t asked);
/*
 * Finds the processes or CPUs to measure. -EINVAL: a list is malformed; others: they do not exist.
 */
int run_target(struct run *r, const struct opts *o, struct error *err);
/* Starts the demo workload, opens the live source. The command, if any, is held. */
int run_source(struct run *r, const struct opts *o, struct error *err);
/* The same, and the engine on it. With --input the recording is opened instead. */
int run_open(struct run *r, const struct opts *o, struct error *err);
/* The same with a recording in place of the live source; "-" is standard input. */
int run_open_file(struct run *r, const char *path, uint64_t tick_ns, struct error *err);
/*
 * Sets intervals, gives up what capabilities are not needed any more (privs.h), lets events and the
 * command go.
 */
int run_start(struct run *r, struct error *err);
/* By which its snapshots of locks are asked for names; borrowed; NULL: it takes none. */
struct lock_requests *run_lock_requests(const struct run *r);
/* Are waits summed up in the kernel, that are shorter than --min-wait or that the governor says? */
bool run_sums_up(const struct run *r);
/* Starts the demo workload beside it, unless it runs. 0 or a negative errno. */
int run_demo(struct run *r, struct error *err);
/*
 * Applies events as they come, until the stream has ended, @deadline_ns (0: none) has passed, or
 * @until_fd (-1: none) has input or was closed at its other end; it is not read. 0 or negative with
 * @err.
 */
int run_pump(struct run *r, int until_fd, uint64_t deadline_ns, struct error *err);
/* Asks for the end: what has happened until now still arrives, then ENGINE_END. */
void run_stop(struct run *r);
/* Exit status by shell rules of the command, once it has ended; -1 while it has not. */
int run_command_status(struct run *r);
/* Ends what still runs and gives everything back. Negative: with @err, a setting is not back. */
int run_close(struct run *r, struct error *err);

/* The running kernel's code, to annotate it or to record it. */
struct run_code;

/*
 * *ret stays NULL if the options do not need it. Code that cannot be read is no failure. 0,
 * -ENOMEM.
 */
int run_code_new(struct run_code **ret, const struct opts *o, struct error *err);
struct codesource *run_code_source(struct run_code *r); /* borrowed; NULL of NULL */
/* For processes without the right to read it; `why` has the reason. */
struct codesource *run_code_none(void);
void run_code_free(struct run_code *r);

#endif
