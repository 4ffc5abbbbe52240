// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes each event as it arrives, as a line of columns or of JSON (schema kontend.script/1, which
 * the first line names). Facts that an event lacks, such as the type of a lock at the end of a
 * wait, come from the wait with which the model has paired it; an end without a wait shows a
 * question mark or null. Comm, fork and exit have no lines: they only name tasks in later lines.
 * A line of text is built in memory and written in one piece. A text that is wider than its column
 * shifts the columns after it.
 */
#include "kontend/script.h"
#include "event-names.h"
#include "format.h"
#include "kontend/event-filter.h"
#include "kontend/filelock.h"
#include "kontend/jsonw.h"
#include "kontend/lock.h"
#include "kontend/mem.h"
#include "kontend/query-on.h"
#include "kontend/query-origin.h"
#include "kontend/stack.h"
#include "kontend/task.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"
#include "kontend/wait.h"
#include "script-int.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The width of each column. The text at the end may have any length. */
enum { TASK_W = 20, EVENT_W = 9, TYPE_W = 12, LOCK_W = 18, FLAGS_W = 12, WAIT_W = 7, CALL_W = 12 };

static void put_column(struct textbuf *b, const char *s, size_t width)
{
	textbuf_left(b, s, width);
	textbuf_char(b, ' ');
}

static void put_line_time(struct textbuf *b, const struct event *ev)
{
	textbuf_seconds(b, ev->time, 6);
	textbuf_str(b, " [");
	textbuf_u64_zeros(b, ev->cpu, 3);
	textbuf_str(b, "] ");
}

static void end_line(struct textbuf *b, FILE *out)
{
	textbuf_char(b, '\n');
	fwrite_unlocked(b->from, 1, textbuf_len(b), out);
}

const char *script_line_task(char buf[SCRIPT_LINE_TASK], const char *comm, int32_t tid)
{
	struct textbuf b = textbuf_make(buf, SCRIPT_LINE_TASK);
	char number[TASKID_TEXT];

	textbuf_str(&b, comm ? comm : "-");
	textbuf_char(&b, '/');
	textbuf_str(&b, taskid_text(number, tid));
	return textbuf_end(&b);
}

void script_line_head(FILE *out)
{
	fprintf(out, "#%15s %5s %-*s %-*s %-*s %-*s %-*s %*s  %-*s %s, AT, ON\n", "TIME", "CPU",
		TASK_W, "TASK", EVENT_W, "EVENT", TYPE_W, "TYPE", LOCK_W, "LOCK", FLAGS_W, "FLAGS",
		WAIT_W, "WAIT", CALL_W, "SYSCALL", "CALLER");
}

void script_line_put(const struct event *ev, const struct script_line *l, FILE *out)
{
	char line[EVENT_NAMES_LINE], task[SCRIPT_LINE_TASK];
	struct textbuf b = textbuf_make(line, sizeof(line));

	put_line_time(&b, ev);
	put_column(&b, script_line_task(task, l->comm, l->tid), TASK_W);
	put_column(&b, l->event, EVENT_W);
	put_column(&b, l->type, TYPE_W);
	put_column(&b, l->lock, LOCK_W);
	put_column(&b, l->flags, FLAGS_W);
	textbuf_right(&b, l->wait, WAIT_W);
	textbuf_str(&b, "  ");
	put_column(&b, l->syscall ? l->syscall : "-", CALL_W);
	textbuf_str(&b, l->caller);
	if (l->at) {
		textbuf_str(&b, ", ");
		textbuf_str(&b, l->at);
	}
	if (l->on) {
		textbuf_str(&b, ", on ");
		textbuf_str(&b, l->on);
	}
	end_line(&b, out);
}

void script_line_say(const struct event *ev, const char *event, const char *words, FILE *out)
{
	char line[EVENT_NAMES_LINE];
	struct textbuf b = textbuf_make(line, sizeof(line));

	put_line_time(&b, ev);
	put_column(&b, "-", TASK_W);
	put_column(&b, event, EVENT_W);
	textbuf_str(&b, words);
	end_line(&b, out);
}

enum { SCRIPT_CALL = 48 };

struct script {
	struct engine_watch watch;
	const struct engine *engine;
	FILE *out;
	bool json, started, failed;
	struct event_names names;
	struct query query;
	struct script_origin {
		uint64_t generation; /* the model's + 1; 0: the slot is free */
		uint32_t stack;
		char syscall[SCRIPT_CALL], at[EVENT_NAMES_TEXT];
		bool faults; /* a page fault */
	} origins[EVENT_NAMES];
	struct event_filter *gate; /* NULL: all waits pass */
};

/* An event and the facts that the model has about it. */
struct line {
	const struct event *ev;
	const struct wait *wait; /* NULL: none */
	const char *event;
	enum lock_type type; /* valid when `typed` */
	uint32_t flags;
	uint64_t lock, wait_ns;
	bool typed, is_lock, is_end, is_release, continues;
	const char *caller, *object, *comm, *syscall, *on, *at; /* NULL: unknown */
	char on_buf[QUERY_ON_TEXT];
	char caller_buf[EVENT_NAMES_TEXT], comm_buf[EVENT_NAMES_TEXT], flags_buf[EVENT_NAMES_TEXT];
};

/* As event_names_caller() does it: what was asked for a chain is kept. NULL: there is no chain. */
static const struct script_origin *origin_of(struct script *s, uint32_t stack)
{
	const struct model *m = s->engine->model;
	struct script_origin *slot = &s->origins[stack % EVENT_NAMES];

	if (stack == STACK_OTHER || stack >= m->stacks->n || !m->stacks->stacks[stack].n)
		return NULL;
	if (slot->generation == m->generation + 1 && slot->stack == stack)
		return slot;
	const struct query_origin *o = query_origin_whole(&s->query, stack);
	s->failed |= !o;
	slot->generation = m->generation + 1;
	slot->stack = stack;
	text_clean(slot->syscall, sizeof(slot->syscall), o && o->syscall ? o->syscall : "");
	text_clean(slot->at, sizeof(slot->at), o && o->at ? o->at : "");
	slot->faults = o && o->faults;
	return slot;
}

static void describe_origin(struct script *s, struct line *l)
{
	const struct script_origin *o = l->wait ? origin_of(s, l->wait->stack) : NULL;
	const char *why;

	l->syscall = o && *o->syscall ? o->syscall : NULL;
	l->at = o && *o->at ? o->at : NULL;
	if (l->wait && l->wait->on.kind && !(o && o->faults))
		l->on = query_on_text(s->engine->model, &l->wait->on, l->ev->time, l->on_buf, &why);
}

/* Where a sleep was in its program, by an event that the model has just taken; NULL: not known. */
static const char *at_of(struct script *s, const struct event *ev, char buf[EVENT_NAMES_TEXT])
{
	const struct model *m = s->engine->model;
	const struct wait *w = m->last_wait ? &m->waits->waits[m->last_wait] : NULL;
	struct query_origin slept;

	if (ev->kind == EVENT_USER) {
		const struct script_origin *o =
			w && w->addr == ev->user.lock ? origin_of(s, w->stack) : NULL;
		return o && *o->at ? o->at : NULL;
	}
	int code = query_origin_slept(&s->query, ev->tid, &slept);
	s->failed |= code == -ENOMEM;
	return code == 0 && slept.at ? text_clean(buf, EVENT_NAMES_TEXT, slept.at) : NULL;
}

static void describe_begin(struct script *s, struct line *l)
{
	const struct event *ev = l->ev;

	l->flags = ev->begin.flags;
	l->type = l->wait ? (enum lock_type)s->engine->model->locks->locks[l->wait->lock].type
			  : locktype_from_flags(l->flags);
	l->typed = true;
	l->lock = ev->begin.lock;
	l->continues = l->wait && l->wait->begin_ns != ev->time;
	if (l->wait && !l->continues && l->wait->stack != STACK_OTHER)
		l->caller = event_names_caller(&s->names, l->wait->stack);
	else if (ev->begin.n_frames)
		l->caller = event_names_outer(s->engine, ev->begin.frames, ev->begin.n_frames,
					      l->caller_buf);
}

static void describe_end(struct script *s, struct line *l)
{
	const struct wait *w = l->wait;

	l->is_end = true;
	l->lock = l->ev->end.lock;
	if (l->ev->end.ret)
		l->event = "failed";
	if (!w)
		return;
	l->flags = w->flags;
	l->type = (enum lock_type)s->engine->model->locks->locks[w->lock].type;
	l->typed = true;
	l->wait_ns = l->ev->time > w->begin_ns ? l->ev->time - w->begin_ns : 0;
	l->caller = event_names_caller(&s->names, w->stack);
}

/* A release has no type: take it from the waits for this lock, if there are any. */
static void describe_release(struct script *s, struct line *l)
{
	uint32_t lock = lock_waited_at(s->engine->model->locks, l->ev->release.lock);

	l->is_release = true;
	l->lock = l->ev->release.lock;
	l->typed = lock != 0;
	l->type = (enum lock_type)s->engine->model->locks->locks[lock].type;
}

static uint32_t task_of(const struct model *m, int32_t tid)
{
	const uint32_t *task = map64_get(&m->tasks->by_tid, (uint32_t)tid);

	return task ? *task : TASK_OTHER;
}

static bool describe(struct script *s, struct line *l, const struct event *ev)
{
	static const char *const names[] = {
		[EVENT_CONTENTION_BEGIN] = "begin", [EVENT_CONTENTION_END] = "end",
		[EVENT_RELEASE] = "release",	    [EVENT_LOST] = "lost",
		[EVENT_LOST_SAMPLES] = "lost",	    [EVENT_THROTTLE] = "throttled",
	};
	const struct model *m = s->engine->model;

	if (ev->kind >= sizeof(names) / sizeof(names[0]) || !names[ev->kind])
		return false;
	l->ev = ev;
	l->event = names[ev->kind];
	l->wait = m->last_wait ? &m->waits->waits[m->last_wait] : NULL;
	/* Of a try to lock a file that did not have to wait. */
	if (ev->kind == EVENT_CONTENTION_END && filelock_is(ev->end.lock) && !l->wait)
		return false;
	l->is_lock = ev->kind == EVENT_CONTENTION_BEGIN || ev->kind == EVENT_CONTENTION_END ||
		     ev->kind == EVENT_RELEASE;
	if (!l->is_lock)
		return true;
	l->comm = event_names_comm(s->engine, task_of(m, ev->tid), l->comm_buf);
	if (ev->kind == EVENT_CONTENTION_BEGIN)
		describe_begin(s, l);
	else if (ev->kind == EVENT_CONTENTION_END)
		describe_end(s, l);
	else
		describe_release(s, l);
	describe_origin(s, l);
	l->object = event_names_object(&s->names, l->lock);
	return true;
}

/* "15.6us", "~15.6us" if it is doubtful or may be longer, "?" if unknown. */
static const char *wait_text(const struct line *l, char buf[UNITS_BUF + 1])
{
	if (!l->is_end)
		return "-";
	if (!l->wait)
		return "?";
	buf[0] = '~';
	units_ns(buf + 1, l->wait_ns);
	return l->wait->doubtful || l->wait->at_least ? buf : buf + 1;
}

/* A release has no mode. */
static const char *type_text(const struct line *l)
{
	if (!l->typed)
		return "?";
	return l->is_release ? locktype_base(l->type) : locktype_name(l->type);
}

static void put_lock_text(struct line *l, FILE *out)
{
	char lock[EVENT_NAMES_TEXT], wait[UNITS_BUF + 1];
	struct textbuf b = textbuf_make(lock, sizeof(lock));
	const struct script_line columns = {
		.comm = l->comm,
		.tid = l->ev->tid,
		.event = l->event,
		.type = type_text(l),
		.lock = l->object ? l->object : lock,
		.flags = l->is_release ? "-"
			 : l->typed    ? event_names_flags(l->flags, l->flags_buf)
				       : "?",
		.wait = wait_text(l, wait),
		.caller = l->caller ? l->caller : "-",
		.syscall = l->syscall,
		.on = l->on,
		.at = l->at,
	};

	if (!l->object)
		textbuf_hex(&b, l->lock);
	textbuf_end(&b);
	script_line_put(l->ev, &columns, out);
}

static void put_text(const struct script *s, struct line *l)
{
	char words[EVENT_NAMES_TEXT] = "the kernel throttled events of this CPU";

	if (l->is_lock) {
		put_lock_text(l, s->out);
		return;
	}
	if (l->ev->kind != EVENT_THROTTLE)
		snprintf(words, sizeof(words), "%" PRIu64 " records", l->ev->lost.n);
	script_line_say(l->ev, l->event, words, s->out);
}

static void put_lock_json(struct jsonw *j, struct line *l)
{
	const char *mode = l->typed && !l->is_release ? locktype_mode(l->type) : "";

	jsonw_i64(j, "pid", taskid_number(l->ev->pid));
	jsonw_i64(j, "tid", taskid_number(l->ev->tid));
	jsonw_str(j, "comm", l->comm);
	jsonw_hex(j, "lock", l->lock);
	jsonw_str(j, "name", l->object);
	jsonw_str(j, "type", l->typed ? locktype_base(l->type) : NULL);
	jsonw_str(j, "mode", *mode ? mode : NULL);
	if (l->is_release)
		return;
	jsonw_str(j, "flags", l->typed ? event_names_flags(l->flags, l->flags_buf) : NULL);
	jsonw_str(j, "caller", l->caller);
	jsonw_str(j, "syscall", l->syscall);
	jsonw_str(j, "on", l->on ? l->on : filelock_is(l->lock) ? l->object : NULL);
	jsonw_str(j, "at", l->at);
	if (!l->is_end) {
		jsonw_bool(j, "continues", l->continues);
		return;
	}
	jsonw_i64(j, "ret", l->ev->end.ret);
	if (l->wait) {
		jsonw_u64(j, "begin_ns", l->wait->begin_ns);
		jsonw_u64(j, "wait_ns", l->wait_ns);
		jsonw_bool(j, "doubtful", l->wait->doubtful);
	} else {
		jsonw_null(j, "begin_ns");
		jsonw_null(j, "wait_ns");
		jsonw_null(j, "doubtful");
	}
}

static void put_json(const struct script *s, struct line *l)
{
	struct jsonw j = {.out = s->out};

	jsonw_begin(&j, NULL, '{', true);
	jsonw_u64(&j, "time_ns", l->ev->time);
	jsonw_u64(&j, "cpu", l->ev->cpu);
	jsonw_str(&j, "event", l->event);
	if (l->is_lock)
		put_lock_json(&j, l);
	else if (l->ev->kind != EVENT_THROTTLE)
		jsonw_u64(&j, "records", l->ev->lost.n);
	jsonw_end(&j, '}');
}

static void put_header(const struct script *s)
{
	const struct record_host *h = s->engine->model->host;
	struct jsonw j = {.out = s->out};

	if (!s->json) {
		script_line_head(s->out);
		return;
	}
	jsonw_begin(&j, NULL, '{', true);
	jsonw_str(&j, "schema", "kontend.script/1");
	jsonw_str(&j, "kernel", h->release[0] ? h->release : NULL);
	jsonw_str(&j, "machine", h->machine[0] ? h->machine : NULL);
	jsonw_u64(&j, "start_ns", h->clock_ns);
	jsonw_u64(&j, "start_wall_ns", h->wall_ns);
	report_sandbox_json(s->engine->sandbox, &j);
	jsonw_end(&j, '}');
}

/* Of no wait: another file has its line. */
static bool is_other(const struct event *ev)
{
	return script_mm_is(ev) || ev->kind == EVENT_HOLDER || ev->kind == EVENT_SLEEP ||
	       ev->kind == EVENT_USER;
}

/* A filter cannot judge an event without a wait. */
static bool passes(struct script *s, const struct event *ev)
{
	const struct model *m = s->engine->model;
	const struct wait *w = m->last_wait ? &m->waits->waits[m->last_wait] : NULL;

	if (ev->kind == EVENT_RELEASE)
		return !s->gate && !m->min_wait_ns;
	bool is_user = ev->kind == EVENT_USER && w;
	if (ev->kind != EVENT_CONTENTION_BEGIN && ev->kind != EVENT_CONTENTION_END && !is_user)
		return !is_other(ev) || (!s->gate && !m->min_wait_ns);
	if (!s->gate && !m->min_wait_ns)
		return true;
	if (!w || (m->min_wait_ns && (ev->kind == EVENT_CONTENTION_BEGIN ||
				      wait_part_ns(w, 0, ev->time) < m->min_wait_ns)))
		return false;
	return !s->gate || event_filter_passes(s->gate, w);
}

static int take_event(struct engine_watch *w, const struct event *ev, struct error *err)
{
	struct script *s = (struct script *)w;
	char at[EVENT_NAMES_TEXT];
	struct line l;

	memset(&l, 0, offsetof(struct line, on_buf));
	if (!passes(s, ev))
		return 0;
	if (!is_other(ev) && !describe(s, &l, ev))
		return 0;
	errno = 0;
	if (!s->started)
		put_header(s);
	s->started = true;
	if (script_mm_is(ev))
		script_mm_put(s->engine, ev, s->out, s->json);
	else if (ev->kind == EVENT_SLEEP)
		script_sleep_put(&s->names, ev, at_of(s, ev, at), s->out, s->json);
	else if (ev->kind == EVENT_USER)
		script_user_put(ev, at_of(s, ev, at), s->out, s->json);
	else if (ev->kind == EVENT_HOLDER)
		script_holder_put(&s->names, ev, s->out, s->json);
	else if (s->json)
		put_json(s, &l);
	else
		put_text(s, &l);
	if (s->failed)
		return error_set(err, -ENOMEM, "Out of memory for the names of system calls");
	if (ferror_unlocked(s->out))
		return error_errno(err, errno ? -errno : -EIO, "Cannot write all of the events");
	return 0;
}

int script_new(struct script **ret, const struct engine *e, FILE *out, bool json)
{
	struct script *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->watch.event = take_event;
	if (query_init(&s->query, e) < 0) {
		mem_free(s);
		return -ENOMEM;
	}
	s->engine = s->names.engine = e;
	s->out = out;
	s->json = json;
	*ret = s;
	return 0;
}

void script_gate(struct script *s, struct event_filter *g)
{
	s->gate = g;
}

void script_free(struct script *s)
{
	if (s)
		query_deinit(&s->query);
	mem_free(s);
}

struct engine_watch *script_watch(struct script *s)
{
	return &s->watch;
}
