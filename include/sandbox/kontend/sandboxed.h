/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SANDBOXED_H
#define KONTEND_SANDBOXED_H

#include "kontend/broker.h"
#include "kontend/file-access.h"
#include "kontend/newfile.h"
#include "kontend/opts.h"
#include "kontend/output.h"
#include "kontend/reader.h"
#include "kontend/sandbox-state.h"

struct codesource;

/* Things outside of the sandbox that a verb will need once it is inside. All is borrowed. */
struct sandboxed_wants {
	const char *recordings[2]; /* that are to be read; NULL, "-": none */
	const char *const *more;   /* recordings, too, to a NULL; NULL: none */
	const char *symbols;	   /* a file with symbols of a kernel; NULL: none */
	const char *symfs;	   /* a folder with the files that it names; NULL: none */
	const char *folder;	   /* of recordings; NULL: none */
	int fds[2];		   /* of files that are read by these; 0: none */
	const char *make;	   /* a file that may be made; NULL: none */
	int used[2];		   /* descriptors that put() uses; 0 or -1: none */
	bool screen;		   /* it is a terminal's */
	bool here;		   /* new files may be made in the folder that we are in, too */
	bool instructions;	   /* code is disassembled */
	/* Puts what was written in its place, or sends @fd (-1: it is not sent); @give_up: takes it
	 * away. NULL: nothing is. */
	int (*put)(void *ctx, int fd, bool give_up, struct error *err);
	void *put_ctx;
	/* Saves what is open as @fd, as @name in the folder @dir or as one of ours that is called
	 * by it. */
	int (*save)(void *ctx, int dir, const char *name, bool is_base, int fd, char *ret,
		    size_t size, struct error *err);
	void *save_ctx;
	/* Keeps a setting. */
	int (*keep)(const char *path, const char *table, const char *keys, struct error *err);
	const char *config;
	struct codesource *code; /* of the kernel that runs; NULL: not wanted */
};

struct sandboxed {
	struct sandbox sandbox;
	struct broker broker; /* pid 0: we are in no sandbox */
	/* Recordings that were opened before, each for the first who asks; -1: not. */
	const char *names[2];
	int fds[2];
	struct file_access door;
};

/*
 * Call it before the first byte of a recording is read, and before there are threads. Without
 * --no-sandbox the process then has no rights but to read what it is given. 0, or negative with
 * @err; a kernel that cannot do all of it is no failure: see c->sandbox.
 */
int sandboxed_enter(struct sandboxed *c, const struct opts *o, const struct sandboxed_wants *w,
		    struct error *err);
void sandboxed_leave(struct sandboxed *c); /* {0} is fine */

/*
 * Opens files that a recording names, and runs the helpers that read them; NULL: the caller does so
 * itself.
 */
const struct file_access *sandboxed_files(const struct sandboxed *c);
/* So that reader_new() has the recording opened. */
void sandboxed_reader(const struct sandboxed *c, struct reader_options *o);
/*
 * A file that was not there before, open for writing, or -errno with @err. It has no name until
 * sandboxed_made(), which closes it; @give_up: then it gets none.
 */
int sandboxed_make(const struct sandboxed *c, struct newfile *f, const char *path,
		   struct error *err);
int sandboxed_made(const struct sandboxed *c, struct newfile *f, const char *path, bool give_up,
		   struct error *err);
/* The other requests of struct sandboxed_wants; only in a sandbox. */
int sandboxed_put(const struct sandboxed *c, int fd, bool give_up, struct error *err);
/* Of a struct output: what struct sandboxed_wants has as @put; and has it put that way, in a
 * sandbox. */
int sandboxed_put_output(void *output, int fd, bool give_up, struct error *err);
void sandboxed_output(const struct sandboxed *c, struct output *output);
int sandboxed_save(const struct sandboxed *c, const char *name, bool is_base, int fd, char *ret,
		   size_t size, struct error *err);
int sandboxed_keep(const struct sandboxed *c, const char *table, const char *keys,
		   struct error *err);

static inline bool sandboxed_is(const struct sandboxed *c)
{
	return c->broker.pid != 0;
}

#endif
