// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines for sleeps for locks of programs that have ended. They have the columns of waits; the last
 * one says who had the lock when the sleep began, and which thread has released it.
 */
#include "kontend/jsonw.h"
#include "kontend/locktype.h"
#include "kontend/text.h"
#include "kontend/textbuf.h"
#include "kontend/units.h"
#include "kontend/userlock.h"
#include "kontend/userrec.h"
#include "script-int.h"

static const char *type_of(const struct event *ev)
{
	uint32_t flags =
		userlock_flags((enum userlock_kind)ev->user.kind, ev->user.flags & USERREC_READS);

	return locktype_name(locktype_from_flags(flags));
}

static void put_thread(struct textbuf *b, const char *word, int32_t tid)
{
	if (!tid)
		return;
	textbuf_str(b, word);
	textbuf_i64(b, taskid_number(tid));
}

static void put_text(const struct event *ev, const char *at, FILE *out)
{
	char comm[EVENT_NAMES_TEXT], addr[EVENT_NAMES_TEXT], words[EVENT_NAMES_TEXT], ns[UNITS_BUF];
	const char *type = type_of(ev);
	struct textbuf lock = textbuf_make(addr, sizeof(addr)),
		       b = textbuf_make(words, sizeof(words));
	const struct script_line columns = {
		.comm = text_clean(comm, sizeof(comm), ev->user.comm),
		.tid = ev->tid,
		.event = "futex",
		.type = type,
		.lock = addr,
		.flags = "-",
		.wait = units_ns(ns, ev->user.length_ns),
		.caller = words,
		.at = at,
	};

	textbuf_hex(&lock, ev->user.addr);
	textbuf_end(&lock);
	put_thread(&b, "had by ", ev->user.owner_tid);
	put_thread(&b, ev->user.owner_tid ? ", woken by " : "woken by ",
		   ev->user.flags & USERREC_HANDED ? ev->user.waker_tid : 0);
	textbuf_str(&b, ev->user.flags & USERREC_HANDED ? ""
			: ev->user.owner_tid		? ", ended without a release"
							: "ended without a release");
	textbuf_end(&b);
	script_line_put(ev, &columns, out);
}

static void put_number(struct jsonw *j, const char *key, int32_t id, bool known)
{
	if (known)
		jsonw_i64(j, key, taskid_number(id));
	else
		jsonw_null(j, key);
}

static void put_json(const struct event *ev, const char *at, FILE *out)
{
	bool owned = ev->user.owner_tid != 0, handed = ev->user.flags & USERREC_HANDED;
	char text[EVENT_NAMES_TEXT];
	struct jsonw j = {.out = out};

	jsonw_begin(&j, NULL, '{', true);
	jsonw_u64(&j, "time_ns", ev->time);
	jsonw_u64(&j, "cpu", ev->cpu);
	jsonw_str(&j, "event", "futex");
	jsonw_i64(&j, "pid", taskid_number(ev->pid));
	jsonw_i64(&j, "tid", taskid_number(ev->tid));
	jsonw_str(&j, "comm", text_clean(text, sizeof(text), ev->user.comm));
	jsonw_hex(&j, "lock", ev->user.lock);
	jsonw_str(&j, "type", type_of(ev));
	jsonw_hex(&j, "address", ev->user.addr);
	jsonw_u64(&j, "begin_ns", ev->user.begin_ns);
	jsonw_u64(&j, "wait_ns", ev->user.length_ns);
	jsonw_u64(&j, "woken_ns", ev->user.woken_ns);
	jsonw_str(&j, "at", at);
	put_number(&j, "owner_pid", ev->user.owner_pid, owned);
	put_number(&j, "owner_tid", ev->user.owner_tid, owned);
	put_number(&j, "releaser_pid", ev->user.waker_pid, handed);
	put_number(&j, "releaser_tid", ev->user.waker_tid, handed);
	jsonw_u64(&j, "missed", ev->user.missed);
	jsonw_end(&j, '}');
}

void script_user_put(const struct event *ev, const char *at, FILE *out, bool json)
{
	if (json)
		put_json(ev, at, out);
	else
		put_text(ev, at, out);
}
