// SPDX-License-Identifier: GPL-2.0-only
/*
 * A cut is what the range was: the waits that began and ended in it, the names given before it, its
 * ticks, and no record from outside.
 */
#include "kontend/cut.h"
#include "kontend/damage.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/task.h"
#include "recording.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000000000ull
enum { SECONDS = 10, CPUS = 2 };

/* In each second a wait of 100 ms on each CPU, and one from its middle to that of the next one. */
static struct synth *make_synth(void)
{
	const struct record_host host = {.clock_ns = 60 * S, .cpus = CPUS};
	struct synth *s = synth_new(CPUS);

	synth_prologue(s, synth_kallsyms);
	synth_record(s, RECORD_HOST, 0, &host, sizeof(host));
	synth_comm(s, 0, 0, 7, 7, "early");
	synth_comm(s, 1, 99 * S, 8, 8, "late");
	synth_tick(s, 100 * S);
	for (uint64_t i = 100; i < 100 + SECONDS; i++) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			int tid = 7 + (int)cpu;

			synth_begin(s, cpu, i * S + S / 4, 7, tid, 0x1000, LCB_F_MUTEX, NULL, 0);
			synth_end(s, cpu, i * S + S / 4 + S / 10, 7, tid, 0x1000, 0);
		}
		if (i > 100)
			synth_end(s, 0, i * S + S / 2 - 1, 9, 9, 0x2000, 0);
		synth_begin(s, 0, i * S + S / 2, 9, 9, 0x2000, LCB_F_WRITE, NULL, 0);
		synth_throttle(s, 1, i * S + S * 3 / 4);
		synth_tick(s, (i + 1) * S);
	}
	return s;
}

static int cut_with(struct synth *s, const struct writer_options *o, uint64_t from, uint64_t to,
		    struct error *err)
{
	struct source *source = synth_source(s);
	struct writer *w;
	int r = writer_new(&w, o, err);

	if (r == 0) {
		r = cut_range(source, w, &(struct cut_part){.from_ns = from, .to_ns = to}, err);
		if (r == 0)
			r = writer_finish(w, err);
		writer_free(w);
	}
	source_free(source);
	return r;
}

static int cut_to_file(struct synth *s, int fd, uint64_t from, uint64_t to, struct error *err)
{
	const struct writer_options o = {.fd = fd, .clock_id = 1};

	return cut_with(s, &o, from, to, err);
}

static void open_cut(struct engine *e, int fd)
{
	struct reader_options o = {.no_symbols = true};
	struct error err = {0};
	struct source *source;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	o.path = path;
	assert_int_equal(reader_new(&source, &o, &err), 0);
	assert_int_equal(engine_init(e, source, NULL, &err), 0);
	do {
		r = engine_pump(e, 0, &err);
	} while (r >= 0 && r != ENGINE_END);
	assert_int_equal(r, ENGINE_END);
}

static uint64_t contended(const struct model *m, enum lock_type type)
{
	return m->types[type].contended;
}

static void check_cut(uint64_t from_s, uint64_t to_s)
{
	struct synth *s = make_synth();
	struct error err = {0};
	struct engine e;
	uint64_t n = to_s - from_s;
	int fd = memfd_create("cut", 0);

	assert_int_equal(cut_to_file(s, fd, from_s * S, to_s * S, &err), 0);
	open_cut(&e, fd);
	assert_int_equal(contended(e.model, LOCK_MUTEX), CPUS * n);
	assert_int_equal(contended(e.model, LOCK_RWSEM_W), n - 1);
	/* The one in flight at the beginning is known by its end alone. */
	assert_int_equal(e.model->damage->unmatched_end, from_s > 100);
	assert_int_equal(e.model->damage->throttled, n);
	assert_in_range(e.model->n_ticks, n, n + 1); /* the reader may close with one */
	assert_int_equal(e.model->now_ns, to_s * S);
	assert_int_equal(e.model->start_ns, from_s * S);
	assert_int_equal(e.model->host->cpus, CPUS);
	engine_deinit(&e);
	close(fd);
	synth_free(s);
}

static void test_cuts_are_their_ranges(void **state)
{
	(void)state;
	check_cut(103, 107);
	check_cut(100, 101);
	check_cut(100, 110);
	check_cut(109, 110);
}

/* Its machine is that of the recording, which may be another one than this. */
static void test_the_machine_is_the_recorded_one(void **state)
{
	const struct perfdata_machine machine = {.host = "db17", .cpu = "EPYC 7B13"};
	const struct perfdata_machine unknown = {0};
	const struct perfdata_machine *const given[] = {&machine, &unknown};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct synth *s = make_synth();
		struct writer_options o = {.clock_id = 1, .machine = given[i]};
		struct error err = {0};
		struct engine e;

		o.fd = memfd_create("cut", 0);
		assert_int_equal(cut_with(s, &o, 103 * S, 107 * S, &err), 0);
		open_cut(&e, o.fd);
		const struct perfdata_machine *m = reader_machine(e.source);
		assert_string_equal(m->host, given[i]->host);
		assert_string_equal(m->cpu, given[i]->cpu);
		engine_deinit(&e);
		close(o.fd);
		synth_free(s);
	}
}

static bool has_name(const struct model *m, const char *name)
{
	for (size_t i = 1; i < m->tasks->n; i++)
		if (m->tasks->tasks[i].comm && !strcmp(m->tasks->tasks[i].comm, name))
			return true;
	return false;
}

static void test_names_from_before(void **state)
{
	struct synth *s = make_synth();
	struct error err = {0};
	struct engine e;
	int fd = memfd_create("cut", 0);

	(void)state;
	assert_int_equal(cut_to_file(s, fd, 108 * S, 109 * S, &err), 0);
	open_cut(&e, fd);
	assert_true(has_name(e.model, "early"));
	assert_true(has_name(e.model, "late"));
	engine_deinit(&e);
	close(fd);
	synth_free(s);
}

/* A range without anything in it is a recording, too. */
static void test_nothing_to_cut(void **state)
{
	struct synth *s = make_synth();
	struct error err = {0};
	struct engine e;
	int fd = memfd_create("cut", 0);

	(void)state;
	assert_int_equal(cut_to_file(s, fd, 200 * S, 201 * S, &err), 0);
	open_cut(&e, fd);
	assert_int_equal(e.model->n_events, 0);
	engine_deinit(&e);
	close(fd);
	synth_free(s);
}

static void test_failures_are_handed_up(void **state)
{
	struct synth *s = make_synth();
	int fd = memfd_create("cut", 0), full;
	long n = 0;

	(void)state;
	for (int r = -ENOMEM; r; n++) {
		struct error err = {0};

		mem_fail_after(n);
		r = cut_to_file(s, fd, 103 * S, 107 * S, &err);
		mem_fail_after(-1);
		if (r)
			assert_true(r == -ENOMEM && err.text[0]);
	}
	assert_true(n > 3);
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(full >= 0);
	assert_true(cut_to_file(s, full, 103 * S, 107 * S, &(struct error){0}) < 0);
	close(full);
	close(fd);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts_are_their_ranges),
		cmocka_unit_test(test_the_machine_is_the_recorded_one),
		cmocka_unit_test(test_names_from_before),
		cmocka_unit_test(test_nothing_to_cut),
		cmocka_unit_test(test_failures_are_handed_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
