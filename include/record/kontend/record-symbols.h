/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_RECORD_SYMBOLS_H
#define KONTEND_RECORD_SYMBOLS_H

#include "kontend/record-file.h"
#include "kontend/record-sampler.h"
#include "kontend/resolve-final.h"

struct lock_requests;
struct opts;
struct resolve_thread;
struct sym;
struct symbol_batch;

/*
 * Names of functions in a recording, and of the variables that locks of programs are in: found
 * while it is made (resolve-thread.h), or at its end if it can be read again (resolve-final.h).
 * Zeroed: no names.
 */
struct record_symbols {
	bool wanted;	    /* names of functions; else only those of locks of programs */
	bool started;	    /* the resolver has */
	uint64_t max_bytes; /* limit of a file; 0: none */
	struct codesource *code;
	struct record_sampler sampler; /* feed it with all recorded data */
	struct resolve_thread *resolver;
	uint64_t left;		     /* functions without room */
	struct symbol_batch *tables; /* for later files */
	size_t tables_bytes;
	uint64_t left_tables;
};

/* @requests: by which the snapshots of locks are asked for names of locks; NULL: they are not. */
int record_symbols_init(struct record_symbols *t, const struct opts *o, struct codesource *code,
			struct lock_requests *requests, struct error *err);
int record_symbols_start(struct record_symbols *t, struct error *err);
/* Bytes of a file to keep free for names, which are found when it is nearly full. */
uint64_t record_symbols_reserve(const struct record_symbols *t);
/* Writes new names, between two records. 0 or negative. */
int record_symbols_put(struct record_symbols *t, struct record_file *f, struct error *err);
/* To be called for a file that follows another: writes names that apply to both. 0 or negative. */
int record_symbols_begin(struct record_symbols *t, struct record_file *f, struct error *err);
/*
 * To be called at the end of a file that others follow. @ended: the stream has ended as well. 0 or
 * negative.
 */
int record_symbols_cut(struct record_symbols *t, struct record_file *f, bool ended,
		       struct error *err);
/*
 * To be called at the end of the recording, before record_file_finish(). Returns a message about
 * missing names, in err->text; NULL: none. The recording is good in any case.
 */
const char *record_symbols_end(struct record_symbols *t, struct record_file *f,
			       const struct resolve_final_options *o, struct error *err);
void record_symbols_deinit(struct record_symbols *t);

/* Kernel code for each file of a recording. `= {0}`: none. */
struct record_text {
	char *body; /* of a RECORD_SNAPSHOT */
	size_t len;
};

/* Reads the code of the functions in @kallsyms. None if it is unreadable. 0 or -ENOMEM. */
int record_text_take(struct record_text *t, struct codesource *c, const struct record *kallsyms,
		     struct error *err);
/* The same for the functions of a symbol table. */
int record_text_of(struct record_text *t, struct codesource *c, const struct sym *sym,
		   struct error *err);
/* 0, also if there is no code or no room; or negative. */
int record_text_put(const struct record_text *t, struct record_file *f, struct error *err);
void record_text_deinit(struct record_text *t);

#endif
