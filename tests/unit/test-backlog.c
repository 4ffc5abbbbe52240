// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backlog of a live stream gives the same for a range as the whole stream would: the waits in
 * it, and the names of all tasks, cgroups, locks and pieces of code that the kernel has made. And
 * it is bounded, however long it lasts.
 */
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

#include "kontend/backlog.h"
#include "kontend/cut.h"
#include "kontend/damage.h"
#include "kontend/ksyms.h"
#include "kontend/lockname.h"
#include "kontend/locksnap.h"
#include "kontend/mem.h"
#include "kontend/model-cpu.h"
#include "kontend/profile.h"
#include "kontend/task.h"
#include "recording.h"

#define S 1000000000ull
#define MS 1000000ull
enum { CPUS = 3, TASKS = 40, BEGIN = 100, PLACES = 32 };
#define CODE 0xffffffffc0001000ull

static uint32_t rnd(uint32_t *seed, uint32_t n)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % n;
}

struct world {
	struct synth *s;
	uint32_t seed;
	uint64_t t; /* grows with each event */
	bool alive[TASKS + 2];
	char code[PLACES][24]; /* names of programs that the kernel has made; "": none */
	unsigned named;
};

static void name_lock(struct world *w, unsigned lock)
{
	const struct record_snapshot head = {
		.kind = SNAPSHOT_LOCKS, .version = LOCKSNAP_VERSION, .time_ns = w->t};
	struct locksnap s = {.head = {.time_ns = w->t}};
	struct locksnap_name n = {.addr = 0x1000 + lock * 64, .kind = LOCKSNAP_PIPE, .cpu = -1};
	char text[32];

	snprintf(text, sizeof(text), "pipe %u", lock);
	n.text = locksnap_add_text(&s, text);
	assert_int_equal(locksnap_add_name(&s, &n), 0);
	size_t len = sizeof(head) + locksnap_size(&s);
	uint8_t *body = mem_calloc(len, 1);
	memcpy(body, &head, sizeof(head));
	locksnap_encode(&s, body + sizeof(head));
	synth_record(w->s, RECORD_SNAPSHOT, 0, body, len);
	mem_free(body);
	locksnap_deinit(&s);
}

static void fork_one(struct world *w, uint32_t cpu, int tid)
{
	int parent = 2 + (int)rnd(&w->seed, TASKS);

	if (w->alive[tid] || !w->alive[parent])
		return;
	synth_fork(w->s, cpu, w->t, tid, tid, parent, parent);
	w->alive[tid] = true;
}

static void name_one(struct world *w, uint32_t cpu, int tid)
{
	char comm[16];

	snprintf(comm, sizeof(comm), "n%u", w->named++);
	if (w->alive[tid])
		synth_comm(w->s, cpu, w->t, tid, tid, comm);
}

static void end_one(struct world *w, uint32_t cpu, int tid)
{
	if (tid < 5 || !w->alive[tid])
		return;
	synth_exit(w->s, cpu, w->t, tid, tid);
	w->alive[tid] = false;
}

static void wait_once(struct world *w, uint32_t cpu, int tid)
{
	uint64_t lock = 0x1000 + rnd(&w->seed, 8) * 64;

	if (!w->alive[tid])
		return;
	synth_begin(w->s, cpu, w->t, tid, tid, lock, LCB_F_MUTEX, NULL, 0);
	w->t += 100000;
	synth_end(w->s, (cpu + 1) % CPUS, w->t, tid, tid, lock, 0);
}

/* A program comes where none is, or the one that is there goes. */
static void change_code(struct world *w, uint32_t cpu)
{
	uint32_t place = rnd(&w->seed, PLACES);
	char *name = w->code[place];
	bool gone = *name != 0;

	if (!gone)
		snprintf(name, sizeof(w->code[place]), "bpf_prog_%u", w->named++);
	synth_ksymbol(w->s, cpu, w->t, CODE + place * 0x1000ull, 0x200, gone, name);
	if (gone)
		*name = 0;
}

static void do_something(struct world *w)
{
	uint32_t cpu = rnd(&w->seed, CPUS);
	int tid = 2 + (int)rnd(&w->seed, TASKS);
	char path[32];

	w->t += 1 + rnd(&w->seed, 1000000);
	switch (rnd(&w->seed, 8)) {
	case 0:
		fork_one(w, cpu, tid);
		break;
	case 1:
		name_one(w, cpu, tid);
		break;
	case 2:
		end_one(w, cpu, tid);
		break;
	case 3:
		snprintf(path, sizeof(path), "/slice/%u", w->named);
		synth_cgroup(w->s, cpu, w->t, 1000 + rnd(&w->seed, 30), path);
		break;
	case 4:
		change_code(w, cpu);
		break;
	default:
		wait_once(w, cpu, tid);
	}
}

/* Rounds have a time somewhat in the past, as the beginning of a drain has. */
static struct synth *make_stream(uint32_t seed, unsigned seconds, unsigned each)
{
	const struct record_host host = {.clock_ns = BEGIN * S, .cpus = CPUS, .wall_ns = 7 * S};
	struct world w = {.s = synth_new(CPUS), .seed = seed, .t = BEGIN * S};
	uint64_t said = BEGIN * S, start = BEGIN * S;

	synth_prologue(w.s, synth_kallsyms);
	synth_record(w.s, RECORD_HOST, 0, &host, sizeof(host));
	for (int tid = 2; tid < 8; tid++) {
		w.alive[tid] = true;
		synth_comm(w.s, 0, 0, tid, tid, "early");
	}
	synth_record(w.s, RECORD_START, 0, &start, sizeof(start));
	for (unsigned i = 0; i < seconds * 2; i++) {
		uint64_t begun = w.t;

		for (unsigned k = 0; k < each; k++)
			do_something(&w);
		if (i < 16)
			name_lock(&w, i / 2);
		synth_flush(w.s);
		if (i % 2)
			synth_tick(w.s, said);
		synth_round(w.s, said);
		said = begun;
		if (w.t < BEGIN * S + (i + 1) * S / 2)
			w.t = BEGIN * S + (i + 1) * S / 2;
	}
	synth_round(w.s, w.t);
	return w.s;
}

static int cut_to_fd(struct source *s, const struct cut_part *p)
{
	int fd = memfd_create("cut", 0);
	struct writer_options o = {.fd = fd, .clock_id = 1};
	struct error err = {0};
	struct writer *w;

	assert_int_equal(writer_new(&w, &o, &err), 0);
	assert_int_equal(cut_range(s, w, p, &err), 0);
	assert_int_equal(writer_finish(w, &err), 0);
	writer_free(w);
	return fd;
}

static void play(struct engine *e, int fd)
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
	close(fd);
}

static const char *comm_of(const struct model *m, int tid)
{
	const uint32_t *at = map64_get(&m->tasks->by_tid, (uint32_t)tid);

	return at ? m->tasks->tasks[*at].comm : "";
}

static void compare(const struct model *a, const struct model *b)
{
	assert_int_equal(a->n_events, b->n_events);
	assert_int_equal(a->types[LOCK_MUTEX].contended, b->types[LOCK_MUTEX].contended);
	assert_int_equal(a->types[LOCK_MUTEX].total_ns, b->types[LOCK_MUTEX].total_ns);
	assert_int_equal(a->damage->unmatched_end, b->damage->unmatched_end);
	assert_int_equal(a->damage->late, b->damage->late);
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->now_ns, b->now_ns);
}

/* Of the code at that place now; "": there is none. */
static const char *code_of(const struct model *m, unsigned place)
{
	const struct ksyms *k = &m->profile->ksyms;
	const struct ksym *s =
		ksyms_get(k, ksyms_frame(k, map_kernel_frame(CODE + place * 0x1000ull + 8)));

	return s ? s->name : "";
}

/* With a reader that has followed the stream from its begin. */
static void compare_names(const struct model *a, const struct model *b)
{
	for (int tid = 2; tid < TASKS + 2; tid++)
		assert_string_equal(comm_of(a, tid), comm_of(b, tid));
	for (uint64_t id = 1000; id < 1030; id++) {
		const char *x = task_cgroup_path(a->tasks, id);
		const char *y = task_cgroup_path(b->tasks, id);

		assert_string_equal(x ? x : "", y ? y : "");
	}
	size_t n = 0;
	for (unsigned place = 0; place < PLACES; place++) {
		assert_string_equal(code_of(a, place), code_of(b, place));
		n += *code_of(a, place) != 0;
	}
	assert_in_range(n, 1, PLACES - 1);
}

/* Names that were reported once, long ago. */
static void check_locks(const struct model *m)
{
	for (unsigned i = 0; i < 8; i++) {
		const struct lockname *n = lockname_get(m->lock_names, 0x1000 + i * 64);
		char text[32];

		snprintf(text, sizeof(text), "pipe %u", i);
		assert_non_null(n);
		assert_string_equal(n->text, text);
	}
}

static struct source *kept(struct synth *s, const struct backlog_options *o)
{
	struct error err = {0};
	struct source *b;

	assert_int_equal(backlog_new(&b, synth_source(s), o, &err), 0);
	return b;
}

/* Takes so many records, or all; nothing of them changes. */
static size_t pass(struct source *b, size_t most)
{
	struct error err = {0};
	struct record r;
	size_t n = 0;

	while (n < most && source_next(b, 0, &r, &err) == 0) {
		source_release(b, &r);
		n++;
	}
	return n;
}

/* The engine reads so many ticks of it. */
static void follow(struct engine *e, struct source *b, unsigned ticks)
{
	struct error err = {0};
	int r = engine_init(e, b, NULL, &err);

	assert_int_equal(r, 0);
	while (ticks && (r = engine_pump(e, 0, &err)) >= 0 && r != ENGINE_END)
		ticks -= r == ENGINE_TICK;
	assert_int_equal(ticks, 0);
}

static void read_rest(struct engine *e)
{
	struct error err = {0};
	int r;

	do {
		r = engine_pump(e, 0, &err);
	} while (r >= 0 && r != ENGINE_END);
	assert_int_equal(r, ENGINE_END);
}

static void check_one(uint32_t seed)
{
	struct synth *s = make_stream(seed, 60, 40);
	const struct backlog_options o = {.span_ns = (5 + seed % 7) * S};
	struct source *b = kept(s, &o), *whole = synth_source(s);
	struct engine live, x, y;
	struct backlog_taken taken;
	struct backlog_stat st;
	struct error err = {0};
	struct record locks;

	follow(&live, b, 30 + seed % 29);
	backlog_stat(b, &st);
	assert_true(st.begin_ns > BEGIN * S);
	assert_true(st.begin_ns <= st.stream_ns - o.span_ns);
	struct cut_part plain = {.from_ns = st.stream_ns - o.span_ns + seed % 3 * MS,
				 .to_ns = st.stream_ns};
	struct cut_part p = plain;
	assert_int_equal(backlog_take(b, p.from_ns, 99 * S, &taken, &err), 0);
	locks = (struct record){
		.kind = RECORD_SNAPSHOT, .data = taken.names, .len = taken.names_len};
	p.more = &locks;
	p.n_more = 1;
	p.known_ns = taken.known_ns;
	assert_int_equal(taken.begin_ns, st.begin_ns);
	assert_true(taken.known_ns <= p.from_ns);
	play(&x, cut_to_fd(taken.source, &p));
	compare_names(x.model, live.model);
	engine_deinit(&x);
	/* The stream continues, and the part that was taken stays the same. */
	read_rest(&live);
	engine_deinit(&live);
	assert_int_equal(source_seek(taken.source, 0, &err), 0);
	play(&x, cut_to_fd(taken.source, &p));
	backlog_taken_deinit(&taken);
	play(&y, cut_to_fd(whole, &plain));
	source_free(whole);
	compare(x.model, y.model);
	check_locks(x.model);
	assert_int_equal(x.model->host->wall_ns, 99 * S);
	assert_true(x.model->n_events > 20);
	engine_deinit(&x);
	engine_deinit(&y);
	synth_free(s);
}

static void test_as_the_whole_stream(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 25; seed++)
		check_one(seed);
}

/* An hour, in which all that there is changes again and again. */
static void test_memory_is_flat(void **state)
{
	struct synth *s = make_stream(5, 3600, 30);
	const struct backlog_options o = {.bytes = 64 << 10, .span_ns = 10 * S};
	struct source *b = kept(s, &o);
	struct backlog_stat early, late;
	size_t quarter = synth_count(s) / 4;

	(void)state;
	pass(b, quarter);
	backlog_stat(b, &early);
	for (int i = 0; i < 64; i++) {
		pass(b, quarter / 21);
		backlog_stat(b, &late);
		assert_true(late.bytes <= o.bytes + (256 << 10) + (64 << 10));
	}
	assert_true(late.known_bytes < early.known_bytes * 2 + (1 << 20));
	assert_true(late.known_bytes < 24 << 20);
	source_free(b);
	synth_free(s);
}

/* Records that are needed later are kept longer than the span, but at most twice the bytes. */
static void test_hold(void **state)
{
	struct synth *s = make_stream(6, 60, 40);
	const struct backlog_options o = {.span_ns = 3 * S};
	const struct backlog_options small = {.bytes = 16 << 10, .span_ns = 3 * S};
	struct source *b = kept(s, &o);
	struct backlog_stat st;

	(void)state;
	pass(b, synth_count(s) / 4);
	backlog_stat(b, &st);
	uint64_t from = st.stream_ns - 2 * S;
	backlog_hold(b, from);
	pass(b, synth_count(s) / 2);
	backlog_stat(b, &st);
	assert_true(st.begin_ns <= from);
	assert_true(st.stream_ns - from > 10 * S);
	backlog_hold(b, 0);
	backlog_stat(b, &st);
	assert_true(st.begin_ns > from);
	source_free(b);
	b = kept(s, &small);
	backlog_hold(b, BEGIN * S);
	pass(b, SIZE_MAX);
	backlog_stat(b, &st);
	assert_true(st.begin_ns > BEGIN * S);
	source_free(b);
	synth_free(s);
}

/* Records before the stream, and symbols. */
static void count_heads(struct source *s, size_t *ret_heads, size_t *ret_symbols)
{
	struct error err = {0};
	struct record r;

	*ret_heads = *ret_symbols = 0;
	while (source_next(s, 0, &r, &err) == 0) {
		*ret_heads +=
			r.kind == RECORD_HOST || r.kind == RECORD_ATTR || r.kind == RECORD_FORMAT;
		*ret_symbols += r.kind == RECORD_KALLSYMS;
		source_release(s, &r);
	}
}

/* Once there is memory again: the copy reports what is missing for good, or has nothing. */
static bool check_copy(struct source *b, size_t heads)
{
	struct backlog_taken taken;
	struct error err = {0};
	size_t n, symbols;
	int r = backlog_take(b, BEGIN * S, S, &taken, &err);

	if (r < 0) {
		assert_int_equal(r, -ENOMEM);
		assert_non_null(strstr(err.text, "no memory to keep the records"));
		return false;
	}
	count_heads(taken.source, &n, &symbols);
	assert_int_equal(n, heads);
	assert_true(symbols == 1 || taken.lacks);
	backlog_taken_deinit(&taken);
	return true;
}

static void test_no_memory(void **state)
{
	struct synth *s = make_stream(3, 20, 20);
	const struct backlog_options o = {.span_ns = 3 * S};
	struct source *all = synth_source(s);
	size_t heads, symbols, copies = 0, refused = 0;

	(void)state;
	count_heads(all, &heads, &symbols);
	source_free(all);
	assert_true(heads > 1 && symbols == 1);
	for (long n = 0; n < 400; n += 1 + n / 32) {
		struct error err = {0};
		struct backlog_taken taken;
		struct source *source = synth_source(s), *b;
		long live = mem_live();

		mem_fail_after(n);
		int r = backlog_new(&b, source, &o, &err);
		if (r == 0) {
			pass(b, SIZE_MAX);
			if (backlog_take(b, BEGIN * S, S, &taken, &err) == 0)
				backlog_taken_deinit(&taken);
			mem_fail_after(-1);
			*(check_copy(b, heads) ? &copies : &refused) += 1;
			source_free(b);
			assert_true(mem_live() <= live);
			continue;
		}
		mem_fail_after(-1);
		assert_int_equal(r, -ENOMEM);
		assert_true(err.text[0]);
		assert_int_equal(mem_live(), live);
		source_free(source);
	}
	assert_true(copies > 5 && refused > 0);
	synth_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_the_whole_stream),
		cmocka_unit_test(test_memory_is_flat),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
