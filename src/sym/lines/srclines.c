// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions and answers about places. Each file has its places in the order of their lookups: the
 * first `answered` have an answer, the others are to be asked. One question is open at a time, and
 * its answers come in order, so nothing else needs to be remembered.
 */
#include "kontend/srclines.h"
#include "internal.h"
#include "kontend/asked.h"
#include "kontend/clock.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "search.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum srclines_state { FILE_NEW, FILE_MISSING /* debuginfod is asked */, FILE_OPEN, FILE_FAILED };

struct srclines_asked {
	uint64_t addr;
	enum srclines_answer answer;
	struct srclines_place *found;
};

struct srclines_object {
	uint32_t object;
	enum srclines_state state;
	enum srclines_answer answer; /* FAILED */
	const char *why;	     /* NULL: the answer code says all */
	/* Downloaded files; -1: none. */
	int debug, shared;
	/* Build id of the one that is, or will be, downloaded. */
	uint8_t wants[FETCH_ID_MOST];
	size_t wants_len;
	bool wants_shared;
	uint64_t used;
	struct map64 by_addr;
	struct srclines_asked *places;
	size_t n, cap, answered;
};

struct srclines {
	struct usersyms *users;
	struct srclines_config config;
	struct map64 by_object;
	struct srclines_object *files;
	size_t n_files, cap_files, n_places;
	struct strpool names;
	struct srclines_proc proc;
	struct srclines_search search;
	struct srclines_fetch fetch;
	size_t fetching;  /* the file that it is for */
	size_t missing;	  /* files of this state */
	size_t asking;	  /* the file that is looked for, or asked about */
	bool searching;	  /* it is looked for */
	size_t awaited;	  /* answers of the question that is under way */
	uint64_t sent_ns; /* since when */
	uint64_t clock;
	unsigned starts;
	bool given_up, too_long;
	struct srclines_msg msg;
};

/* Asked for at once, and kept for later. */
enum { PLACES_MOST = 1 << 20, PLACES_KEPT = 1 << 16, LOOK_MS = 100 };

int srclines_new(struct srclines **ret, struct usersyms *files, const struct srclines_config *c,
		 struct error *err)
{
	struct srclines *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return error_enomem(err, "source lines");
	l->users = files;
	l->config = *c;
	l->given_up = !c->argv;
	l->fetch.file = -1;
	*ret = l;
	return 0;
}

static void free_places(struct srclines_object *f)
{
	for (size_t i = 0; i < f->n; i++)
		mem_free(f->places[i].found);
	mem_free(f->places);
	map64_deinit(&f->by_addr);
	f->places = NULL;
	f->n = f->cap = f->answered = 0;
}

void srclines_tidy(struct srclines *l)
{
	size_t most = l->config.places_most ? l->config.places_most : PLACES_KEPT;

	/* The places of open questions must stay. */
	if (l->n_places <= most || l->awaited)
		return;
	for (size_t i = 0; i < l->n_files; i++)
		free_places(&l->files[i]);
	l->n_places = 0;
}

static void free_file(struct srclines_object *f)
{
	free_places(f);
	if (f->debug >= 0)
		close(f->debug);
	if (f->shared >= 0)
		close(f->shared);
}

void srclines_free(struct srclines *l)
{
	if (!l)
		return;
	if (l->searching)
		srclines_search_end(&l->search);
	srclines_proc_stop(&l->proc);
	srclines_fetch_stop(&l->fetch);
	for (size_t i = 0; i < l->n_files; i++)
		free_file(&l->files[i]);
	mem_free(l->files);
	map64_deinit(&l->by_object);
	strpool_deinit(&l->names);
	mem_free(l);
}

static struct srclines_object *file_of(struct srclines *l, uint32_t object)
{
	const uint32_t *at = map64_get(&l->by_object, object);

	if (at)
		return &l->files[*at];
	if (mem_grow(&l->files, &l->cap_files, l->n_files, sizeof(*l->files)) < 0 ||
	    map64_put(&l->by_object, object, (uint32_t)l->n_files) < 0)
		return NULL;
	struct srclines_object *f = &l->files[l->n_files++];
	*f = (struct srclines_object){.object = object, .debug = -1, .shared = -1};
	if (!dwarf_file_built()) {
		f->state = FILE_FAILED;
		f->answer = SRCLINES_NOT_BUILT;
	}
	return f;
}

static struct srclines_asked *add_place(struct srclines *l, struct srclines_object *f,
					uint64_t addr)
{
	if (l->n_places >= PLACES_MOST ||
	    mem_grow(&f->places, &f->cap, f->n, sizeof(*f->places)) < 0 ||
	    map64_put(&f->by_addr, addr, (uint32_t)f->n) < 0)
		return NULL;
	f->places[f->n] = (struct srclines_asked){.addr = addr};
	l->n_places++;
	return &f->places[f->n++];
}

static enum srclines_answer of_file(const struct srclines *l, const struct srclines_object *f)
{
	if (f->state == FILE_FAILED)
		return f->answer;
	if (l->given_up)
		return SRCLINES_GIVEN_UP;
	return l->too_long ? SRCLINES_TOO_LONG : SRCLINES_PENDING;
}

static enum srclines_answer of_users(enum usersym_answer a)
{
	if (a == USERSYM_OK || a == USERSYM_PENDING)
		return a == USERSYM_OK ? SRCLINES_OK : SRCLINES_PENDING;
	if (a == USERSYM_NO_MEMORY)
		return SRCLINES_NO_MEMORY;
	return a == USERSYM_NO_SYMBOL ? SRCLINES_NO_LINE : SRCLINES_NO_FILE;
}

enum srclines_answer srclines_find_addr(struct srclines *l, uint32_t object, uint64_t addr,
					const struct srclines_place **ret)
{
	struct srclines_object *f = file_of(l, object);

	if (!f)
		return SRCLINES_NO_MEMORY;
	const uint32_t *at = map64_get(&f->by_addr, addr);
	struct srclines_asked *p = at ? &f->places[*at] : NULL;
	if (p && p->answer != SRCLINES_PENDING) {
		*ret = p->found;
		return p->answer;
	}
	if (!p && of_file(l, f) == SRCLINES_PENDING && !add_place(l, f, addr))
		return SRCLINES_NO_MEMORY;
	return of_file(l, f);
}

enum srclines_answer srclines_find(struct srclines *l, uint32_t object, uint64_t file_offset,
				   const struct srclines_place **ret)
{
	uint64_t addr;
	enum usersym_answer a = usersyms_address(l->users, object, file_offset, &addr);

	return a == USERSYM_OK ? srclines_find_addr(l, object, addr, ret) : of_users(a);
}

enum srclines_answer srclines_member(struct srclines *l, uint32_t object, uint64_t at,
				     struct srclines_member *ret)
{
	const struct srclines_place *p;
	uint64_t addr;
	enum srclines_answer a = of_users(usersyms_data(l->users, object, at, &addr));

	if (a != SRCLINES_OK)
		return a;
	if (addr >= SRCLINES_DATA)
		return SRCLINES_NO_LINE;
	a = srclines_find_addr(l, object, addr | SRCLINES_DATA, &p);
	if (a == SRCLINES_OK)
		*ret = (struct srclines_member){p->frames[0].function, p->frames[0].file,
						p->frames[0].line};
	return a;
}

const char *srclines_why(const struct srclines *l, uint32_t object)
{
	const uint32_t *at = map64_get(&l->by_object, object);

	return at && l->files[*at].state == FILE_FAILED ? l->files[*at].why : NULL;
}

static void fail_file(struct srclines *l, struct srclines_object *f, enum srclines_answer a,
		      const char *why)
{
	char clean[SRCLINES_MSG_TEXT];

	f->state = FILE_FAILED;
	f->answer = a;
	f->why = why && *why ? strpool_intern(&l->names, text_clean(clean, sizeof(clean), why))
			     : NULL;
}

/*
 * Messages to and from the process. If it ends before it has answered, the file in question counts
 * as damaged and is not tried again; all other files are opened again in the next process. It is
 * started a few times at most.
 */

enum { FILES_OPEN = 8, STARTS_MOST = 5 };

/* The limits of the process end it earlier. */
static const uint64_t ANSWER_NS = 180ull * 1000000000;

/* The process has ended, or must be ended (@why). The next one has no open files. */
static void lose_process(struct srclines *l, const char *why)
{
	char text[160];

	srclines_proc_stop(&l->proc);
	for (size_t i = 0; i < l->n_files; i++)
		if (l->files[i].state == FILE_OPEN)
			l->files[i].state = FILE_NEW;
	snprintf(text, sizeof(text), "%s (%s)", srclines_reason(SRCLINES_DAMAGED),
		 why ? why : l->proc.end);
	if (l->awaited)
		fail_file(l, &l->files[l->asking], SRCLINES_DAMAGED, text);
	l->awaited = 0;
	l->given_up |= l->starts >= STARTS_MOST;
}

static bool ask_process(struct srclines *l, size_t answers, const int *fds, size_t n_fds)
{
	if (srclines_proc_send(&l->proc, &l->msg, fds, n_fds) < 0) {
		lose_process(l, NULL);
		return false;
	}
	l->awaited = answers;
	l->sent_ns = clock_now_ns();
	return true;
}

static void ask_places(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];
	struct srclines_msg *m = &l->msg;

	m->kind = SRCLINES_MSG_FIND;
	m->file = f->object;
	m->n = 0;
	for (size_t i = f->answered; i < f->n && m->n < SRCLINES_MSG_PLACES; i++)
		m->addrs[m->n++] = f->places[i].addr;
	f->used = ++l->clock;
	ask_process(l, m->n, NULL, 0);
}

/* Closes the least recently used open file. */
static bool make_room(struct srclines *l)
{
	struct srclines_object *oldest = NULL;
	size_t n = 0;

	for (size_t i = 0; i < l->n_files; i++) {
		struct srclines_object *f = &l->files[i];
		if (f->state != FILE_OPEN)
			continue;
		n++;
		oldest = !oldest || f->used < oldest->used ? f : oldest;
	}
	if (n < FILES_OPEN || !oldest)
		return true;
	l->msg.kind = SRCLINES_MSG_CLOSE;
	l->msg.file = oldest->object;
	oldest->state = FILE_NEW;
	return ask_process(l, 0, NULL, 0);
}

static void ask_to_open(struct srclines *l)
{
	const struct srclines_object *f = &l->files[l->asking];
	const struct srclines_search *s = &l->search;
	const int fds[] = {s->found->fd, s->shared.fd};

	if (!l->proc.pid) {
		l->starts++;
		int r = srclines_proc_start(&l->proc, l->config.door, l->config.argv);
		if (r < 0) {
			l->given_up = true;
			return;
		}
	}
	if (!make_room(l))
		return;
	l->msg.kind = SRCLINES_MSG_OPEN;
	l->msg.file = f->object;
	ask_process(l, 1, fds, s->shared.fd >= 0 ? 2 : 1);
}

static bool keep_place(struct srclines *l, struct srclines_asked *p)
{
	char clean[SRCLINES_MSG_TEXT];

	/* There are thousands, most with one frame: allocate only the used frames. */
	p->found = mem_dup(&l->msg.place, 1,
			   offsetof(struct srclines_place, frames) +
				   l->msg.place.n * sizeof(*l->msg.place.frames));
	for (size_t i = 0; p->found && i < p->found->n; i++) {
		struct srclines_frame *f = &p->found->frames[i];
		f->function =
			strpool_intern(&l->names, text_clean(clean, sizeof(clean), f->function));
		f->file = strpool_intern(&l->names, text_clean(clean, sizeof(clean), f->file));
		if (!f->function || !f->file)
			return false;
	}
	return p->found != NULL;
}

static bool take_place(struct srclines *l, struct srclines_object *f)
{
	struct srclines_asked *p = f->answered < f->n ? &f->places[f->answered] : NULL;

	if (!p || f->state != FILE_OPEN || p->addr != l->msg.addr)
		return false;
	p->answer = l->msg.answer;
	if (p->answer == SRCLINES_OK && !keep_place(l, p)) {
		mem_free(p->found);
		p->found = NULL;
		p->answer = SRCLINES_NO_MEMORY;
	}
	f->answered++;
	return true;
}

static bool take_opened(struct srclines *l, struct srclines_object *f)
{
	if (f->state != FILE_NEW)
		return false;
	f->state = FILE_OPEN;
	f->used = ++l->clock;
	if (l->msg.answer != SRCLINES_OK)
		fail_file(l, f, l->msg.answer, l->msg.why);
	return true;
}

/* An unexpected answer counts as no answer. */
static bool take_answer(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];

	if (l->msg.file != f->object)
		return false;
	if (l->msg.kind == SRCLINES_MSG_OPENED)
		return take_opened(l, f);
	return l->msg.kind == SRCLINES_MSG_PLACE && take_place(l, f);
}

/* False: nothing to receive now. */
static bool receive(struct srclines *l, bool *ret_changed)
{
	int r = srclines_proc_receive(&l->proc, &l->msg);
	bool late = r == 0 && clock_now_ns() - l->sent_ns >= ANSWER_NS;

	if (r == 0 && !late)
		return false;
	*ret_changed = true;
	if (r < 0 || late)
		lose_process(l, late ? "worker took too long" : NULL);
	else if (!take_answer(l))
		lose_process(l, "worker sent an unexpected answer");
	else
		l->awaited--;
	return true;
}

/*
 * Source of a file's debug information: this machine, in steps (lines/search.h), or debuginfod,
 * which another process asks in parallel. The file keeps its download, and the search starts again:
 * first for the debug file, then for the alternate file, if that is missing.
 */

/* A duplicate that its receiver closes, or -1. */
static int copy(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Why debuginfod is not asked for a file of that build id; NULL: it will be. */
static const char *want(struct srclines *l, struct srclines_object *f, const uint8_t *id, size_t n)
{
	const char *why = srclines_fetch_never(&l->fetch, n);

	if (why)
		return why;
	memcpy(f->wants, id, n);
	f->wants_len = n;
	f->state = FILE_MISSING;
	l->missing++;
	return NULL;
}

/* Called if the debug file is not on this machine. PENDING: it will be downloaded. */
static enum srclines_answer from_elsewhere(struct srclines *l, struct srclines_object *f,
					   const char **ret_why)
{
	const struct elfimg *own = &l->search.load.main;
	enum srclines_answer a = SRCLINES_NO_INFO;

	if (f->debug >= 0) {
		a = srclines_search_give(&l->search, copy(f->debug));
		*ret_why = a == SRCLINES_NO_INFO ? srclines_fetch_wrong() : NULL;
	} else if (l->config.fetch_argv) {
		*ret_why = want(l, f, own->build_id, own->build_id_len);
		a = *ret_why ? a : SRCLINES_PENDING;
	}
	return a;
}

/* The alternate debug file; without it some names are missing. True: it will be downloaded. */
static bool wants_shared(struct srclines *l, struct srclines_object *f)
{
	const struct srclines_search *s = &l->search;

	if (!s->lacks_len)
		return false;
	if (f->shared >= 0)
		srclines_search_give_shared(&l->search, copy(f->shared));
	if (f->wants_shared || !l->config.fetch_argv)
		return false;
	f->wants_shared = true;
	return want(l, f, s->lacks, s->lacks_len) == NULL;
}

static void search_on(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];
	enum srclines_answer a = srclines_search_step(&l->search);
	const char *why = NULL;

	if (a == SRCLINES_PENDING)
		return;
	if (a == SRCLINES_NO_INFO)
		a = from_elsewhere(l, f, &why);
	if (a == SRCLINES_OK && !wants_shared(l, f))
		ask_to_open(l);
	else if (a != SRCLINES_OK && a != SRCLINES_PENDING)
		fail_file(l, f, a, why);
	srclines_search_end(&l->search);
	l->searching = false;
}

static void begin_search(struct srclines *l)
{
	struct srclines_object *f = &l->files[l->asking];
	enum srclines_answer a = srclines_search_begin(&l->search, l->users, f->object);

	l->searching = a == SRCLINES_PENDING;
	if (l->searching)
		return;
	srclines_search_end(&l->search);
	fail_file(l, f, a, NULL);
}

static int begin_fetch(struct srclines *l)
{
	l->fetching = 0;
	while (l->files[l->fetching].state != FILE_MISSING)
		l->fetching++;
	const struct srclines_object *f = &l->files[l->fetching];
	return srclines_fetch_start(&l->fetch, l->config.door, l->config.fetch_argv, f->object,
				    f->wants, f->wants_len);
}

/* The function names of a debug file help even if it has no lines. */
static void take_fetched(struct srclines *l, struct srclines_object *f)
{
	int fd = srclines_fetch_file(&l->fetch, f->object);

	if (f->wants_shared) {
		f->shared = fd;
		return;
	}
	f->debug = fd;
	usersyms_give(l->users, f->object, fd);
}

/* One download at a time; all else continues. False: nothing to do now. */
static bool fetch_on(struct srclines *l, bool *ret_changed)
{
	bool is_asked = l->fetch.proc.pid;

	if (!is_asked && (!l->missing || l->given_up))
		return false;
	int r = is_asked ? srclines_fetch_take(&l->fetch) : begin_fetch(l);
	if (r == 0)
		return false;
	struct srclines_object *f = &l->files[l->fetching];
	l->missing--;
	f->state = FILE_NEW;
	if (r == 1)
		take_fetched(l, f);
	else if (!f->wants_shared)
		fail_file(l, f, SRCLINES_NO_INFO, l->fetch.why);
	*ret_changed = true;
	return true;
}

/* The next file with open lookups. False: none. */
static bool ask_next(struct srclines *l)
{
	for (size_t i = 0; i < l->n_files && !l->given_up; i++) {
		struct srclines_object *f = &l->files[i];
		if (f->state == FILE_FAILED || f->state == FILE_MISSING || f->answered == f->n)
			continue;
		l->asking = i;
		if (f->state == FILE_OPEN)
			ask_places(l);
		else
			begin_search(l);
		return true;
	}
	return false;
}

/* False: nothing to do now. */
static bool lines_step(struct srclines *l, bool *ret_changed)
{
	if (fetch_on(l, ret_changed))
		return true;
	if (l->awaited)
		return receive(l, ret_changed);
	if (l->searching) {
		search_on(l);
		*ret_changed |= !l->searching;
		return true;
	}
	return ask_next(l);
}

bool srclines_pump(struct srclines *l, uint64_t budget_ns, bool *ret_changed)
{
	uint64_t begun = clock_now_ns();
	bool more;

	do {
		more = lines_step(l, ret_changed);
	} while (more && clock_now_ns() - begun < budget_ns);
	return more;
}

int srclines_fd(const struct srclines *l)
{
	if (l->awaited)
		return l->proc.fd;
	return l->fetch.proc.pid ? l->fetch.proc.fd : -1;
}

bool srclines_wait(struct srclines *l, uint64_t most_ns)
{
	uint64_t begun = clock_now_ns(), past = 0;
	bool changed = false;

	while (srclines_pump(l, most_ns, &changed) || srclines_fd(l) >= 0) {
		past = clock_now_ns() - begun;
		if (past >= most_ns || asked_to_end()) {
			l->too_long = changed = true;
			break;
		}
		struct pollfd p = {.fd = srclines_fd(l), .events = POLLIN};
		uint64_t ms = (most_ns - past) / 1000000 + 1;
		if (p.fd >= 0)
			poll(&p, 1, ms < LOOK_MS ? (int)ms : LOOK_MS);
	}
	return changed;
}

/* Why a source line is not known, for users. */

const char *srclines_reason(enum srclines_answer a)
{
	static const char *const reasons[SRCLINES_ANSWERS] = {
		[SRCLINES_PENDING] = "debug information is being read",
		[SRCLINES_OK] = "known",
		[SRCLINES_NO_FILE] = "the file cannot be opened",
		[SRCLINES_NO_INFO] = "no debug information",
		[SRCLINES_NO_LINE] = "not in the debug information",
		[SRCLINES_DAMAGED] = "debug information damaged",
		[SRCLINES_NO_MEMORY] = "out of memory",
		[SRCLINES_NOT_BUILT] = "kontend was built without libdw",
		[SRCLINES_GIVEN_UP] =
			"debug information is no longer read: too many files are damaged",
		[SRCLINES_KERNEL] = "lines of the kernel are not looked for",
		[SRCLINES_TOO_LONG] = "reading debug information takes too long",
	};

	return (unsigned)a < SRCLINES_ANSWERS ? reasons[a] : "unknown";
}
