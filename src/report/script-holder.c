// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines for the activity of lock holders while other tasks wait. They have the columns of waits:
 * the event is what happened, and the last column says what the holder does from then on: "runs",
 * "for make/812 on its CPU", "asleep in wait_for_completion", "woken by bash/1". The lines where
 * following begins and ends have no task.
 */
#include "kontend/jsonw.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include "script-int.h"

static const char *const whats[HOLDREC_WHATS] = {
	[HOLDREC_BEGUN] = "follow",
	[HOLDREC_STOPPED] = "follow",
	[HOLDREC_SEEN] = "holder",
	[HOLDREC_OFF] = "off",
	[HOLDREC_WOKEN] = "woken",
	[HOLDREC_ON] = "on",
	[HOLDREC_GOT] = "got",
	[HOLDREC_GONE] = "gone",
	[HOLDREC_UNFOLLOWED] = "unfollowed",
	[HOLDREC_HANDED] = "handed",
	[HOLDREC_RELEASED] = "released",
};

static const char *const states[HOLDREC_STATES] = {
	[HOLDREC_RUNNING] = "running",
	[HOLDREC_RUNNABLE] = "runnable",
	[HOLDREC_ASLEEP] = "asleep",
	[HOLDREC_IO] = "io",
};

static bool is_of_task(const struct event *ev)
{
	return ev->holder.what != HOLDREC_BEGUN && ev->holder.what != HOLDREC_STOPPED;
}

static const char *clean(char buf[EVENT_NAMES_TEXT], const char *comm)
{
	return text_clean(buf, EVENT_NAMES_TEXT, comm);
}

static void put_state(struct textbuf *b, const struct engine *e, const struct event *ev)
{
	char func[EVENT_NAMES_TEXT], comm[EVENT_NAMES_TEXT], task[SCRIPT_LINE_TASK];
	const char *in = event_names_sleep(e, ev->holder.frames, ev->holder.n_frames, func);
	const char *name =
		ev->holder.state == HOLDREC_IO ? "asleep for I/O" : states[ev->holder.state];

	if (ev->holder.what == HOLDREC_GONE)
		name = "no longer has the lock";
	if (ev->holder.what == HOLDREC_HANDED)
		name = "no task has the lock: this one is next";
	if (ev->holder.what == HOLDREC_RELEASED)
		name = "releases the lock and has woken a waiting task";
	textbuf_str(b, name ? name : "?");
	if (in) {
		textbuf_str(b, " in ");
		textbuf_str(b, in);
	}
	if (!ev->holder.other_tid)
		return;
	textbuf_str(b, ev->holder.what == HOLDREC_WOKEN ? ", woken by " : ", its CPU to ");
	textbuf_str(b, script_line_task(task, clean(comm, ev->holder.other_comm),
					ev->holder.other_tid));
}

static void put_text(struct event_names *n, const struct event *ev, FILE *out)
{
	char lock[EVENT_NAMES_TEXT], comm[EVENT_NAMES_TEXT];
	char state[4 * EVENT_NAMES_TEXT];
	const char *object = event_names_object(n, ev->holder.lock);
	struct textbuf b = textbuf_make(lock, sizeof(lock)), s = textbuf_make(state, sizeof(state));
	const struct script_line columns = {
		.comm = clean(comm, ev->holder.comm),
		.tid = ev->tid,
		.event = whats[ev->holder.what],
		.type = ev->holder.hint ? "reader" : "-",
		.lock = object ? object : lock,
		.flags = "-",
		.wait = "-",
		.caller = state,
	};

	textbuf_hex(&b, ev->holder.lock);
	textbuf_end(&b);
	put_state(&s, n->engine, ev);
	textbuf_end(&s);
	script_line_put(ev, &columns, out);
}

static void put_task(struct jsonw *j, const struct event *ev)
{
	char comm[EVENT_NAMES_TEXT];

	jsonw_i64(j, "pid", taskid_number(ev->pid));
	jsonw_i64(j, "tid", taskid_number(ev->tid));
	jsonw_str(j, "comm", clean(comm, ev->holder.comm));
}

static void put_other(struct jsonw *j, const struct event *ev)
{
	char comm[EVENT_NAMES_TEXT];

	if (!ev->holder.other_tid) {
		jsonw_null(j, "other_pid");
		jsonw_null(j, "other_tid");
		jsonw_null(j, "other_comm");
		return;
	}
	jsonw_i64(j, "other_pid", taskid_number(ev->holder.other_pid));
	jsonw_i64(j, "other_tid", taskid_number(ev->holder.other_tid));
	jsonw_str(j, "other_comm", clean(comm, ev->holder.other_comm));
}

static void put_json(struct event_names *n, const struct event *ev, FILE *out)
{
	char func[EVENT_NAMES_TEXT];
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', true);
	jsonw_u64(&j, "time_ns", ev->time);
	jsonw_u64(&j, "cpu", ev->cpu);
	jsonw_str(&j, "event", whats[ev->holder.what]);
	if (is_of_task(ev)) {
		put_task(&j, ev);
		jsonw_hex(&j, "lock", ev->holder.lock);
		jsonw_str(&j, "name", event_names_object(n, ev->holder.lock));
		jsonw_bool(&j, "hint", ev->holder.hint);
		jsonw_str(&j, "state", states[ev->holder.state]);
		jsonw_str(
			&j, "asleep_in",
			event_names_sleep(n->engine, ev->holder.frames, ev->holder.n_frames, func));
		put_other(&j, ev);
	} else {
		jsonw_bool(&j, "begins", ev->holder.what == HOLDREC_BEGUN);
	}
	jsonw_u64(&j, "missed", ev->holder.missed);
	jsonw_end(&j, '}');
}

void script_holder_put(struct event_names *n, const struct event *ev, FILE *out, bool json)
{
	if (json)
		put_json(n, ev, out);
	else if (is_of_task(ev))
		put_text(n, ev, out);
	else
		script_line_say(ev, whats[ev->holder.what],
				ev->holder.what == HOLDREC_BEGUN
					? "lock holders are followed from here on"
					: "lock holders are no longer followed",
				out);
}
