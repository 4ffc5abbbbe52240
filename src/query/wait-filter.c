// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of waits and samples. A term is about a lock, a call chain, a task, a CPU or an owner, of
 * which there are far fewer than cells: so what a term says of each is kept, and a cell costs a
 * look at a byte for each term. A term about call chains holds if it does for one of their frames.
 */
#include "wait-filter.h"
#include "hot/list.h"
#include "kontend/columns.h"
#include "kontend/event-filter.h"
#include "kontend/lock.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/wait-filter.h"
#include "rows.h"

#include <errno.h>
#include <string.h>

enum {
	C_LOCK,
	C_KIND,
	C_TYPE,
	C_MODE,
	C_NAME,
	C_OBJECT,
	C_PATH,
	C_CALLER,
	C_STACK,
	C_TASK,
	C_PROCESS,
	C_PID,
	C_TID,
	C_COMM,
	C_CGROUP,
	C_CPU,
	C_OWNER,
	C_COLUMNS
};

/* Called as in the tables of waits. */
static const struct column columns[C_COLUMNS] = {
	[C_LOCK] = {COL_LOCK, 18, 0, R},
	[C_KIND] = {COL_KIND, 10, 0, S},
	[C_TYPE] = {COL_TYPE, 9, 0, R},
	[C_MODE] = {COL_MODE, 4, 0, R},
	[C_NAME] = {COL_NAME, 20, 0, S},
	[C_OBJECT] = {COL_OBJECT, 12, 0, R},
	[C_PATH] = {COL_PATH, 20, 0, R},
	[C_CALLER] = {COL_CALLER, 20, 0, S},
	[C_STACK] = {COL_STACK, 40, 0, S},
	[C_TASK] = {COL_TASK, 16, 0, S},
	[C_PROCESS] = {COL_PROCESS, 16, 0, S},
	[C_PID] = {COL_PID, 7, 0, R},
	[C_TID] = {COL_TID, 7, 0, R},
	[C_COMM] = {COL_COMM, 16, 0, R},
	[C_CGROUP] = {COL_CGROUP, 24, 0, S},
	[C_CPU] = {COL_WAIT_CPU, 4, 0, S},
	[C_OWNER] = {"owner", "OWNER", "task that held the lock when the wait began", COLUMN_TEXT,
		     16, 0, S},
};

const struct table_kind wait_filter_kind = {"waits", columns, C_COLUMNS, NULL, NULL};

/* The subject of each column: a bit of enum event_filter_about. */
enum about { LOCK, CHAIN, TASK, CPU, OWNER };

static enum about about_of(size_t col)
{
	if (col <= C_PATH)
		return LOCK;
	if (col <= C_STACK)
		return CHAIN;
	if (col <= C_CGROUP)
		return TASK;
	return col == C_CPU ? CPU : OWNER;
}

static int check_words(const struct filter *f, struct error *err)
{
	for (size_t i = 0; i < f->n_terms; i++)
		if (f->terms[i].col == SIZE_MAX)
			return error_set(err, -EINVAL,
					 "filter term '%s': say what it is of, as in caller:%s",
					 f->terms[i].word, f->terms[i].word);
	return 0;
}

int only_init(struct only *o, struct query *q, struct arena *a, const char *filter,
	      struct error *err)
{
	*o = (struct only){.q = q, .arena = a};
	int r = filter_parse(&o->f, a, filter, columns, C_COLUMNS, err);
	if (r == 0)
		r = check_words(&o->f, err);
	if (r < 0)
		return r;
	o->waits = arena_alloc(a, (o->f.n_terms + 1) * sizeof(*o->waits));
	o->samples = arena_alloc(a, (o->f.n_terms + 1) * sizeof(*o->samples));
	return o->waits && o->samples ? 0 : query_enomem(err, "filter");
}

void only_deinit(struct only *o)
{
	filter_deinit(&o->f);
}

int wait_filter_check(const char *filter, struct error *err)
{
	struct arena a = {0};
	struct only o;
	int r = only_init(&o, NULL, &a, filter, err);

	only_deinit(&o);
	arena_deinit(&a);
	return r;
}

unsigned only_asks(const struct only *o)
{
	unsigned all = 0;

	for (size_t i = 0; i < o->f.n_terms; i++)
		all |= 1u << about_of(o->f.terms[i].col);
	return all;
}

bool only_asks_chains(const struct only *o)
{
	return o->f.want & (1ull << C_STACK | 1ull << C_CALLER);
}

bool only_asks_waiters(const struct only *o)
{
	return o->f.want >> C_TASK;
}

bool only_asks_locks(const struct only *o)
{
	return !(o->f.want >> C_CALLER);
}

bool only_asks_names(const struct only *o)
{
	return o->f.want & ~(1ull << C_LOCK | 1ull << C_KIND | 1ull << C_TYPE | 1ull << C_MODE |
			     1ull << C_PID | 1ull << C_TID | 1ull << C_CPU);
}

bool event_filter_needs_names(const char *filter)
{
	struct arena a = {0};
	struct only o;
	bool yes = only_init(&o, NULL, &a, filter, NULL) == 0 && only_asks_names(&o);

	only_deinit(&o);
	arena_deinit(&a);
	return yes;
}

/* Names are loaded before waits are counted by them; a screen does not wait for them. */
int only_load_names(const struct only *o)
{
	struct query *q = o->q;

	if (!q->keeps && only_asks_chains(o) && (q->model->profile->n || query_has_program(q)))
		return hot_load_chains(q);
	return query_sync(q);
}

static void fill_lock(struct query *q, size_t col, uint32_t lock, bool streams, struct value *v)
{
	const struct lock *l = &q->model->locks->locks[lock];
	enum lock_type type = (enum lock_type)l->type;
	const struct lockname *n;

	switch (col) {
	case C_LOCK:
		*v = (struct value){.u = l->addr, .known = lock >= LOCK_TYPES};
		return;
	case C_KIND:
		value_s(v, locktype_name(type));
		return;
	case C_TYPE:
		value_s(v, locktype_base(type));
		return;
	case C_MODE:
		value_s(v, locktype_mode(type));
		return;
	case C_NAME:
		value_s(v, streams ? query_lock_plain_name(q, lock) : query_lock_name(q, lock));
		return;
	default:
		n = query_lock_place(q, l->addr, l->begin_ns);
		if (n && col == C_OBJECT)
			value_s(v, query_object_kind(n));
		else if (n && query_object_has_path(n))
			value_s(v, n->text);
	}
}

static void fill_task(struct query *q, size_t col, uint32_t task, struct value *v)
{
	const struct task *t = &q->model->tasks->tasks[task];

	if (task == TASK_OTHER)
		return;
	switch (col) {
	case C_TASK:
		value_s(v, query_task_name(q, task));
		return;
	case C_PROCESS:
		value_s(v, query_process_name(q, task));
		return;
	case C_PID:
		value_task(v, t->pid);
		return;
	case C_TID:
		value_task(v, t->tid);
		return;
	case C_COMM:
		value_s(v, query_task_comm_or_idle(q, task));
		return;
	default:
		value_s(v, query_cgroup_name(q, t->cgroup));
	}
}

static bool holds_value(const struct only *o, uint32_t term, const struct value *v)
{
	const struct filter_term *t = &o->f.terms[term];
	struct filter_term alone = *t;

	alone.col = 0;
	return filter_term_match(&alone, &columns[t->col], 1, v);
}

static bool holds_frame(const struct only *o, uint32_t term, uint32_t func)
{
	struct value v = {0};

	if (func)
		value_s(&v, query_func_name(o->q, func));
	return holds_value(o, term, &v);
}

static bool has_function(const struct only *o, uint32_t term, const struct stack_table *t,
			 uint32_t stack)
{
	bool is_wait = t == o->q->model->stacks;

	if (o->f.terms[term].col == C_CALLER)
		return is_wait && holds_frame(o, term, query_caller(o->q, stack));
	for (uint32_t i = 0; i < t->stacks[stack].n; i++)
		if (holds_frame(o, term, query_func(o->q, stack_frames(t, stack)[i])))
			return true;
	return false;
}

/* Events of a stream are asked for as they come, and so are the names of their chains. */
static bool holds_chain(const struct only *o, uint32_t term, const struct stack_table *t,
			uint32_t stack)
{
	bool yes;

	do
		yes = has_function(o, term, t, stack);
	while (!yes && o->streams && query_load_again(o->q) && query_sync(o->q) == 0);
	return yes;
}

static bool holds(const struct only *o, uint32_t term, const struct stack_table *t,
		  const struct query_where *w)
{
	size_t col = o->f.terms[term].col;
	struct value v = {0};

	switch (about_of(col)) {
	case LOCK:
		if (w->lock == UINT32_MAX)
			return false;
		fill_lock(o->q, col, w->lock, o->streams, &v);
		break;
	case CHAIN:
		return holds_chain(o, term, t, w->stack);
	case TASK:
		fill_task(o->q, col, w->task, &v);
		break;
	case CPU:
		value_i(&v, w->cpu == CELL_NO_CPU ? -1 : w->cpu);
		break;
	case OWNER:
		value_s(&v, query_owner_name(o->q, w->owner));
		break;
	}
	return holds_value(o, term, &v);
}

static size_t index_of(enum about about, const struct query_where *w)
{
	return about == LOCK ? w->lock : about == CHAIN ? w->stack : w->task;
}

/* NULL: it is not kept. */
static uint8_t *known_of(struct only *o, struct only_memo *m, enum about about,
			 const struct query_where *w)
{
	size_t i = index_of(about, w), n = i * 2 + 1024;

	if (about == CPU || about == OWNER || i == UINT32_MAX || (o->streams && about != CHAIN))
		return NULL;
	if (i >= m->n) {
		uint8_t *known = arena_alloc(o->arena, n);
		if (!known)
			return NULL;
		if (m->n)
			memcpy(known, m->known, m->n);
		*m = (struct only_memo){known, n};
	}
	return &m->known[i];
}

struct asked {
	struct only *o;
	struct only_memo *memo;
	const struct stack_table *stacks;
	const struct query_where *w;
};

static bool term_holds(void *ctx, uint32_t term)
{
	const struct asked *a = ctx;
	enum about about = about_of(a->o->f.terms[term].col);
	uint8_t *known = known_of(a->o, &a->memo[term], about, a->w);

	if (known && *known)
		return *known == 2;
	bool yes = holds(a->o, term, a->stacks, a->w);
	if (known)
		*known = yes ? 2 : 1;
	return yes;
}

bool only_has_wait(struct only *o, const struct query_where *w)
{
	struct asked a = {o, o->waits, o->q->model->stacks, w};

	return filter_holds(&o->f, term_holds, &a);
}

bool only_has_sample(struct only *o, const struct query_where *w)
{
	struct asked a = {o, o->samples, &o->q->model->profile->stacks, w};

	return filter_holds(&o->f, term_holds, &a);
}

bool only_knows(const struct model *m, const struct query_where *w)
{
	return w->lock < m->locks->n && w->stack < m->stacks->n && w->task < m->tasks->n &&
	       (w->cpu < m->n_cpus || w->cpu == CELL_NO_CPU) &&
	       cell_owner_task(w->owner) < m->tasks->n;
}

/* Behind the term or group at @s: quotes and parentheses hold it together. */
static const char *behind_term(const char *s)
{
	bool quoted = false;
	int open = 0;

	for (; *s && (quoted || open > 0 || !strchr(" \t", *s)); s++) {
		quoted ^= *s == '"';
		open += quoted ? 0 : (*s == '(') - (*s == ')');
	}
	return s;
}

/* Is there a "|" or "or" that is in no quotes and no group? Then nothing can be taken apart. */
static bool is_alternative(const char *filter)
{
	for (const char *s = filter; *s;) {
		const char *end = behind_term(s);
		size_t len = (size_t)(end - s);

		if ((len == 2 && strncmp(s, "or", 2) == 0) ||
		    (*s != '(' && *s != '"' && memchr(s, '|', len)))
			return true;
		s = end + strspn(end, " \t");
	}
	return false;
}

/* Blanks are between terms alone. */
static void put_term(char *to, const char *s, size_t len)
{
	size_t at = strlen(to);

	if (at)
		to[at++] = ' ';
	memcpy(to + at, s, len);
	to[at + len] = '\0';
}

/* One term about a column of waits: it is meant so, even if its value is wrong. */
static bool names_column(const char *s)
{
	s += strspn(s, "!");
	size_t len = strcspn(s, ":=<>~");

	for (size_t i = 0; s[len] && i < C_COLUMNS; i++)
		if (strlen(columns[i].key) == len && strncmp(columns[i].key, s, len) == 0)
			return true;
	return false;
}

static bool says_which(const char *s, size_t len, bool whole)
{
	struct arena a = {0};
	char *text = arena_strndup(&a, s, len);
	bool yes = text && (wait_filter_check(text, NULL) == 0 || (!whole && names_column(text)));

	arena_deinit(&a);
	return yes;
}

void wait_filter_split(const char *filter, char *ret_only, char *ret_rows)
{
	bool whole = is_alternative(filter);
	const char *end;

	*ret_only = *ret_rows = '\0';
	for (const char *s = filter + strspn(filter, " \t"); *s; s = end + strspn(end, " \t")) {
		end = whole ? s + strlen(s) : behind_term(s);
		put_term(says_which(s, (size_t)(end - s), whole) ? ret_only : ret_rows, s,
			 (size_t)(end - s));
	}
}
