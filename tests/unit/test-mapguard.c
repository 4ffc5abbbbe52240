// SPDX-License-Identifier: GPL-2.0-only
/*
 * A mapped file that becomes shorter while it is read: zeros where it was, a flag, and faults of
 * other mappings are not handled. A recording that this happens to ends with a note.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/filemap.h"
#include "kontend/mapguard.h"
#include "recording.h"
#include "rig.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGES = 8 };

struct file {
	int fd;
	size_t page;
	uint8_t *map;
	struct mapguard guard;
};

static void file_init(struct file *f)
{
	*f = (struct file){.fd = memfd_create("file", MFD_CLOEXEC),
			   .page = (size_t)sysconf(_SC_PAGESIZE)};
	size_t len = PAGES * f->page;
	uint8_t *bytes = malloc(len);

	assert_non_null(bytes);
	memset(bytes, 0xaa, len);
	assert_int_equal(write(f->fd, bytes, len), len);
	free(bytes);
	f->map = mmap(NULL, len, PROT_READ, MAP_PRIVATE, f->fd, 0);
	assert_true(f->map != MAP_FAILED);
}

static void file_deinit(struct file *f)
{
	munmap(f->map, PAGES * f->page);
	close(f->fd);
}

static uint8_t read_page(const struct file *f, size_t page)
{
	return *(volatile const uint8_t *)&f->map[page * f->page];
}

static void test_zeros(void **state)
{
	struct file f;

	(void)state;
	file_init(&f);
	mapguard_add(&f.guard, f.map, PAGES * f.page - 5);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(read_page(&f, i), 0xaa);
	assert_int_equal(ftruncate(f.fd, (off_t)(3 * f.page)), 0);
	assert_int_equal(read_page(&f, 2), 0xaa);
	assert_false(f.guard.broken);
	assert_int_equal(read_page(&f, 5), 0);
	assert_true(f.guard.broken);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(read_page(&f, i), i < 3 ? 0xaa : 0);
	mapguard_del(&f.guard);
	file_deinit(&f);
}

static void test_several(void **state)
{
	struct file f[3];

	(void)state;
	for (int i = 0; i < 3; i++) {
		file_init(&f[i]);
		mapguard_add(&f[i].guard, f[i].map, PAGES * f[i].page);
	}
	mapguard_del(&f[1].guard);
	for (int i = 0; i < 3; i += 2) {
		assert_int_equal(ftruncate(f[i].fd, 0), 0);
		assert_false(f[i].guard.broken);
		assert_int_equal(read_page(&f[i], 7), 0);
		assert_true(f[i].guard.broken);
	}
	assert_false(f[1].guard.broken);
	mapguard_del(&f[2].guard);
	mapguard_del(&f[0].guard);
	for (int i = 0; i < 3; i++)
		file_deinit(&f[i]);
}

/* One that is not guarded, or not any more. */
static void test_others(void **state)
{
	struct file f, other;
	int status;

	(void)state;
	file_init(&f);
	file_init(&other);
	mapguard_add(&other.guard, other.map, PAGES * other.page);
	mapguard_add(&f.guard, f.map, PAGES * f.page);
	mapguard_del(&f.guard);
	assert_int_equal(ftruncate(f.fd, 0), 0);
	fflush(NULL);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGBUS, SIG_DFL); /* what cmocka would do with it is not asked here */
		mapguard_del(&other.guard);
		mapguard_add(&other.guard, other.map, PAGES * other.page);
		_exit(read_page(&f, 1));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	mapguard_del(&other.guard);
	file_deinit(&f);
	file_deinit(&other);
}

/* A whole file by its descriptor, which is not needed any more then. */
static void test_file(void **state)
{
	struct filemap m = {0};
	struct file f;

	(void)state;
	file_init(&f);
	assert_int_equal(ftruncate(f.fd, (off_t)(3 * f.page + 1)), 0);
	assert_int_equal(filemap_open(&m, f.fd), 0);
	assert_int_equal(m.len, 3 * f.page + 1);
	assert_memory_equal(m.bytes, f.map, m.len);
	assert_int_equal(ftruncate(f.fd, (off_t)f.page), 0);
	assert_int_equal(m.bytes[f.page - 1], (char)0xaa);
	assert_int_equal(m.bytes[3 * f.page], 0);
	assert_true(m.guard.broken);
	filemap_close(&m);
	assert_null(m.bytes);
	filemap_close(&m);
	assert_int_equal(ftruncate(f.fd, 0), 0);
	assert_int_equal(filemap_open(&m, f.fd), -ENODATA);
	assert_int_equal(filemap_open(&m, -1), -EBADF);
	file_deinit(&f);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(filemap_open(&m, ends[0]), -ENODATA);
	assert_null(m.bytes);
	close(ends[0]);
	close(ends[1]);
}

static struct recording made(void)
{
	struct rig r;

	rig_init(&r, 2);
	recording_waits(r.synth, 400, 50);
	struct recording rec = recording_perf(r.synth, RECORDING_PIPE);
	rig_deinit(&r);
	return rec;
}

static uint64_t sum(const struct record *r)
{
	uint64_t n = 0;

	for (size_t i = 0; i < r->len; i++)
		n += ((const uint8_t *)r->data)[i];
	return n;
}

/* Reads the rest; every byte handed out is in the file, or zero. */
static size_t drain(struct source *s, char *note, size_t size)
{
	struct record r;
	size_t n = 0;
	int e;

	while ((e = source_next(s, 0, &r, NULL)) == 0) {
		n += r.kind == RECORD_PERF && sum(&r) > 0;
		if (r.kind == RECORD_NOTE)
			snprintf(note, size, "%.*s", (int)r.len, (const char *)r.data);
		source_release(s, &r);
	}
	assert_int_equal(e, SOURCE_END);
	return n;
}

/* Within what is mapped at a time, at many places of what was read by then. */
static void test_recording(void **state)
{
	struct recording rec = made();

	(void)state;
	assert_true(rec.len > 500000 && rec.len < 4 << 20);
	for (int before = 0; before < 40; before += 3) {
		char path[64], note[600] = "";
		struct reader_options o = {.path = path, .no_symbols = true};
		int fd = memfd_create("shrinks", MFD_CLOEXEC);
		struct record held = {0};
		struct source *s;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(write(fd, rec.data, rec.len), rec.len);
		assert_int_equal(reader_new(&s, &o, NULL), 0);
		for (int i = 0; i < before; i++) {
			if (held.data)
				source_release(s, &held);
			assert_int_equal(source_next(s, 0, &held, NULL), 0);
		}
		assert_int_equal(ftruncate(fd, 200000), 0);
		drain(s, note, sizeof(note));
		if (!strstr(note, "was truncated while it was read"))
			fail_msg("after %d records: '%s'", before, note);
		if (held.data) {
			sum(&held);
			source_release(s, &held);
		}
		source_free(s);
		close(fd);
	}
	recording_free(&rec);
}

enum { THREADS = 4, ROUNDS = 400000, GUARDS = 4 };
static const uintptr_t NOWHERE = (uintptr_t)1 << 40; /* no mapping: it is only compared */

static void *add_and_remove(void *arg)
{
	struct mapguard *g = arg;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct mapguard *at = &g[i % GUARDS];
		if (i >= GUARDS)
			mapguard_del(at);
		mapguard_add(at, (void *)NOWHERE, 4096);
	}
	for (unsigned i = 0; i < GUARDS; i++)
		mapguard_del(&g[i]);
	return NULL;
}

/* Threads add and remove guards at the same time: afterwards none is left, and no fault is ours. */
static void test_threads(void **state)
{
	static struct mapguard guards[THREADS][GUARDS];
	pthread_t threads[THREADS];
	siginfo_t info = {.si_code = BUS_ADRERR};

	(void)state;
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_and_remove, guards[i]), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	info.si_addr = (void *)NOWHERE;
	assert_false(mapguard_fault(&info));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zeros),	  cmocka_unit_test(test_several),
		cmocka_unit_test(test_others),	  cmocka_unit_test(test_file),
		cmocka_unit_test(test_recording), cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
