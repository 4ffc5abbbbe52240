// SPDX-License-Identifier: GPL-2.0-only
/*
 * The origin of a wait: the system call that it is in, by the kernel part of its call chain, and
 * the place in the program, by the user part. Both are worked out once for a call chain, and kept
 * from frame to frame until names change. A place whose debug information is not read yet is asked
 * for again in the next frame.
 */
#include "../rows.h"
#include "names.h"

#include "kontend/entry.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/runs.h"
#include "kontend/stack.h"
#include "kontend/usercode.h"
#include "kontend/waitrec.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

static const char no_chain[] = "there is no call chain";
const char query_loading[] = "(loading)";

/* Of the user part of a chain. */
struct walk {
	const uint64_t *frames;
	uint32_t n, at;
	const char *call; /* the system call; NULL: none */
	struct arena *to; /* of texts */
};

static const char *why_unknown(const struct query *q, uint32_t n, uint32_t named)
{
	const struct model *m = q->model;

	if (!n)
		return "no kernel frames are taken of locks of programs";
	if (!named)
		return "the kernel's functions have no names here";
	if (n + m->traced_most >= m->chain_limit || n + m->traced_most >= WAITREC_FRAMES)
		return "the call chain is cut";
	return "no function in the call chain says it";
}

static const char *why_not(const struct query *q, enum entry_kind kind, uint32_t n, uint32_t named)
{
	if (kind == ENTRY_KTHREAD)
		return "a kernel thread";
	return kind == ENTRY_IDLE ? "an idle CPU" : why_unknown(q, n, named);
}

/* How many functions have names. */
static uint32_t find_entry(struct query *q, const uint64_t *frames, uint32_t n, struct entry *ret)
{
	const char *names[STACK_MAX_FRAMES];
	uint32_t named = 0;

	n = n < STACK_MAX_FRAMES ? n : STACK_MAX_FRAMES;
	for (uint32_t i = 0; i < n; i++) {
		const char *name = query_func_name(q, query_func(q, frames[i]));
		names[i] = name && strncmp(name, "0x", 2) ? name : NULL;
		named += names[i] != NULL;
	}
	entry_find(names, n, ret);
	return named;
}

static const char *text_of(struct query *q, struct arena *a, const struct entry *e)
{
	if (e->kind != ENTRY_SYSCALL)
		return entry_text(e->kind);
	const char *text = arena_printf(a, "%s", e->name);
	q->cache->failed |= !text;
	return text;
}

const char *query_syscall(struct query *q, const uint64_t *frames, uint32_t n)
{
	struct entry e;

	find_entry(q, frames, n, &e);
	return text_of(q, &q->arena, &e);
}

static void find_syscall(struct query *q, const struct walk *w, struct query_origin *o,
			 enum entry_kind *ret_kind)
{
	struct entry e;
	uint32_t named = find_entry(q, w->frames, w->at, &e);

	*ret_kind = e.kind;
	o->syscall = text_of(q, w->to, &e);
	if (!o->syscall)
		o->syscall_why = why_not(q, e.kind, w->at, named);
}

static const struct map_object *object_of(const struct query *q, uint64_t frame)
{
	return map_object_get(q->model->profile->spaces.objects, map_frame_object(frame));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* "commit_log+0x1c"; code that a JIT made has the line in its name, or none. */
static const char *without_line(struct query *q, struct arena *a, uint64_t frame, uint32_t func)
{
	const struct query_func *f = &q->cache->funcs[func];
	const struct map_object *o = object_of(q, frame);
	uint64_t into = map_frame_offset(frame) - map_frame_offset(f->start);

	if (f->unnamed || (o && map_is_memory(o->path)))
		return f->name;
	return arena_printf(a, "%s+0x%" PRIx64, f->name, into);
}

/* The innermost function there that is no runtime's; inlined ones, too. NULL: no line is known. */
static const char *with_line(struct query *q, struct arena *a, const struct srclines_place *p,
			     uint32_t func)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct srclines_frame *f = &p->frames[i];
		bool is_last = i + 1 == p->n;
		const char *name =
			*f->function && !is_last ? f->function : q->cache->funcs[func].name;
		if (!*f->file || !f->line ||
		    (!is_last && (usercode_is_runtime_function(f->function) ||
				  usercode_is_library_header(f->file))))
			continue;
		return arena_printf(a, "%s:%" PRIu32 " %s", base_name(f->file), f->line, name);
	}
	return NULL;
}

static const char *place_text(struct query *q, const struct walk *w, uint32_t i, bool *ret_pending)
{
	uint32_t func = query_func(q, w->frames[i]);
	const struct srclines_place *p;
	const char *why, *text = NULL;
	const struct query_func *f = &q->cache->funcs[func];

	if (f->unnamed && f->unnamed == usersym_reason(USERSYM_PENDING)) {
		*ret_pending = q->cache->asked = true;
		return query_loading;
	}
	/* The address of the entry into the kernel is exact, others are return addresses. */
	enum srclines_answer a = query_place(q, w->frames[i], i > w->at, &p, &why);
	*ret_pending |= a == SRCLINES_PENDING;
	q->cache->asked |= *ret_pending;
	if (a == SRCLINES_OK)
		text = with_line(q, w->to, p, func);
	if (!text)
		text = without_line(q, *ret_pending ? &q->arena : w->to, w->frames[i], func);
	q->cache->failed |= !text;
	return text;
}

/* A function without a name between those of a lock, as stripped programs have them. */
static bool is_within_lock(struct query *q, const struct walk *w, uint32_t i)
{
	const char *unnamed = q->cache->funcs[query_func(q, w->frames[i])].unnamed;

	return unnamed && unnamed != usersym_reason(USERSYM_PENDING) && i > w->at && i + 1 < w->n &&
	       map_frame_object(w->frames[i - 1]) == map_frame_object(w->frames[i]) &&
	       map_frame_object(w->frames[i + 1]) == map_frame_object(w->frames[i]) &&
	       usercode_is_lock(query_func_name(q, query_func(q, w->frames[i - 1]))) &&
	       usercode_is_lock(query_func_name(q, query_func(q, w->frames[i + 1])));
}

static bool is_runtime(struct query *q, const struct walk *w, uint32_t i)
{
	const struct map_object *o = object_of(q, w->frames[i]);

	if ((o && usercode_is_runtime_object(o->path)) || is_within_lock(q, w, i))
		return true;
	const char *name = query_func_name(q, query_func(q, w->frames[i]));
	return usercode_is_runtime_function(name) ||
	       (i == w->at && usercode_is_wrapper(name, w->call));
}

/* A runtime whose object is in the chain; it says how to get names. */
static bool has_object(const struct query *q, const struct walk *w, const char *name)
{
	for (uint32_t i = w->at; i < w->n; i++) {
		const struct map_object *o = object_of(q, w->frames[i]);
		const char *base = o ? base_name(o->path) : "";
		if (strncmp(base, name, strlen(name)) == 0 &&
		    !isalpha((unsigned char)base[strlen(name)]))
			return true;
	}
	return false;
}

/* With node --interpreted-frames-native-stack, the interpreter runs Node's own functions only. */
static bool has_interpreted(struct query *q, const struct walk *w)
{
	for (uint32_t i = w->at; i < w->n; i++) {
		const char *name = query_func_name(q, query_func(q, w->frames[i]));
		if (name && strstr(name, ":~"))
			return true;
	}
	return false;
}

/* Why it is open which function of the program a frame is; NULL: it is not open. */
static const char *why_hidden(struct query *q, const struct walk *w, uint32_t i)
{
	uint32_t func = query_func(q, w->frames[i]);
	const char *unnamed = q->cache->funcs[func].unnamed;
	const struct map_object *o = object_of(q, w->frames[i]);

	bool is_memory = o && map_is_memory(o->path);

	if (usercode_is_interpreter(query_func_name(q, func))) {
		if (!has_object(q, w, "node"))
			return is_memory ? "Java interprets it: only compiled methods have names"
					 : NULL;
		return has_interpreted(q, w) ? NULL
					     : "Node interprets it: see node "
					       "--interpreted-frames-native-stack";
	}
	if (!unnamed || unnamed == usersym_reason(USERSYM_PENDING) || !is_memory)
		return NULL;
	if (has_object(q, w, "libjvm.so") || has_object(q, w, "libnio.so"))
		return "no perf map: see jcmd PID Compiler.perfmap";
	return has_object(q, w, "node") ? "no perf map: see node --perf-basic-prof"
					: "compiled at run time, and no perf map has its name";
}

/* Around the library that made the call, if all is a runtime's. One that begins a thread called it
 * only once. */
static uint32_t least_bad(struct query *q, const struct walk *w, uint32_t end)
{
	for (uint32_t i = w->at; i < end; i++) {
		if (map_frame_object(w->frames[i]) == map_frame_object(w->frames[w->at]))
			continue;
		const char *name = query_func_name(q, query_func(q, w->frames[i]));
		return usercode_begins_thread(name) ? w->at : i;
	}
	return w->at;
}

/* The innermost frame that is no runtime's; the mark or the end before which there is none. */
static uint32_t after_runtimes(struct query *q, const struct walk *w)
{
	uint32_t i = w->at;

	while (i < w->n && !map_frame_is_mark(w->frames[i]) && !why_hidden(q, w, i) &&
	       is_runtime(q, w, i))
		i++;
	return i;
}

static bool is_own_code(const struct walk *w, uint32_t i)
{
	return i < w->n && !map_frame_is_mark(w->frames[i]);
}

uint32_t query_own_frame(struct query *q, const uint64_t *frames, uint32_t n)
{
	const struct walk w = {.frames = frames, .n = n};
	uint32_t i = after_runtimes(q, &w);

	return is_own_code(&w, i) ? i : least_bad(q, &w, i);
}

/* Lines of Python stand for its interpreter where a snapshot has read them. */
static const char *why_only_runtime(const struct query *q, const struct walk *w)
{
	return has_object(q, w, "python") || has_object(q, w, "libpython")
		       ? "Python interprets it: its lines are read of waits over 10 ms"
		       : NULL;
}

static void find_place(struct query *q, const struct walk *w, struct query_origin *o,
		       bool *ret_pending)
{
	uint32_t i = after_runtimes(q, w);
	bool found = is_own_code(w, i);

	/* It ends before the program's own code. */
	if (!found && i < w->n) {
		o->at_why = query_func_name(q, query_func(q, w->frames[i]));
		return;
	}
	o->at_why = found ? why_hidden(q, w, i) : why_only_runtime(q, w);
	if (o->at_why)
		return;
	o->at_library = !found;
	o->at = place_text(q, w, found ? i : least_bad(q, w, i), ret_pending);
}

static const char *why_no_user(enum entry_kind kind)
{
	return kind == ENTRY_KTHREAD	? "a kernel thread"
	       : kind == ENTRY_IDLE	? "an idle CPU"
	       : kind == ENTRY_IO_URING ? "a worker of io_uring"
					: "the call chain has no user frames";
}

/* Is there surely no line of a program? */
static bool has_none(enum entry_kind kind)
{
	return kind == ENTRY_KTHREAD || kind == ENTRY_IDLE || kind == ENTRY_IO_URING ||
	       kind == ENTRY_INTERRUPT;
}

/* True: debug information is being read. */
static bool make(struct query *q, const struct walk *w, struct query_origin *o)
{
	enum entry_kind kind = ENTRY_UNKNOWN;
	struct walk of = *w;
	bool pending = false;

	*o = (struct query_origin){.known = true};
	if (!w->n) {
		o->syscall_why = o->at_why = no_chain;
		o->syscall_lacks = o->at_lacks = true;
		return false;
	}
	find_syscall(q, w, o, &kind);
	of.call = o->syscall;
	if (w->at < w->n && kind == ENTRY_INTERRUPT)
		o->at_why = "an interrupt: the program did not ask for it";
	else if (w->at < w->n)
		find_place(q, &of, o, &pending);
	if (!o->at && !o->at_why)
		o->at_why = why_no_user(kind);
	o->syscall_lacks = !o->syscall && !has_none(kind);
	o->faults = kind == ENTRY_FAULT;
	o->at_lacks = !o->at && !has_none(kind);
	o->syscall_id = o->syscall ? hash_text(HASH_START, o->syscall) : 0;
	o->at_id = o->at ? hash_text(HASH_START, o->at) : 0;
	return pending;
}

void query_origin_of(struct query *q, const struct query_chain_parts *c, struct query_origin *ret)
{
	uint64_t frames[2 * STACK_MAX_FRAMES];
	struct walk w = {.frames = frames, .to = &q->arena};

	w.at = c->n_kernel < STACK_MAX_FRAMES ? c->n_kernel : STACK_MAX_FRAMES;
	w.n = w.at + (c->n_user < STACK_MAX_FRAMES ? c->n_user : STACK_MAX_FRAMES);
	for (uint32_t i = 0; i < w.n; i++)
		frames[i] = i < w.at ? c->kernel[i] : c->user[i - w.at];
	make(q, &w, ret);
}

bool query_user_at(struct query *q, const uint64_t *frames, uint32_t n, struct query_origin *ret)
{
	const struct walk w = {.frames = frames, .n = n, .to = &q->arena};
	bool pending = false;

	*ret = (struct query_origin){.known = true};
	if (n)
		find_place(q, &w, ret, &pending);
	return pending;
}

static const struct query_origin none = {.known = true,
					 .syscall_why = no_chain,
					 .at_why = no_chain,
					 .syscall_lacks = true,
					 .at_lacks = true};

static bool grow(struct query_origins *s, size_t n)
{
	if (n <= s->n)
		return true;
	struct query_origin *p = mem_resize(s->list, n + n / 2, sizeof(*p));
	if (!p)
		return false;
	memset(p + s->n, 0, (n + n / 2 - s->n) * sizeof(*p));
	s->list = p;
	s->n = n + n / 2;
	return true;
}

/* The chain of @n_frames is the one of that number, of @n. */
static const struct query_origin *origin_of(struct query *q, struct query_origins *s,
					    uint32_t number, size_t n, const uint64_t *frames,
					    uint32_t n_frames)
{
	const struct walk w = {.frames = frames,
			       .n = n_frames,
			       .at = stack_kernel_part(frames, n_frames),
			       .to = &q->cache->text};

	if (!grow(s, n)) {
		q->cache->failed = true;
		return &none;
	}
	struct query_origin *o = &s->list[number];
	if (!o->known || (o->frame && o->frame != q->frame))
		o->frame = make(q, &w, o) ? q->frame : 0;
	/* One for which memory lacked is asked for again. */
	o->known = !q->cache->failed;
	return o;
}

const struct query_origin *query_origin(struct query *q, uint32_t stack)
{
	const struct stack_table *t = q->model->stacks;

	if (stack >= t->n)
		return &none;
	return origin_of(q, &q->cache->origins, stack, t->n, stack_frames(t, stack),
			 t->stacks[stack].n);
}

const struct query_origin *query_run_origin(struct query *q, const struct runs *r, uint32_t stack)
{
	const struct runs_stack *s = stack < r->n_stacks ? &r->stacks[stack] : NULL;

	return s ? origin_of(q, &q->cache->run_origins, stack, r->n_stacks, s->frames, s->n)
		 : &none;
}

const struct query_origin *query_origin_whole(struct query *q, uint32_t stack)
{
	const struct query_origin *o;

	query_begin(q);
	do {
		if (query_sync(q) < 0)
			return NULL;
		o = query_origin(q, stack);
		if (o->frame)
			q->cache->origins.list[stack].known = false;
	} while (o->frame && query_load_wait(q, QUERY_WAIT_NS));
	return q->cache->failed ? NULL : o;
}

bool query_has_program(const struct query *q)
{
	const struct stack_table *t = q->model->stacks;

	for (uint32_t i = 1; i < t->n; i++)
		if (t->stacks[i].used && t->stacks[i].n &&
		    !map_frame_is_kernel(stack_frames(t, i)[t->stacks[i].n - 1]))
			return true;
	return false;
}

/* True: names of functions there are still to come. */
static bool ask_names(struct query *q, uint32_t stack)
{
	const struct stack_table *t = q->model->stacks;
	bool pending = false;

	for (uint32_t i = 0; i < t->stacks[stack].n; i++) {
		uint32_t func = query_func(q, stack_frames(t, stack)[i]);
		pending |= q->cache->funcs[func].unnamed == usersym_reason(USERSYM_PENDING);
	}
	return pending;
}

/* Those whose lines are still to come are worked out again. */
static void ask_again(struct query_origins *s)
{
	for (size_t i = 1; i < s->n; i++)
		s->list[i].known &= !s->list[i].frame;
}

/* A report waits for names and lines; a screen is drawn again when they have come. */
int query_origins_load(struct query *q)
{
	const struct stack_table *t = q->model->stacks;
	bool pending;

	if (q->keeps)
		return 0;
	do {
		pending = query_programs_load(q);
		for (uint32_t i = 1; i < t->n; i++) {
			if (!t->stacks[i].used)
				continue;
			const bool has_more = query_origin(q, i)->frame != 0;
			pending |= ask_names(q, i) || has_more;
		}
		if (q->cache->failed)
			return -ENOMEM;
		if (pending)
			ask_again(&q->cache->origins);
	} while (pending && query_load_wait(q, QUERY_WAIT_NS) && query_sync(q) == 0);
	return q->cache->failed ? -ENOMEM : 0;
}

int query_run_origins_load(struct query *q, const struct runs *r)
{
	struct query_origins *s = &q->cache->run_origins;
	bool pending;

	if (q->keeps)
		return 0;
	do {
		pending = false;
		for (uint32_t i = 1; i < r->n_stacks; i++)
			if (r->stacks[i].n > r->stacks[i].n_kernel)
				pending |= query_run_origin(q, r, i)->frame != 0;
		if (q->cache->failed)
			return -ENOMEM;
		if (pending)
			ask_again(s);
	} while (pending && query_load_wait(q, QUERY_WAIT_NS) && query_sync(q) == 0);
	return q->cache->failed ? -ENOMEM : 0;
}

void query_fill_syscall(const struct query_origin *o, struct value *v, struct value *reason)
{
	value_s(v, o->syscall);
	value_s(reason, o->syscall_why);
}

void query_fill_at(const struct query_origin *o, struct value *v, struct value *reason)
{
	value_s(v, o->at);
	v->approx = o->at_library;
	value_s(reason, o->at_why);
}

void query_origins_drop(struct query_cache *c)
{
	mem_free(c->origins.list);
	mem_free(c->run_origins.list);
}
