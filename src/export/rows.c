// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows for data analysis engines. The machine and time of a row are the figures of one struct; its
 * lock or task has the columns of the table that reports have; so a new column appears in the rows,
 * in the schema and on the manual page without a change here. Unknown values are left out, which
 * engines read as NULL. The members of the front are always present, as null with the reason if
 * necessary, since they distinguish rows of different recordings.
 */
#include "kontend/rows.h"
#include "kontend/engine.h"
#include "kontend/figure.h"
#include "kontend/mem.h"
#include "kontend/memfile.h"
#include "kontend/query-damage.h"
#include "kontend/query-incidents.h"
#include "kontend/query-load.h"
#include "kontend/query-machine.h"
#include "kontend/query-mmap.h"
#include "kontend/query-overview.h"
#include "kontend/query-perf.h"
#include "kontend/query-rotation.h"
#include "kontend/query-uprobe.h"
#include "kontend/query-wait.h"
#include "kontend/query.h"
#include "kontend/when.h"
#include "report/format.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* The front of a row: texts may be NULL and times 0, if unknown. */
struct front {
	const char *schema, *table, *host, *machine_id, *boot_id, *kernel, *arch, *recorded_by,
		*kontend;
	uint64_t recording_start_ns, bucket_start_ns, bucket_ns;
};

static const struct figure front_figures[] = {
	{FIGURE("schema", TEXT, struct front, schema),
	 .help = "name and version of the format of rows"},
	{FIGURE("table", TEXT, struct front, table), .help = "the table that the row belongs to"},
	{FIGURE("host", TEXT, struct front, host), .help = "name of the machine, as of uname -n"},
	{FIGURE("machine_id", TEXT, struct front, machine_id),
	 .help = "id of the machine, derived from its /etc/machine-id, which it does not reveal"},
	{FIGURE("boot_id", TEXT, struct front, boot_id), .help = "the kernel's id of the boot"},
	{FIGURE("kernel", TEXT, struct front, kernel),
	 .help = "release of the kernel, as of uname -r"},
	{FIGURE("arch", TEXT, struct front, arch),
	 .help = "architecture of the machine, as of uname -m"},
	{FIGURE("recorded_by", TEXT, struct front, recorded_by),
	 .help = "version of kontend that measured it"},
	{FIGURE("kontend", TEXT, struct front, kontend),
	 .help = "version of kontend that wrote the row"},
	{FIGURE_IF("recording_start_ns", COUNT, struct front, recording_start_ns,
		   recording_start_ns),
	 .help = "start of the measurement, in ns since 1970; differs between recordings of a "
		 "machine"},
	{FIGURE_IF("bucket_start_ns", COUNT, struct front, bucket_start_ns, bucket_start_ns),
	 .help = "start of the part of time that the row covers, in ns since 1970"},
	{FIGURE("bucket_ns", NS, struct front, bucket_ns), .help = "length of that part"},
	FIGURE_END,
};

/* The other members of a row of table "parts", which has a row even for parts without events. */
static const struct figure part_figures[] = {
	{FIGURE("events", COUNT, struct query_overview, n_events),
	 .help = "contention events that were seen"},
	{FIGURE("contended", COUNT, struct query_overview, contended), .help = "finished waits"},
	{FIGURE("total_ns", NS, struct query_overview, total_ns),
	 .help = "time of all finished waits"},
	{FIGURE("waiting", COUNT, struct query_overview, waiting),
	 .help = "tasks that wait at the end of the part"},
	FIGURE_END,
};
static const char parts_help[] = "a part of time that was measured";

/* Reasons for the members that may be null. */
static const struct {
	const char *key, *why;
} reasons[] = {
	{"host", "the recording does not contain it"},
	{"machine_id", "not recorded: by an earlier version, by perf, or without /etc/machine-id"},
	{"boot_id", "not recorded: by an earlier version or by perf"},
	{"kernel", "the recording does not contain it"},
	{"arch", "the recording does not contain it"},
	{"recorded_by", "not recorded: by an earlier version or by perf"},
	{"recording_start_ns", "the recording has no time of day"},
	{"bucket_start_ns", "the recording has no time of day"},
};

/* Members that may follow the front; each with name, type in JSON, and help. */
static const struct {
	const char *key, *type, *help;
} notes[] = {
	{"unknown", "{text}", "members of the front that are null, each with the reason"},
	{"marks", "[mark]", "faults of the recording as a whole"},
	{"damage", "{count}",
	 "records of this part of time that were lost or not understood, by the names of "
	 "kontend-views(7)"},
	{"inexact", "[text]", "members of the row that are sampled or the most likely of several"},
	{"lower_bound", "[text]", "members of the row that are lower bounds, as records were lost"},
};

static const struct {
	enum rows_mark mark;
	const char *name;
} marks[] = {{ROWS_CUT_OFF, "cut_off"}, {ROWS_OVERLAP, "overlap"}, {ROWS_VERSION, "other_version"}};

static int ask_waits(struct query *q, const struct query_spec *s, struct table *ret,
		     struct error *err)
{
	return query_wait_rows(q, s, NULL, ret, err);
}

static const struct rows_table {
	const char *name, *help;
	const struct table_kind *kind;
	int (*query)(struct query *q, const struct query_spec *s, struct table *ret,
		     struct error *err);
	enum query_by by;
} tables[] = {
	{"locks", "a lock and mode", &query_locks_kind, query_locks, BY_LOCK},
	{"callers", "a function that waits, and the type of the lock", &query_locks_kind,
	 query_locks, BY_CALLER},
	{"types", "a type of locks and mode", &query_types_kind, query_types, BY_TYPE},
	{"tasks", "a task that waits", &query_locks_kind, query_locks, BY_TASK},
	{"memcgs", "a cgroup of tasks that wait", &query_locks_kind, query_locks, BY_CGROUP},
	{"waits", "a wait in flight at the end of the part, or one of the longest that ended",
	 &query_waiters_kind, ask_waits, BY_LOCK},
	{"slots", "breakpoint slots of a CPU", &query_perf_slots_kind, query_perf_slots, BY_LOCK},
	{"contexts", "a perf event context", &query_perf_contexts_kind, query_perf_contexts,
	 BY_LOCK},
	{"rotation", "a timer that rotates events", &query_rotation_kind, query_rotation, BY_LOCK},
	{"uprobes", "a uprobe", &query_uprobe_probes_kind, query_uprobe_probes, BY_LOCK},
	{"mmap", "the mmap_lock of a process, and mode", &query_mmap_kind, query_mmap, BY_PROCESS},
	{"incidents", "an incident that a trigger caught", &query_incidents_kind, query_incidents,
	 BY_LOCK},
};

enum { TABLES = sizeof(tables) / sizeof(*tables), PARTS = 1 << TABLES };
enum { MARKS = sizeof(marks) / sizeof(*marks) };

static unsigned find_kind(const char *name, size_t len)
{
	for (unsigned i = 0; i < TABLES; i++)
		if (strlen(tables[i].name) == len && memcmp(tables[i].name, name, len) == 0)
			return 1u << i;
	return len == 5 && memcmp(name, "parts", len) == 0 ? PARTS : 0;
}

int rows_parse(const char *names, unsigned *ret, struct error *err)
{
	unsigned all = 0;

	for (const char *s = names;; s++) {
		size_t len = strcspn(s, ",");
		unsigned one = find_kind(s, len);

		if (!one)
			return error_set(err, -EINVAL,
					 "There is no table of rows '%.*s': kontend-rows(5) lists "
					 "them",
					 (int)len, s);
		all |= one;
		s += len;
		if (!*s)
			break;
	}
	*ret = all;
	return 0;
}

const char *rows_mark_name(enum rows_mark m)
{
	for (size_t i = 0; i < MARKS; i++)
		if (marks[i].mark == m)
			return marks[i].name;
	return "";
}

/* Rows have the columns that reports have, and buckets. */
static bool is_there(const struct rows_table *t, size_t column)
{
	const struct column *c = &t->kind->columns[column];
	bool locks = t->kind == &query_locks_kind || t->kind == &query_types_kind;

	if (t->kind == &query_mmap_kind && !query_mmap_has(column))
		return false;
	return (c->flags & COLUMN_REPORT || table_is_bucket(c)) &&
	       (!locks || query_locks_has(t->by, column));
}

static const char *type_of(const struct column *c)
{
	static const char *const types[] = {
		[COLUMN_TEXT] = "text", [COLUMN_COUNT] = "count",    [COLUMN_INT] = "int",
		[COLUMN_NS] = "ns",	[COLUMN_RATE] = "rate",	     [COLUMN_NSRATE] = "nsrate",
		[COLUMN_PCT] = "pct",	[COLUMN_ADDR] = "addr",	     [COLUMN_SERIES] = "[count]",
		[COLUMN_BOOL] = "bool", [COLUMN_NSDIFF] = "real_ns",
	};

	if (c->flags & COLUMN_LIST)
		return c->flags & COLUMN_NUMBERS ? "[int]" : "[text]";
	return types[c->type];
}

static void dump_front(FILE *out)
{
	for (const struct figure *f = front_figures; f->key; f++) {
		bool may_be_null = false;

		for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
			may_be_null |= !strcmp(reasons[i].key, f->key);
		fprintf(out, "front\t%s\t%s%s\t%s\n", f->key,
			f->type == COLUMN_TEXT ? "text"
			: f->type == COLUMN_NS ? "ns"
					       : "wall",
			may_be_null ? "~" : "", f->help);
	}
	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		fprintf(out, "notes\t%s\t%s\t%s\n", notes[i].key, notes[i].type, notes[i].help);
	for (size_t i = 0; i < MARKS; i++)
		fprintf(out, "marks\t%s\t\t\n", marks[i].name);
	fprintf(out, "schema\t%s\t\t\n", ROWS_SCHEMA);
}

void rows_dump(FILE *out)
{
	dump_front(out);
	fprintf(out, "table\tparts\t\t%s\n", parts_help);
	for (const struct figure *f = part_figures; f->key; f++)
		fprintf(out, "parts\t%s\t%s\t%s\n", f->key, f->type == COLUMN_NS ? "ns" : "count",
			f->help);
	for (const struct rows_table *t = tables; t < tables + TABLES; t++) {
		fprintf(out, "table\t%s\t\t%s\n", t->name, t->help);
		for (size_t i = 0; i < t->kind->n_columns; i++) {
			const struct column *c = &t->kind->columns[i];
			if (is_there(t, i))
				fprintf(out, "%s\t%s\t%s\t%s\n", t->name, c->key, type_of(c),
					c->help);
		}
	}
}

static const char *text(const char *s)
{
	return *s ? s : NULL;
}

static struct front front_of(const struct query_overview *o, const struct record_machine *m,
			     const struct rows_spec *s)
{
	const struct when w = {.clock_ns = o->host->clock_ns, .wall_ns = o->host->wall_ns};

	return (struct front){
		.schema = ROWS_SCHEMA,
		.host = text(m->host),
		.machine_id = text(m->id),
		.boot_id = text(m->boot),
		.kernel = text(o->host->release),
		.arch = text(o->host->machine),
		.recorded_by = text(m->kontend),
		.kontend = s->version,
		.recording_start_ns = when_wall_ns(&w, o->start_ns),
		.bucket_start_ns = when_wall_ns(&w, o->from_ns),
		.bucket_ns = o->to_ns > o->from_ns ? o->to_ns - o->from_ns : 0,
	};
}

static void put_unknown(struct jsonw *j, const struct front *f)
{
	bool any = false;

	for (const struct figure *g = front_figures; g->key; g++) {
		const char *why = NULL;

		for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++)
			if (strcmp(reasons[i].key, g->key) == 0)
				why = reasons[i].why;
		if (!why || figure_value(g, f, 0).known)
			continue;
		if (!any)
			jsonw_begin(j, "unknown", '{', true);
		any = true;
		jsonw_str(j, g->key, why);
	}
	if (any)
		jsonw_end(j, '}');
}

static void put_marks(struct jsonw *j, unsigned all)
{
	if (!all)
		return;
	jsonw_begin(j, "marks", '[', true);
	for (size_t i = 0; i < MARKS; i++)
		if (all & marks[i].mark)
			jsonw_str(j, NULL, marks[i].name);
	jsonw_end(j, ']');
}

static void put_damage(struct jsonw *j, const struct model_damage *d)
{
	bool any = false;

	for (const struct figure *f = query_damage_figures; f->key; f++) {
		struct value v = figure_value(f, d, 0);

		if (!v.u)
			continue;
		if (!any)
			jsonw_begin(j, "damage", '{', true);
		any = true;
		jsonw_u64(j, f->key, v.u);
	}
	if (any)
		jsonw_end(j, '}');
}

/* The members that all rows of a table share, without the brace at the end. */
static int make_front(const struct front *f, const struct rows_spec *s,
		      const struct model_damage *d, struct memfile *ret)
{
	struct jsonw j = {.out = memfile_open(ret), .tight = true};

	if (!j.out)
		return -ENOMEM;
	jsonw_begin(&j, NULL, '{', true);
	report_json_figures(&j, front_figures, f, 0);
	put_unknown(&j, f);
	put_marks(&j, s->marks);
	put_damage(&j, d);
	bool failed = ferror(j.out) != 0;
	return fclose(j.out) != 0 || failed ? -ENOMEM : 0;
}

/* Tests for report_json_keys(): the members that are not exact. */
static bool is_approx(const struct value *v)
{
	return v->approx;
}

static void put_row(const struct table *t, size_t row, const struct memfile *front, FILE *out)
{
	struct jsonw j = {.out = out, .depth = 1, .flat = 1, .any = true, .tight = true};

	fwrite(front->text, 1, front->n, out);
	report_json_keys(&j, "inexact", t, row, is_approx);
	report_json_keys(&j, "lower_bound", t, row, report_is_at_least);
	for (size_t col = 0; col < t->n_columns; col++) {
		const struct column *c = &t->columns[col];
		const struct value *v = table_value(t, row, col);

		if (v->known && (c->flags & COLUMN_REPORT || table_is_bucket(c)))
			report_json_value(&j, c, v);
	}
	jsonw_end(&j, '}');
}

static int write_table(struct query *q, const struct rows_table *t, const struct rows_spec *s,
		       struct front *f, const struct model_damage *d, FILE *out, struct error *err)
{
	const struct query_spec spec = {
		.by = t->by, .average = true, .ended = true, .buckets = true};
	struct table table;
	struct memfile front = {0};
	int r;

	do
		r = t->query(q, &spec, &table, err);
	while (r == 0 && query_load_again(q));
	if (r < 0 || !table.n_rows)
		return r;
	f->table = t->name;
	r = make_front(f, s, d, &front);
	for (size_t row = 0; r == 0 && row < table.n_rows; row++)
		put_row(&table, row, &front, out);
	mem_free(front.text);
	return r < 0 ? error_errno(err, r, "Cannot write rows") : 0;
}

static int write_part(const struct query_overview *o, const struct rows_spec *s, struct front *f,
		      FILE *out)
{
	struct jsonw j = {.out = out, .depth = 1, .flat = 1, .any = true, .tight = true};
	struct memfile front = {0};

	f->table = "parts";
	int r = make_front(f, s, &o->damage, &front);
	if (r == 0) {
		fwrite(front.text, 1, front.n, out);
		report_json_figures(&j, part_figures, o, 0);
		jsonw_end(&j, '}');
	}
	mem_free(front.text);
	return r;
}

int rows_write(struct query *q, const struct rows_spec *s, FILE *out, struct error *err)
{
	const struct record_machine machine = query_machine(q);
	struct query_overview o;

	if (query_overview(q, &o) < 0)
		return error_enomem(err, "the sums of the recording");
	struct front f = front_of(&o, &machine, s);

	if ((!s->tables || s->tables & PARTS) && write_part(&o, s, &f, out) < 0)
		return error_enomem(err, "rows");
	for (size_t i = 0; i < TABLES; i++) {
		if (s->tables && !(s->tables & 1u << i))
			continue;
		int r = write_table(q, &tables[i], s, &f, &o.damage, out, err);
		if (r < 0)
			return r;
	}
	return 0;
}
