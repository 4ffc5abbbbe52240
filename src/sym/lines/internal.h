/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SYM_LINES_INTERNAL_H
#define KONTEND_SYM_LINES_INTERNAL_H

/* Shared by the parts of srclines.h: the worker processes and their messages. */
#include "kontend/srclines.h"
#include "kontend/strpool.h"

#include <stddef.h>
#include <sys/types.h>

/* proc.c: messages and processes; jail.c: their sandbox */

/*
 * Messages between kontend and the process that reads debug information: datagrams of at most
 * SRCLINES_MSG_MOST bytes, in this machine's byte order. Each side treats what it receives as
 * untrusted.
 */
enum srclines_msg_kind {
	/* Questions. Answers come in the same order; CLOSE has none. */
	SRCLINES_MSG_OPEN = 1, /* a file; descriptors: its own, its alternate file's */
	SRCLINES_MSG_FIND,     /* n places in a file: one answer each */
	SRCLINES_MSG_CLOSE,
	/* Answers. */
	SRCLINES_MSG_OPENED, /* `answer`, and `why` unless it is OK */
	SRCLINES_MSG_PLACE,  /* of an address */
	SRCLINES_MSG_KINDS,
};

enum {
	SRCLINES_MSG_MOST = 48 << 10,
	SRCLINES_MSG_PLACES = 256, /* in one question */
	SRCLINES_MSG_TEXT = 1024,  /* bytes of a name, with its NUL */
};

/* No address of code, of a program or the kernel, has only the upper one of these bits clear. */
#define SRCLINES_DATA (1ull << 62)

static inline bool srclines_is_data(uint64_t addr)
{
	return addr >> 62 == 1;
}

struct srclines_msg {
	enum srclines_msg_kind kind;
	uint32_t file;
	size_t n;			     /* FIND: addresses */
	uint64_t addrs[SRCLINES_MSG_PLACES]; /* with SRCLINES_DATA those of variables */
	uint64_t addr;			     /* PLACE */
	enum srclines_answer answer;
	const char *why;	     /* OPENED: in the bytes; "": no more details */
	struct srclines_place place; /* PLACE that is OK; texts are in the bytes */
};

/*
 * Writes the message to @buf, which has SRCLINES_MSG_MOST bytes, and returns its length. Longer
 * texts are cut.
 */
size_t srclines_msg_put(uint8_t *buf, const struct srclines_msg *m);
/* False: not a valid message. @ret is valid as long as @buf. */
bool srclines_msg_get(const uint8_t *buf, size_t n, struct srclines_msg *ret);

/* The process that reads debug information, for its parent. */
struct srclines_proc {
	pid_t pid;			/* 0: not running */
	const struct file_access *door; /* started it; NULL: started directly */
	int fd;
	char end[96]; /* how the last one ended: "worker ended by signal 11" */
	uint8_t bytes[SRCLINES_MSG_MOST];
};

/* @door, @argv: as in srclines_config. 0 or a negative errno. */
int srclines_proc_start(struct srclines_proc *p, const struct file_access *door,
			const char *const *argv);
/* Ends it, if it runs, and fills in `end`. */
void srclines_proc_stop(struct srclines_proc *p);
/* Sends @n descriptors, too, which stay the caller's. 0; -EAGAIN: not now; other: broken. */
int srclines_proc_send(struct srclines_proc *p, const struct srclines_msg *m, const int *fds,
		       size_t n);
/* The next answer, in p->bytes. 1; 0: none yet; negative: the process has ended, or is broken. */
int srclines_proc_receive(struct srclines_proc *p, struct srclines_msg *ret);

/*
 * Gives up for good all that the process reading debug information does not need: descriptors
 * except standard streams and @fd, capabilities, root (if it may change its user),
 * unlimited memory, and nearly all system calls. 0 or a negative errno, after which nothing must be
 * read.
 */
int srclines_jail(int fd);
/*
 * Before each question: limits the CPU and wall time of the process; over the limit, the kernel
 * kills it.
 */
void srclines_jail_budget(unsigned cpu_s, unsigned wall_s);

/*
 * For a process that needs the network and its user's files: closes descriptors except standard
 * streams and @fd, drops capabilities; it ends with its parent.
 */
int srclines_jail_rights(int fd);
/* If the kernel can enforce it: no execution, and writes only below folder @path. */
int srclines_jail_writes(const char *path);

/* dwarf.c, by libdw, in the worker process; or dwarf-none.c */

/* Debug information of one file. */
struct dwarf_file;

/*
 * Takes over @fd and @alt (its alternate debug file; -1: none), even on failure. SRCLINES_OK with
 * @ret; or an error code with its reason in *ret_why, which may be "".
 */
enum srclines_answer dwarf_file_open(struct dwarf_file **ret, int fd, int alt,
				     const char **ret_why);
void dwarf_file_close(struct dwarf_file *d); /* NULL is fine */
/* Stores texts of @ret in @names. */
enum srclines_answer dwarf_file_find(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				     struct srclines_place *ret);
/*
 * The same for the byte at @addr of a variable: one frame, whose function is the way from the
 * variable to that member, "[3].lock", or "", whose line is the number of bytes from its begin, and
 * whose file is the function that the variable is within, or "".
 */
enum srclines_answer dwarf_file_member(struct dwarf_file *d, uint64_t addr, struct strpool *names,
				       struct srclines_place *ret);
bool dwarf_file_built(void); /* false: every answer is SRCLINES_NOT_BUILT */

/* fetch.c */

enum { FETCH_WHY = 192, FETCH_ID_MOST = 64 };

/* The process that downloads one debug file, and its result. */
struct srclines_fetch {
	struct srclines_proc proc; /* pid 0: there is none */
	uint64_t begun_ns;
	uint32_t object; /* for this object */
	int file;	 /* downloaded for it; -1: none */
	unsigned failures;
	char why[FETCH_WHY]; /* "no debug information (...)" */
};

/* Why no download can succeed for a file with a build id of this length; NULL: it may. */
const char *srclines_fetch_never(struct srclines_fetch *f, size_t id_len);
/* Message for a file that srclines_search_give() rejects. */
const char *srclines_fetch_wrong(void);
/*
 * @argv: as in srclines_config; @n: at most FETCH_ID_MOST bytes of @id. 0, or a negative errno and
 * `why`.
 */
int srclines_fetch_start(struct srclines_fetch *f, const struct file_access *door,
			 const char *const *argv, uint32_t object, const uint8_t *id, size_t n);
/*
 * 1: `file` is downloaded, not checked yet; 0: not finished; negative: failed, with `why` set. If
 * not 0, the process has ended.
 */
int srclines_fetch_take(struct srclines_fetch *f);
/* The file downloaded for @object, the caller's from now on; -1: none. */
int srclines_fetch_file(struct srclines_fetch *f, uint32_t object);
void srclines_fetch_stop(struct srclines_fetch *f); /* and closes the file */

#endif
