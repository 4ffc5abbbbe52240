// SPDX-License-Identifier: GPL-2.0-only
/*
 * When incidents begin and end, and what becomes of a storm of them; the names of their files;
 * files that cannot be written; and which of them give way.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../src/incidents/incident-open.h"
#include "incidents/incident-file.h"
#include "kontend/incident-list.h"
#include "kontend/mem.h"
#include "recording.h"

#define S 1000000000ull
enum { BEGIN = 1000, SECONDS = 60 };

static struct synth *make_stream(void)
{
	const struct record_host host = {.clock_ns = BEGIN * S, .wall_ns = S, .cpus = 1};
	struct synth *s = synth_new(1);

	synth_prologue(s, synth_kallsyms);
	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
	synth_comm(s, 0, 0, 7, 7, "waiter");
	for (uint64_t i = BEGIN; i < BEGIN + SECONDS; i++) {
		synth_begin(s, 0, i * S + S / 4, 7, 7, 0x1000, LCB_F_MUTEX, NULL, 0);
		synth_end(s, 0, i * S + S / 2, 7, 7, 0x1000, 0);
		synth_tick(s, (i + 1) * S);
	}
	return s;
}

static struct source *unread(struct synth *s)
{
	struct error err = {0};
	struct source *b;

	assert_int_equal(backlog_new(&b, synth_source(s), NULL, &err), 0);
	return b;
}

static struct source *kept(struct synth *s)
{
	struct source *b = unread(s);
	struct error err = {0};
	struct record r;

	while (source_next(b, 0, &r, &err) == 0)
		source_release(b, &r);
	return b;
}

static struct incident fired(uint64_t ns)
{
	struct incident in = {.fired_ns = ns, .begin_ns = ns - S / 10, .end_ns = ns};

	strcpy(in.expr, "wait>5ms type:rwsem");
	return in;
}

static void test_a_storm_has_some_files(void **state)
{
	struct synth *s = make_stream();
	struct source *b = kept(s);
	struct incident_open o;
	unsigned files = 0;

	(void)state;
	incident_open_init(&o, 0, S);
	/* An hour, in which one fires each second. */
	for (uint64_t t = 5000; t < 5000 + 3600; t++) {
		struct incident in = fired(t * S);

		incident_open_add(&o, b, &in);
		files += o.is_open;
		o.is_open = false;
	}
	assert_in_range(files, 120, 131);
	assert_int_equal(o.left_out, 3600 - files);
	source_free(b);
	synth_free(s);
}

/* A machine that has just come up has ten at once, like any other. */
static void test_right_after_a_start(void **state)
{
	struct synth *s = make_stream();
	struct source *b = kept(s);
	struct incident_open o;
	unsigned files = 0;

	(void)state;
	incident_open_init(&o, 0, S);
	for (uint64_t t = 1; t <= 20; t++) {
		struct incident in = fired(t * S);

		incident_open_add(&o, b, &in);
		files += o.is_open;
		o.is_open = false;
	}
	assert_int_equal(files, 10);
	source_free(b);
	synth_free(s);
}

static void test_it_goes_on_but_not_for_ever(void **state)
{
	struct synth *s = make_stream();
	struct source *b = kept(s);
	struct incident_open o;
	struct incident in = fired((BEGIN + 50) * S);

	(void)state;
	incident_open_init(&o, 5 * S, S);
	incident_open_add(&o, b, &in);
	assert_int_equal(o.incident.from_ns, in.begin_ns - 5 * S);
	assert_int_equal(o.incident.to_ns, in.fired_ns + S);
	for (int i = 1; i < 100; i++) {
		in = fired((BEGIN + 50) * S + (uint64_t)i * S / 2);
		incident_open_add(&o, b, &in);
	}
	assert_int_equal(o.incident.fired_ns, (BEGIN + 50) * S);
	assert_int_equal(o.incident.to_ns, (BEGIN + 60) * S);
	assert_int_equal(o.others, 99);
	o.is_named = true;
	assert_true(incident_open_is_whole(&o, b));
	source_free(b);
	synth_free(s);
}

struct asked_source {
	struct source source;
	unsigned n;
};

static int nothing(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	(void)s;
	(void)timeout_ms;
	(void)ret;
	(void)err;
	return SOURCE_IDLE;
}

static void note_asked(struct source *s)
{
	((struct asked_source *)s)->n++;
}

static void keep_it(struct source *s)
{
	(void)s;
}

/* One record at a time: a live source is not ahead of its reader. */
static struct synth *say_times(const uint64_t *times, const bool *ticks, size_t n)
{
	struct synth *s = synth_new(1);

	synth_prologue(s, NULL);
	for (size_t i = 0; i < n; i++)
		synth_record(s, ticks[i] ? RECORD_TICK : RECORD_ROUND, 0, &times[i],
			     sizeof(times[i]));
	return s;
}

static void read_until(struct source *b, uint64_t time_ns)
{
	struct backlog_stat st = {0};
	struct record r;

	while (st.stream_ns < time_ns && source_next(b, 0, &r, NULL) == 0) {
		source_release(b, &r);
		backlog_stat(b, &st);
	}
	assert_int_equal(st.stream_ns, time_ns);
}

/* Sums of short waits come at ticks: it ends at one, which it requests when its time is over. */
static void test_with_sums_it_ends_at_a_tick(void **state)
{
	static const uint64_t times[] = {BEGIN * S,	  (BEGIN + 1) * S, (BEGIN + 2) * S,
					 (BEGIN + 3) * S, (BEGIN + 4) * S, (BEGIN + 5) * S};
	static const bool ticks[] = {true, true, false, false, false, true};
	static const struct source_ops ops = {
		.next = nothing, .tick_now = note_asked, .free = keep_it};
	struct asked_source live = {.source.ops = &ops};
	struct synth *s = say_times(times, ticks, sizeof(times) / sizeof(*times));
	struct source *b = unread(s), *asked;
	struct incident in = fired((BEGIN + 1) * S);
	struct incident_open o;

	(void)state;
	incident_open_init(&o, S, S);
	incident_open_add(&o, b, &in);
	o.is_named = o.has_sums = true;
	read_until(b, times[1]);
	assert_false(incident_open_is_whole(&o, b));
	assert_false(o.is_asked);
	read_until(b, times[3]);
	assert_false(incident_open_is_whole(&o, b));
	assert_true(o.is_asked);
	read_until(b, times[4]);
	assert_false(incident_open_is_whole(&o, b));
	o.has_sums = false;
	assert_true(incident_open_is_whole(&o, b));
	o.has_sums = true;
	read_until(b, times[5]);
	assert_true(incident_open_is_whole(&o, b));
	source_free(b);
	synth_free(s);
	/* The requests of the trigger reach the source that measures. */
	assert_int_equal(backlog_new(&asked, &live.source, NULL, NULL), 0);
	source_tick_now(asked);
	assert_int_equal(live.n, 1);
	source_free(asked);
}

static void test_names(void **state)
{
	static const char *const good[] = {"kontend-20261121-031407-wait.data",
					   "kontend-20261121-031407-wait-12.data",
					   "kontend-20261121-031407-hand.data.part"};
	static const char *const bad[] = {"kontend.data",
					  "kontend-20261121-031407-.data",
					  "kontend-20261121.data",
					  "kontend-2026112x-031407-wait.data",
					  "kontend-20261121-031407-wait.datb",
					  "kontend-20261121-031407-Wait.data",
					  "kontend-20261121-031407-w/x.data",
					  "xkontend-20261121-031407-wait.data",
					  "",
					  ".part"};
	char name[INCIDENT_NAME];
	struct incident_job j = {.incident = fired(S), .wall_ns = 1795230847 * S};
	bool part;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(incident_file_is_name(good[i], &part));
		assert_int_equal(part, i == 2);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(incident_file_is_name(bad[i], &part));
	setenv("TZ", "UTC", 1);
	incident_file_name(name, &j, 1);
	assert_string_equal(name, "kontend-20261121-031407-wait.data");
	j.goes_on = true;
	incident_file_name(name, &j, 2);
	assert_string_equal(name, "kontend-20261121-031407-wait-begun-2.data");
	assert_true(incident_file_is_name(name, &part));
	j.goes_on = false;
	strcpy(j.incident.expr, "~!?");
	incident_file_name(name, &j, 3);
	assert_string_equal(name, "kontend-20261121-031407-incident-3.data");
	assert_true(incident_file_is_name(name, &part));
}

struct folder {
	char dir[32];
	struct synth *s;
	struct source *b;
};

static void open_folder(struct folder *f)
{
	strcpy(f->dir, "/tmp/kontend-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->s = make_stream();
	f->b = kept(f->s);
}

static unsigned count(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void close_folder(struct folder *f)
{
	char command[64];

	source_free(f->b);
	synth_free(f->s);
	snprintf(command, sizeof(command), "rm -r %s", f->dir);
	assert_int_equal(system(command), 0);
}

/* NULL: there was no memory for it. */
static struct incident_job *job(struct folder *f, uint64_t wall_ns)
{
	struct incident_job *j = mem_calloc(1, sizeof(*j));
	struct error err = {0};

	if (!j)
		return NULL;
	j->incident = fired((BEGIN + 55) * S);
	j->incident.from_ns = (BEGIN + 50) * S;
	j->incident.to_ns = (BEGIN + 57) * S;
	j->wall_ns = wall_ns;
	if (backlog_take(f->b, j->incident.from_ns, wall_ns - 5 * S, &j->taken, &err) == 0)
		return j;
	assert_int_equal(err.code, -ENOMEM);
	incident_job_free(j);
	return NULL;
}

static void test_what_fails_leaves_nothing(void **state)
{
	struct folder f;
	struct incident_job *j = NULL;
	bool done = false;

	(void)state;
	open_folder(&f);
	const struct incident_options o = {.dir = f.dir, .zstd_level = 3};
	for (long n = 0; !done; n++) {
		mem_fail_after(n);
		j = job(&f, S);
		done = j && incident_file_write(&o, j) == 0;
		mem_fail_after(-1);
		if (j && !done) {
			assert_true(j->err.code && j->err.text[0]);
			assert_null(j->path);
		}
		assert_int_equal(count(f.dir), done);
		incident_job_free(j);
		assert_true(n < 2000);
	}
	const struct incident_options none = {.dir = "/tmp/kontend-is/not/there"};
	j = job(&f, S);
	assert_int_equal(incident_file_write(&none, j), -ENOENT);
	assert_non_null(strstr(j->err.text, "Cannot make the file '/tmp/kontend-is/not/there/"));
	incident_job_free(j);
	close_folder(&f);
}

/* The only entry of a folder that has "incidents"; the caller ends the list. */
static struct incident_entry *only_entry(const struct folder *f, struct incident_list *l)
{
	struct error err = {0};

	assert_int_equal(incident_list_read(l, f->dir, &err), 0);
	assert_int_equal(l->n, 1);
	return &l->entries[0];
}

/* An incident in progress can be listed, and is replaced by the complete one. */
static void test_a_beginning_is_there_until_the_whole_is(void **state)
{
	struct incident_begun begun = {.fd = -1};
	struct incident_list l;
	struct folder f;

	(void)state;
	setenv("TZ", "UTC", 1);
	open_folder(&f);
	const struct incident_options o = {.dir = f.dir, .zstd_level = 3};
	struct incident_job *j = job(&f, 1795230847 * S);
	j->goes_on = true;
	assert_int_equal(incident_file_begin(&o, j, &begun), 0);
	assert_string_equal(only_entry(&f, &l)->name,
			    "kontend-20261121-031407-wait-begun.data.part");
	assert_int_equal(l.entries[0].state, INCIDENT_WRITTEN);
	incident_list_deinit(&l);
	incident_job_free(j);
	j = job(&f, 1795230847 * S);
	assert_int_equal(incident_file_write(&o, j), 0);
	incident_begun_drop(&begun);
	assert_string_equal(only_entry(&f, &l)->name, "kontend-20261121-031407-wait.data");
	assert_int_equal(l.entries[0].state, INCIDENT_WHOLE);
	incident_list_deinit(&l);
	incident_job_free(j);
	close_folder(&f);
}

/* The process that wrote it is gone, or cannot write the rest. */
static void test_a_beginning_alone_is_a_recording(void **state)
{
	struct incident_begun begun = {.fd = -1};
	struct incident_list l;
	struct error err = {0};
	struct folder f;
	char *path = NULL;

	(void)state;
	open_folder(&f);
	const struct incident_options o = {.dir = f.dir, .zstd_level = 3};
	struct incident_job *j = job(&f, 1795230847 * S);
	j->goes_on = true;
	assert_int_equal(incident_file_begin(&o, j, &begun), 0);
	incident_begun_leave(&begun);
	assert_int_equal(only_entry(&f, &l)->state, INCIDENT_LEFT);
	incident_list_deinit(&l);
	close_folder(&f);
	open_folder(&f);
	const struct incident_options again = {.dir = f.dir, .zstd_level = 3};
	assert_int_equal(incident_file_begin(&again, j, &begun), 0);
	assert_int_equal(incident_begun_keep(&begun, &path, &err), 0);
	assert_non_null(strstr(path, "-wait-begun.data"));
	assert_int_equal(only_entry(&f, &l)->state, INCIDENT_WHOLE);
	assert_int_equal(l.entries[0].found.incident.fired_ns, j->incident.fired_ns);
	incident_list_deinit(&l);
	mem_free(path);
	incident_job_free(j);
	close_folder(&f);
}

static void touch(const char *dir, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* By the thread, as it does. */
static void write_all(struct folder *f, const struct retain_limits *keep, unsigned n)
{
	const struct incident_options o = {.dir = f->dir, .zstd_level = 3};
	struct incident_thread *t;
	struct error err = {0};

	assert_int_equal(incident_thread_new(&t, &o, &err), 0);
	for (unsigned i = 0; i < n; i++) {
		struct incident_job *j = job(f, (1795230847 + i) * S), *done = NULL;

		j->keep = *keep;
		assert_int_equal(incident_thread_put(t, j), 0);
		while (!(done = incident_thread_done(t)))
			usleep(1000);
		assert_int_equal(done->err.code, 0);
		incident_job_free(done);
	}
	assert_int_equal(incident_thread_left(t), 0);
	incident_thread_free(t);
}

static void test_the_oldest_give_way(void **state)
{
	struct folder f;
	struct incident_list l;
	struct error err = {0};

	(void)state;
	setenv("TZ", "UTC", 1);
	open_folder(&f);
	struct retain_limits keep = {.files = 3};
	touch(f.dir, "kontend-20000101-000000-mine.data", "is none");
	touch(f.dir, "kontend.data", "is none");
	touch(f.dir, "kontend-20000101-000001-wait.data.part", "left");
	write_all(&f, &keep, 5);
	assert_int_equal(incident_list_read(&l, f.dir, &err), 0);
	assert_int_equal(l.n, 5);
	assert_int_equal(l.entries[0].state, INCIDENT_BAD);
	assert_int_equal(l.entries[1].state, INCIDENT_LEFT);
	/* The remaining file is none of those three, and there is no incident in it. */
	assert_string_equal(l.entries[2].name, "kontend-20261121-031409-wait.data");
	assert_string_equal(l.entries[4].name, "kontend-20261121-031411-wait.data");
	assert_int_equal(l.entries[4].found.wall_ns, (1795230847 + 4) * S);
	assert_int_equal(l.entries[4].found.incident.fired_ns, (BEGIN + 55) * S);
	incident_list_deinit(&l);
	/* Even if they are too many bytes the one that was just written stays. */
	keep.bytes = 1;
	write_all(&f, &keep, 1);
	assert_int_equal(count(f.dir), 4);
	close_folder(&f);
}

static void test_one_that_is_written_is_told_from_one_that_was_left(void **state)
{
	struct folder f;
	struct incident_list l;
	struct error err = {0};
	char path[128];

	(void)state;
	open_folder(&f);
	touch(f.dir, "kontend-20000101-000001-wait.data.part", "part");
	snprintf(path, sizeof(path), "%s/kontend-20000101-000001-wait.data.part", f.dir);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(flock(fileno(file), LOCK_EX), 0);
	assert_int_equal(incident_list_read(&l, f.dir, &err), 0);
	assert_int_equal(l.entries[0].state, INCIDENT_WRITTEN);
	incident_list_deinit(&l);
	fclose(file);
	assert_int_equal(incident_list_read(&l, f.dir, &err), 0);
	assert_int_equal(l.entries[0].state, INCIDENT_LEFT);
	assert_int_equal(l.entries[0].found.bytes, 4);
	incident_list_deinit(&l);
	close_folder(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_storm_has_some_files),
		cmocka_unit_test(test_right_after_a_start),
		cmocka_unit_test(test_it_goes_on_but_not_for_ever),
		cmocka_unit_test(test_with_sums_it_ends_at_a_tick),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_what_fails_leaves_nothing),
		cmocka_unit_test(test_a_beginning_is_there_until_the_whole_is),
		cmocka_unit_test(test_a_beginning_alone_is_a_recording),
		cmocka_unit_test(test_the_oldest_give_way),
		cmocka_unit_test(test_one_that_is_written_is_told_from_one_that_was_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
