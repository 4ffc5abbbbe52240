// SPDX-License-Identifier: GPL-2.0-only
/*
 * Columns of all tables: a key has one title, one type and one help (kontend/columns.h). The tables
 * in which it means something else are listed here, with the reason.
 */
#include "kontend/tables.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct exception {
	const char *key;
	const char *tables; /* separated by blanks; they share an entry of their own */
	const char *reason;
};

static const struct exception exceptions[] = {
	{"task", "blame", "the root, the holder that waits for none itself"},
	{"task", "held did", "the holder"},
	{"task", "hot", "without the thread id, which has a column of its own"},
	{"process", "blame", "the process of the root"},
	{"process", "held did", "the process of the holder"},
	{"process", "mmap", "the process whose mmap_lock it is"},
	{"process", "hot", "without the process id, which has a column of its own"},
	{"pid", "holders events", "the process that keeps the event"},
	{"pid", "uprobes upprocs", "none: all processes"},
	{"cpu", "cpus slots rotation contexts hot uphits", "the row is about the CPU"},
	{"cpu", "chains", "the CPU of the holder"},
	{"cpu", "holders events", "the CPU that the event is bound to"},
	{"stack", "blame did", "the holder's; another title"},
	{"stack", "held mmap", "the holder's"},
	{"caller", "blame held did mmap", "the holder's"},
	{"syscall", "blame held did", "the holder's"},
	{"syscall", "blocked", "of any sleep"},
	{"at", "blame held did", "the holder's"},
	{"kind", "chains", "of a lock's row without the mode"},
	{"kind", "blame held did", "the mode of the holder"},
	{"kind", "holders events", "of the event"},
	{"kind", "flame", "of the box"},
	{"type", "slots", "of breakpoints"},
	{"type", "events", "attr.type, a number"},
	{"name", "waiters", "another title: what the task waits for"},
	{"name", "diff compare", "of a class of locks"},
	{"name", "flame", "of the box"},
	{"name", "uprobes", "of the event or the program"},
	{"object", "hot flame", "of the code"},
	{"waiting", "waiters", "the tasks of a folded row"},
	{"waiting", "upprocs xol", "for slots of uprobes"},
	{"holder", "waiters", "another title: of the lock that the task waits for, now only"},
	{"holder", "holders events", "the process that keeps the event"},
	{"owner_pid", "holders events uprobes", "the process that opened the event"},
	{"owner", "uprobes", "the process that placed the probe"},
	{"wait_pct", "hot", "share of other waits"},
	{"spark", "cpus", "contentions"},
	{"spark", "queues", "lengths of queues"},
	{"total_ns", "held", "of holds"},
	{"total_ns", "rotation", "of rotations"},
	{"total_ns", "heat", "of finished waits alone, as cells are of these"},
	{"avg_ns", "held", "of holds"},
	{"avg_ns", "rotation", "of rotations"},
	{"p50_ns", "held", "of holds"},
	{"p50_ns", "rotation", "of rotations"},
	{"p50_ns", "mmap", "of acquisitions, also without waiting"},
	{"p90_ns", "held", "of holds"},
	{"p90_ns", "mmap", "of acquisitions, also without waiting"},
	{"p99_ns", "held", "of holds"},
	{"p99_ns", "rotation", "of rotations"},
	{"p99_ns", "mmap", "of acquisitions, also without waiting"},
	{"max_ns", "held", "of holds"},
	{"max_ns", "rotation", "of rotations"},
	{"max_ns", "mmap", "of acquisitions, also without waiting"},
	{"last_ns", "held", "not of waits"},
	{"last_ns", "blame did", "not of waits"},
	{"failed", "mmap", "without waiting, too"},
	{"ended", "holders contexts uprobes xol", "an object of snapshots, not a wait"},
	{"waited_ns", "chains", "another title"},
	{"waited_ns", "blame", "of all waiters that the root has delayed"},
	{"waited_ns", "held did", "of other tasks than the row's"},
	{"waited_pct", "held", "of all holds, if these cost more"},
	{"state", "blame", "of the root"},
	{"state", "cpus", "of the CPU"},
	{"state", "holders events", "of the event"},
	{"state", "uptasks", "of the task in a slot"},
	{"row", "blame did", "of holders"},
	{"held", "mmap", "with known durations, contended or not"},
	{"depth", "flame", "boxes below it"},
	{"depth", "xol uptasks", "return probes"},
	{"running_pct", "contexts", "of all events of a context"},
	{"running_pct", "events", "of one event"},
	{"running_ns", "events", "of the event"},
	{"slots", "xol", "of uprobes"},
	{"used", "upprocs xol", "of uprobes"},
	{"cpu_pct", "uprobes upprocs", "of hits"},
	{"samples", "xol", "snapshots"},
	{"longest_ns", "xol", "waits for slots"},
	{"since_ns", "uptasks", "from snapshots"},
	{"function", "upwaits", "of the code of uprobes"},
	{"delta_ns_per_s", "compare", "another title: B less A"},
	{"addr", "flame", "of code"},
	{"events", "rotation", "only those that take turns"},
	{"pinned", "events", "one event: yes or no"},
	{"elsewhere", "rotation", "of all tasks that rotate there"},
	{"pct", "flame", "of the box"},
	{"symbol", "uprobes", "with the offset"},
	{"source", "uprobes", "how the probe was placed"},
	{"note", "uprobes", "of the probe"},
};

enum { EXCEPTIONS = sizeof(exceptions) / sizeof(exceptions[0]) };

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *w = words; *w; w += strcspn(w, " "), w += strspn(w, " "))
		if (strcspn(w, " ") == len && memcmp(w, word, len) == 0)
			return true;
	return false;
}

static unsigned n_words(const char *words)
{
	unsigned n = 0;

	for (const char *w = words; *w; w += strcspn(w, " "), w += strspn(w, " "))
		n++;
	return n;
}

static const struct exception *find_exception(const char *table, const char *key)
{
	for (size_t i = 0; i < EXCEPTIONS; i++)
		if (strcmp(exceptions[i].key, key) == 0 && has_word(exceptions[i].tables, table))
			return &exceptions[i];
	return NULL;
}

static bool is_same(const struct column *a, const struct column *b)
{
	return a->type == b->type && !strcmp(a->title, b->title) && !strcmp(a->help, b->help);
}

/* Columns without flags are for other code, and named nowhere. */
static const struct column *find_column(const struct table_kind *kind, const char *key)
{
	for (size_t i = 0; i < kind->n_columns; i++)
		if (kind->columns[i].flags && strcmp(kind->columns[i].key, key) == 0)
			return &kind->columns[i];
	return NULL;
}

/* The column of the first table that is no exception. */
static const struct column *find_shared(const char *key)
{
	for (const struct table_def *t = table_defs; t->kind; t++) {
		const struct column *c = find_column(t->kind, key);

		if (c && !find_exception(t->kind->name, key))
			return c;
	}
	return NULL;
}

static unsigned check_table(const struct table_kind *kind)
{
	unsigned bad = 0;

	for (size_t i = 0; i < kind->n_columns; i++) {
		const struct column *c = &kind->columns[i];
		const struct column *shared = c->flags ? find_shared(c->key) : NULL;

		if (!shared || is_same(c, shared) || find_exception(kind->name, c->key))
			continue;
		print_message("%s.%s is '%s', \"%s\"; in other tables it is '%s', \"%s\"\n",
			      kind->name, c->key, c->title, c->help, shared->title, shared->help);
		bad++;
	}
	return bad;
}

static void a_key_has_one_title_type_and_help(void **state)
{
	unsigned bad = 0;

	(void)state;
	for (const struct table_def *t = table_defs; t->kind; t++)
		bad += check_table(t->kind);
	assert_int_equal(bad, 0);
}

/* They differ from the shared column, and are the same among each other. */
static unsigned check_exception(const struct exception *e)
{
	const struct column *shared = find_shared(e->key), *first = NULL;
	unsigned found = 0, bad = 0;

	for (const struct table_def *t = table_defs; t->kind; t++) {
		const struct column *c = find_column(t->kind, e->key);

		if (!c || !has_word(e->tables, t->kind->name))
			continue;
		found++;
		first = first ? first : c;
		if (is_same(c, first) && (!shared || !is_same(c, shared)))
			continue;
		print_message("%s.%s is '%s', \"%s\", and not what the list of exceptions says\n",
			      t->kind->name, e->key, c->title, c->help);
		bad++;
	}
	if (found == n_words(e->tables))
		return bad;
	print_message("'%s': only %u of the tables '%s' have the column\n", e->key, found,
		      e->tables);
	return bad + 1;
}

static void exceptions_are_exceptions(void **state)
{
	unsigned bad = 0;

	(void)state;
	for (size_t i = 0; i < EXCEPTIONS; i++) {
		assert_true(strlen(exceptions[i].reason) > 0);
		bad += check_exception(&exceptions[i]);
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_key_has_one_title_type_and_help),
		cmocka_unit_test(exceptions_are_exceptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
