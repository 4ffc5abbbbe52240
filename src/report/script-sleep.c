// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines for sleeps in state D that have ended. They have the columns of waits: the type is how the
 * kernel accounts the sleep, and the last column says in which function it was, and which task had
 * the CPU that ended it.
 */
#include "kontend/jsonw.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"
#include "script-int.h"

static const char *type_of(const struct event *ev)
{
	return ev->sleep.io ? "io" : "disk";
}

static void put_text(const struct event_names *n, const struct event *ev, const char *at, FILE *out)
{
	char comm[EVENT_NAMES_TEXT], waker[EVENT_NAMES_TEXT], func[EVENT_NAMES_TEXT];
	char task[SCRIPT_LINE_TASK], ns[UNITS_BUF], words[4 * EVENT_NAMES_TEXT];
	struct textbuf b = textbuf_make(words, sizeof(words));
	const char *in = event_names_sleep(n->engine, ev->sleep.frames, ev->sleep.n_frames, func);
	const struct script_line columns = {
		.comm = text_clean(comm, sizeof(comm), ev->sleep.comm),
		.tid = ev->tid,
		.event = "slept",
		.type = type_of(ev),
		.lock = "-",
		.flags = "-",
		.wait = units_ns(ns, ev->sleep.length_ns),
		.caller = words,
		.at = at,
	};

	textbuf_str(&b, "in ");
	textbuf_str(&b, in ? in : "?");
	textbuf_str(&b, ", woken by ");
	if (ev->sleep.waker_tid)
		textbuf_str(&b,
			    script_line_task(task,
					     text_clean(waker, sizeof(waker), ev->sleep.waker_comm),
					     ev->sleep.waker_tid));
	else
		textbuf_str(&b, "an interrupt of an idle CPU");
	textbuf_end(&b);
	script_line_put(ev, &columns, out);
}

static void put_json(const struct event_names *n, const struct event *ev, const char *at, FILE *out)
{
	char text[EVENT_NAMES_TEXT];
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', true);
	jsonw_u64(&j, "time_ns", ev->time);
	jsonw_u64(&j, "cpu", ev->cpu);
	jsonw_str(&j, "event", "slept");
	jsonw_i64(&j, "pid", taskid_number(ev->pid));
	jsonw_i64(&j, "tid", taskid_number(ev->tid));
	jsonw_str(&j, "comm", text_clean(text, sizeof(text), ev->sleep.comm));
	jsonw_str(&j, "type", type_of(ev));
	jsonw_u64(&j, "begin_ns", ev->sleep.begin_ns);
	jsonw_u64(&j, "wait_ns", ev->sleep.length_ns);
	jsonw_str(&j, "asleep_in",
		  event_names_sleep(n->engine, ev->sleep.frames, ev->sleep.n_frames, text));
	jsonw_str(&j, "at", at);
	jsonw_i64(&j, "other_pid", taskid_number(ev->sleep.waker_pid));
	jsonw_i64(&j, "other_tid", taskid_number(ev->sleep.waker_tid));
	jsonw_str(&j, "other_comm", text_clean(text, sizeof(text), ev->sleep.waker_comm));
	jsonw_u64(&j, "missed", ev->sleep.missed);
	jsonw_end(&j, '}');
}

void script_sleep_put(const struct event_names *n, const struct event *ev, const char *at,
		      FILE *out, bool json)
{
	if (json)
		put_json(n, ev, at, out);
	else
		put_text(n, ev, at, out);
}
