// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording without the symbols that it does not need: the same in all else, and every address in
 * it has the name that it had, those in snapshots too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/mem.h"
#include "kontend/profile.h"
#include "kontend/stack.h"
#include "kontend/writer.h"
#include "random.h"
#include "recording.h"
#include "symtext.h"
#include "synth-profile.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MS 1000000ull
#define FAR 0xffffffff83000000ull /* of the symbols that are not needed */

enum { FILLER = 20000 };

static char *symbols(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	fputs(synth_kallsyms, f);
	for (unsigned i = 0; i < FILLER; i++)
		fprintf(f, "%016" PRIx64 " t filler_%u_%u\n", (uint64_t)(FAR + i * 64ull), i,
			i * 2654435761u);
	fclose(f);
	return text;
}

static void add_address(struct synth *s, uint64_t addr)
{
	uint8_t body[sizeof(struct record_snapshot) + 11] = {0};
	struct record_snapshot head = {.kind = SNAPSHOT_PERF, .version = 1, .time_ns = MS};

	memcpy(body, &head, sizeof(head));
	memcpy(body + sizeof(head) + 3, &addr, sizeof(addr));
	synth_record(s, RECORD_SNAPSHOT, 0, body, sizeof(body));
}

static void add_sample(struct synth *s, uint64_t ms, uint64_t ip, uint64_t caller)
{
	const uint64_t chain[] = {ip, caller};

	synth_sample(s, 0, ms * MS, 50, 51, MS,
		     (struct synth_chain){.kernel = chain, .n_kernel = 2});
}

/* The snapshot that describes the machine comes before the symbols. */
static void add_machine(struct synth *s)
{
	struct {
		struct record_snapshot head;
		struct record_machine machine;
	} m = {.head = {.kind = SNAPSHOT_MACHINE, .version = RECORD_MACHINE_VERSION}};

	synth_record(s, RECORD_SNAPSHOT, 0, &m, sizeof(m));
}

static struct synth *stream(const char *kallsyms)
{
	struct synth *s = synth_new(2);

	add_machine(s);
	synth_prologue(s, kallsyms);
	synth_profile(s);
	add_sample(s, 1001, FAR + 64 * 99 + 4, FAR + 64 * 5000);
	add_address(s, FAR + 64 * 777 + 5);
	recording_waits(s, 3, 20);
	synth_lost(s, 1, 1070 * MS, 3);
	synth_record(s, RECORD_NOTE, 0, "a note", 6);
	synth_tick(s, 1100 * MS);
	return s;
}

static void path_of(int fd, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d", fd);
}

/* The kept part of the data that @w has written into @in, in a new file. */
static int shrink(const struct writer *w, int in, int *ret_fd, struct error *err)
{
	char path[64];
	struct reader_options o = {.path = path, .no_symbols = true};
	struct source *s = NULL;

	path_of(in, path);
	*ret_fd = memfd_create("small", 0);
	int r = reader_new(&s, &o, err);
	if (!r)
		r = writer_shrink(s, w, *ret_fd, err);
	source_free(s);
	return r;
}

static void play(struct engine *e, int fd)
{
	char path[64];
	struct reader_options o = {.path = path, .no_symbols = true};
	struct source *s;

	path_of(fd, path);
	assert_int_equal(reader_new(&s, &o, NULL), 0);
	assert_int_equal(engine_init(e, s, NULL, NULL), 0);
	while (engine_pump(e, 0, NULL) != ENGINE_END)
		;
}

/* In how many frames they have one. */
static unsigned same_names_in(const struct engine *a, const struct engine *b,
			      const struct stack_table *t)
{
	char name[2][128];
	unsigned named = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const uint64_t *frames = stack_frames(t, i);
		for (uint32_t k = 0; k < t->stacks[i].n; k++) {
			symtext(&a->sym, frames[k], name[0], sizeof(name[0]));
			symtext(&b->sym, frames[k], name[1], sizeof(name[1]));
			assert_string_equal(name[0], name[1]);
			assert_int_equal(sym_is_lock_function(&a->sym, frames[k]),
					 sym_is_lock_function(&b->sym, frames[k]));
			named += name[0][0] != '0';
		}
	}
	return named;
}

static void same_names(const struct engine *a, const struct engine *b)
{
	char name[128];

	assert_true(same_names_in(a, b, a->model->stacks) > 3);
	assert_int_equal(same_names_in(a, b, &a->model->profile->stacks), 2);
	symtext(&b->sym, FAR + 64 * 777 + 5, name, sizeof(name));
	assert_string_equal(name, "filler_777_912284217+0x5");
}

static void test_same_but_small(void **state)
{
	static const int forms[] = {0, RECORDING_ZSTD};
	char *kallsyms = symbols();

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct synth *s = stream(kallsyms);
		int fd, whole;
		struct writer *w = recording_writer(synth_source(s), forms[i], &whole);
		struct engine a, b;
		assert_int_equal(shrink(w, whole, &fd, NULL), 0);
		assert_true(lseek(fd, 0, SEEK_END) < lseek(whole, 0, SEEK_END) / 3);
		play(&a, whole);
		play(&b, fd);
		char *was = random_state(a.model), *is = random_state(b.model);
		assert_string_equal(was, is);
		assert_int_equal(a.notes.n, b.notes.n);
		same_names(&a, &b);
		mem_free(was);
		mem_free(is);
		engine_deinit(&a);
		engine_deinit(&b);
		close(fd);
		close(whole);
		writer_free(w);
		synth_free(s);
	}
	free(kallsyms);
}

static void check_nothing(struct synth *s)
{
	int fd, whole;
	struct writer *w = recording_writer(synth_source(s), 0, &whole);

	assert_int_equal(shrink(w, whole, &fd, NULL), WRITER_SHRINK_NOTHING);
	close(fd);
	close(whole);
	writer_free(w);
	synth_free(s);
}

static void test_nothing_to_leave_out(void **state)
{
	struct synth *s = stream(NULL);

	(void)state;
	check_nothing(s);
	check_nothing(stream("0000000000000000 T _stext\n0000000000000000 T vm_mmap_pgoff\n"));
	s = stream(synth_kallsyms);
	synth_record(s, RECORD_KALLSYMS, 0, synth_kallsyms, strlen(synth_kallsyms));
	synth_tick(s, 1200 * MS);
	check_nothing(s);
}

static void test_no_padding(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000010 t __pfx_first\n"
				   "ffffffff81000020 t first\nffffffff81000030 t __pfx_last",
			  lean[] = "ffffffff81000000 T _text\nffffffff81000020 t first\n";
	struct synth *s = stream(text);
	struct recording rec = recording_written(synth_source(s), 0);
	struct reader_options o = {.path = "bytes", .bytes = rec.data, .n_bytes = rec.len};
	struct source *from;
	struct record r = {0};

	(void)state;
	assert_int_equal(reader_new(&from, &o, NULL), 0);
	while (r.kind != RECORD_KALLSYMS) {
		source_release(from, &r);
		assert_int_equal(source_next(from, 0, &r, NULL), 0);
	}
	assert_int_equal(r.len, sizeof(lean) - 1);
	assert_memory_equal(r.data, lean, r.len);
	source_release(from, &r);
	source_free(from);
	recording_free(&rec);
	synth_free(s);
}

static void test_failures(void **state)
{
	struct synth *s = stream(synth_kallsyms);
	int r = -ENOMEM, fd, whole;
	struct writer *w = recording_writer(synth_source(s), RECORDING_ZSTD, &whole);
	long live = mem_live();

	(void)state;
	for (long n = 0; r; n++) {
		struct error err = {0};
		mem_fail_after(n);
		r = shrink(w, whole, &fd, &err);
		mem_fail_after(-1);
		close(fd);
		assert_true(!r || (r == -ENOMEM && err.text[0]));
		assert_int_equal(mem_live(), live);
		assert_true(n < 10000);
	}
	close(whole);
	writer_free(w);
	synth_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_but_small),
		cmocka_unit_test(test_nothing_to_leave_out),
		cmocka_unit_test(test_no_padding),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
