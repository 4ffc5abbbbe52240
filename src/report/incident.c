// SPDX-License-Identifier: GPL-2.0-only
/* The incident that a trigger caught: the beginning of the report of its file, and a row in the
 * list of incidents. */
#include "kontend/jsonw.h"
#include "kontend/query-incidents.h"
#include "kontend/record.h"
#include "kontend/report.h"
#include "kontend/text.h"
#include "kontend/units.h"
#include "kontend/when.h"

static void number(struct jsonw *j, const char *key, uint64_t v)
{
	if (v)
		jsonw_u64(j, key, v);
	else
		jsonw_null(j, key);
}

static void text(struct jsonw *j, const char *key, const char *s)
{
	jsonw_str(j, key, *s ? s : NULL);
}

static void task(struct jsonw *j, const char *key, int32_t pid, int32_t tid)
{
	if (!tid) {
		jsonw_null(j, key);
		return;
	}
	jsonw_begin(j, key, '{', true);
	jsonw_i64(j, "pid", pid);
	jsonw_i64(j, "tid", tid);
	jsonw_end(j, '}');
}

void report_incident_json(struct jsonw *j, const struct incident *in, uint64_t wall_ns)
{
	text(j, "trigger", in->expr);
	jsonw_u64(j, "trigger_number", in->trigger);
	text(j, "fired", in->fired);
	jsonw_u64(j, "value", in->value);
	jsonw_u64(j, "fired_ns", in->fired_ns);
	number(j, "fired_wall_ns", wall_ns);
	jsonw_u64(j, "begin_ns", in->begin_ns);
	number(j, "end_ns", in->end_ns);
	jsonw_u64(j, "from_ns", in->from_ns);
	jsonw_u64(j, "to_ns", in->to_ns);
	number(j, "worst_ns", in->worst_ns);
	if (in->lock)
		jsonw_hex(j, "lock", in->lock);
	else
		jsonw_null(j, "lock");
	text(j, "lock_name", in->lock_name);
	task(j, "waiter", in->pid, in->tid);
	text(j, "waiter_comm", in->task);
	task(j, "holder", in->holder_pid, in->holder_tid);
	text(j, "because", in->because);
	text(j, "chain", in->chain);
	text(j, "syscall", in->syscall);
	text(j, "on", in->on);
	text(j, "at", in->at);
	jsonw_u64(j, "more", in->more);
	jsonw_bool(j, "by_hand", in->flags & INCIDENT_BY_HAND);
	jsonw_bool(j, "goes_on", in->flags & INCIDENT_GOES_ON);
	jsonw_bool(j, "short", in->flags & INCIDENT_SHORT);
}

uint64_t report_incident_wall_ns(const struct record_host *h, const struct incident *in)
{
	const struct when w = {.clock_ns = h->clock_ns, .wall_ns = h->wall_ns};

	return when_wall_ns(&w, in->fired_ns);
}

/* Names are chosen by other users' tasks and files, so they are cleaned. */
static void put_clean(FILE *out, const char *before, const char *s)
{
	char clean[sizeof(((struct incident *)NULL)->chain) * 2];

	if (*s)
		fprintf(out, "%s%s", before, text_clean(clean, sizeof(clean), s));
}

static void put_what(FILE *out, const struct incident *in)
{
	char worst[UNITS_BUF];

	put_clean(out, ": ", in->fired);
	if (in->worst_ns)
		fprintf(out, ", at worst %s", units_ns(worst, in->worst_ns));
	put_clean(out, ", for ", in->lock_name);
	if (in->tid) {
		put_clean(out, ", of ", *in->task ? in->task : "?");
		fprintf(out, "/%d", in->tid);
	}
	put_clean(out, ", because of ", in->because);
	put_clean(out, "\n#   chain: ", in->chain);
	put_clean(out, "\n#   in ", in->syscall);
	put_clean(out, *in->syscall ? ", on " : "\n#   on ", in->on);
	put_clean(out, *in->syscall || *in->on ? ", at " : "\n#   at ", in->at);
	fputc('\n', out);
}

static void put_times(FILE *out, const struct incident *in)
{
	char before[UNITS_BUF], after[UNITS_BUF], long_[UNITS_BUF];
	uint64_t begin = in->begin_ns > in->from_ns ? in->begin_ns - in->from_ns : 0;
	uint64_t end = in->end_ns ? in->end_ns : in->to_ns;

	units_ns(before, begin);
	units_ns(long_, end > in->begin_ns ? end - in->begin_ns : 0);
	units_ns(after, in->to_ns > end ? in->to_ns - end : 0);
	fprintf(out, "#   it took %s%s; in the file are %s before it%s and %s after it", long_,
		in->flags & INCIDENT_GOES_ON ? " and continues" : "", before,
		in->flags & INCIDENT_SHORT ? " (no more was kept)" : "", after);
	if (in->more)
		fprintf(out, "; it fired %u more times meanwhile", in->more);
	fputc('\n', out);
}

void report_incident_text(FILE *out, const struct incident *in, uint64_t wall_ns)
{
	char date[WHEN_BUF];

	put_clean(out, "# incident: ", *in->expr ? in->expr : "?");
	if (wall_ns)
		fprintf(out, " fired at %s", when_date(date, wall_ns, 3));
	put_what(out, in);
	put_times(out, in);
}
