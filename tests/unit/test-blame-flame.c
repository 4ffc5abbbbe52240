// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flame graphs of blame: the order of boxes, that their sum is all waiting, and the sums of its
 * parts; as a tree, folded and as SVG.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "asked.h"
#include "canned.h"
#include "kontend/flamegraph.h"
#include "kontend/folded.h"
#include "kontend/holdrec.h"
#include "kontend/query-blame.h"
#include "kontend/query-flame.h"
#include "kontend/query-tree.h"
#include "kontend/wait-filter.h"
#include "xml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS CANNED_MS
#define LOCK(i) (0xffff888033333300ull + (uint64_t)(i)*0x100)

static void begin(struct asked *w, uint64_t t, int tid, int lock, enum synth_address caller)
{
	const uint64_t frames[] = {synth_addr(SYNTH_RWSEM_DOWN_WRITE_SLOWPATH), synth_addr(caller),
				   synth_addr(SYNTH_DO_SYSCALL_64)};

	synth_begin(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, LOCK(lock), LCB_F_WRITE,
		    frames, 3);
}

static void end(struct asked *w, uint64_t t, int tid, int lock)
{
	synth_end(w->rig.synth, 0, CANNED_START + t * MS, 700, tid, LOCK(lock), 0);
}

static void holder(struct asked *w, uint64_t t, int tid, enum holdrec_what what,
		   enum holdrec_state state)
{
	struct holdrec r = {.magic = HOLDREC_MAGIC,
			    .lock = LOCK(0),
			    .pid = tid ? 700 : 0,
			    .tid = tid,
			    .what = what,
			    .state = state,
			    .comm = "mysqld"};
	size_t skip = offsetof(struct holdrec, magic), len = offsetof(struct holdrec, frames);

	if (state == HOLDREC_RUNNABLE) {
		r.other_pid = r.other_tid = 99;
		memcpy(r.other_comm, "stress", 7);
	}
	if (state == HOLDREC_ASLEEP) {
		/* Other tools trace as well. */
		r.frames[r.n_frames++] = synth_addr(SYNTH_TRACEITER_BEGIN);
		r.frames[r.n_frames++] = synth_addr(SYNTH_PIPE_WRITE);
		r.frames[r.n_frames++] = synth_addr(SYNTH_KSYS_WRITE);
		r.frames[r.n_frames++] = synth_addr(SYNTH_DO_SYSCALL_64);
	}
	synth_output(w->rig.synth, 0, CANNED_START + t * MS, 0, 0, &r.magic,
		     len - skip + r.n_frames * sizeof(r.frames[0]));
}

/*
 * 701 gets lock 0, for which 702 waits on: it runs 10 ms, is kept off 20 ms, sleeps 30 ms, and
 * waits 40 ms for lock 1, which 703 has. The owners before are unknown.
 */
static void state_stream(struct asked *w)
{
	rig_init(&w->rig, 1);
	synth_outputs(w->rig.synth);
	synth_round(w->rig.synth, CANNED_START);
	holder(w, 0, 0, HOLDREC_BEGUN, 0);
	synth_comm(w->rig.synth, 0, CANNED_START, 700, 701, "mysqld");
	synth_comm(w->rig.synth, 0, CANNED_START, 700, 703, "dd");
	begin(w, 10, 701, 0, SYNTH_VM_MUNMAP);
	begin(w, 20, 702, 0, SYNTH_VM_MMAP_PGOFF);
	end(w, 50, 701, 0);
	holder(w, 60, 701, HOLDREC_OFF, HOLDREC_RUNNABLE);
	holder(w, 80, 701, HOLDREC_OFF, HOLDREC_ASLEEP);
	holder(w, 110, 701, HOLDREC_ON, HOLDREC_RUNNING);
	begin(w, 110, 701, 1, SYNTH_VM_MMAP_PGOFF);
	const struct ownerrec o = {
		.magic = OWNERREC_MAGIC, .lock = LOCK(1), .pid = 700, .tid = 703};
	synth_owner(w->rig.synth, 0, CANNED_START + 110 * MS + 1, 701, &o);
	end(w, 150, 701, 1);
	end(w, 150, 702, 0);
	synth_tick(w->rig.synth, CANNED_START + 1000 * MS);
}

static struct query_tree flame(struct asked *w, const struct query_zoom *zoom)
{
	const struct query_flame_spec spec = {.by_wait = true, .blame = true, .zoom = zoom};
	struct query_tree t;

	query_begin(&w->q);
	assert_int_equal(query_flame(&w->q, &spec, &t), 0);
	return t;
}

static uint64_t ns_of(const struct query_tree *t, const char *name)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < t->n; i++)
		ns += strcmp(t->nodes[i].name, name) ? 0 : t->nodes[i].total_ns;
	return ns;
}

/* "mysqld/__vm_munmap/[running]/...": what the path has that ends there. */
static uint64_t path_ns(const struct query_tree *t, const char *path)
{
	char at[QUERY_FLAME_LEVELS * 64];
	size_t len[QUERY_FLAME_LEVELS + 1] = {0};

	for (size_t i = 0; i < t->n; i++) {
		const struct query_node *n = &t->nodes[i];
		size_t from = len[n->depth];
		len[n->depth + 1] = from + (size_t)snprintf(at + from, sizeof(at) - from, "%s%s",
							    n->depth ? "/" : "", n->name);
		if (strcmp(at, path) == 0)
			return n->total_ns;
	}
	return 0;
}

#define GOT "mysqld/do_syscall_64/__vm_munmap/rwsem_down_write_slowpath/"

static void who_waits_stands_above_the_blocker(void **state)
{
	struct asked *w = *state;
	struct wait_filter_sum sum;

	state_stream(w);
	asked_play(w, NULL);
	struct query_tree t = flame(w, NULL);
	sum = wait_filter_sum(&w->q);
	assert_int_equal(sum.waits, 3);
	assert_int_equal(t.total_ns, (40 + 130 + 40) * MS);
	assert_int_equal(t.n_waits, 0);
	assert_int_equal(path_ns(&t, GOT "[running]"), 10 * MS);
	assert_int_equal(path_ns(&t, GOT "[runnable: stress/99]"), 20 * MS);
	/* Functions that it had called before it got the lock are not repeated. */
	assert_int_equal(path_ns(&t, GOT "[asleep]/ksys_write/pipe_write"), 30 * MS);
	assert_int_equal(ns_of(&t, "dd"), 80 * MS);
	assert_int_equal(ns_of(&t, "(holder not known)"), 70 * MS);
	const char *const up[] = {"/", "/do_syscall_64/vm_mmap_pgoff/rwsem_down_write_slowpath",
				  "/[rwsem:W]"};
	struct query_tree again = flame(w, NULL);
	char path[512];
	const char *lock = NULL;
	for (size_t i = 0; i + 1 < again.n; i++)
		if (strcmp(again.nodes[i].name, "[running]") == 0)
			lock = again.nodes[i + 1].name;
	assert_non_null(lock);
	snprintf(path, sizeof(path), GOT "[running]%s%s%s%s", up[0], lock, up[1], up[2]);
	assert_int_equal(path_ns(&again, path), 10 * MS);
}

/* A task waits for one lock because of another: that one is below. */
static void a_chain_of_locks_has_both(void **state)
{
	struct asked *w = *state;
	const struct query_node *above[QUERY_FLAME_LEVELS + 1] = {NULL};
	size_t two = 0;

	state_stream(w);
	asked_play(w, NULL);
	struct query_tree t = flame(w, NULL);
	for (size_t i = 0; i < t.n; i++) {
		const struct query_node *n = above[t.nodes[i].depth + 1] = &t.nodes[i];
		if (n->group != PATH_LOCK || *n->name == '[' || above[n->depth]->group != PATH_LOCK)
			continue;
		two++;
		assert_int_equal(n->total_ns, 40 * MS);
		assert_int_equal(query_flame_frame(n), FRAME_LOCK);
		assert_string_not_equal(n->name, above[n->depth]->name);
	}
	assert_int_equal(two, 1);
}

static void zoom_and_filters_hold(void **state)
{
	struct query_zoom zoom = {0};
	struct asked *w = *state;
	struct error err = {0};

	state_stream(w);
	asked_play(w, NULL);
	assert_int_equal(query_zoom_parse("comm=dd", NULL, &zoom, &err), 0);
	struct query_tree t = flame(w, &zoom);
	assert_int_equal(t.total_ns, 80 * MS);
	assert_int_equal(ns_of(&t, "mysqld"), 0);
	zoom.n = 0;
	assert_int_equal(query_zoom_parse("tid=701", NULL, &zoom, &err), 0);
	assert_int_equal(flame(w, &zoom).total_ns, 60 * MS);
	zoom.n = 0;
	assert_int_equal(query_zoom_parse("object=[kernel]", NULL, &zoom, &err), 0);
	assert_int_equal(flame(w, &zoom).total_ns, 210 * MS);
	zoom.n = 0;
	assert_int_equal(query_zoom_parse("cpu=0", NULL, &zoom, &err), 0);
	const struct query_flame_spec cpu = {.by_wait = true, .blame = true, .zoom = &zoom};
	assert_non_null(query_flame_no_blame(&w->q, &cpu));
	assert_int_equal(flame(w, &zoom).total_ns, 0);
	const struct query_flame_spec task = {
		.by_wait = true, .blame = true, .scope = {.mask = 1 << BY_TASK}};
	assert_non_null(query_flame_no_blame(&w->q, &task));
	query_begin(&w->q);
	assert_int_equal(wait_filter_set(&w->q, "caller:munmap", &err), 0);
	const struct query_flame_spec all = {.by_wait = true, .blame = true};
	assert_int_equal(query_flame(&w->q, &all, &t), 0);
	assert_int_equal(t.total_ns, 40 * MS);
	wait_filter_end(&w->q);
}

static void what_traces_it_is_no_sleep(void **state)
{
	struct asked *w = *state;
	struct table t;
	struct error err = {0};

	state_stream(w);
	asked_play(w, NULL);
	query_begin(&w->q);
	const struct query_spec spec = {.filter = "comm=mysqld"};
	assert_int_equal(query_blame(&w->q, &(struct query_blame_spec){.by = BLAME_BY_TASK}, &spec,
				     &t, &err),
			 0);
	assert_int_equal(t.n_rows, 1);
	assert_string_equal(cell_s(&t, 0, "mostly_in"), "pipe_write");
}

static char *folded(struct asked *w, int want, struct error *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	query_begin(&w->q);
	assert_int_equal(folded_write(&w->q, &(struct folded_spec){.blame = true}, f, err), want);
	fclose(f);
	return text;
}

static void folded_lines_add_up(void **state)
{
	struct asked *w = *state;
	struct error err = {0};
	uint64_t sum = 0;
	size_t asleep = 0;

	state_stream(w);
	asked_play(w, NULL);
	char *text = folded(w, 0, &err);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		const char *blank = strrchr(line, ' ');
		assert_non_null(blank);
		sum += strtoull(blank, NULL, 10);
		assert_non_null(strstr(line, ";[rwsem:W] "));
		asleep += strstr(line, "mysqld;do_syscall_64;__vm_munmap;rwsem_down_write_slowpath;"
				       "[asleep];ksys_write;pipe_write;") == line;
	}
	assert_int_equal(sum, 210 * MS);
	assert_int_equal(asleep, 1);
	free(text);
}

static void the_picture_is_well_formed(void **state)
{
	struct asked *w = *state;
	char *text = NULL;
	size_t len = 0;
	struct error err = {0};
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	state_stream(w);
	asked_play(w, NULL);
	query_begin(&w->q);
	const struct flamegraph_spec s = {.by_wait = true, .blame = true};
	assert_int_equal(flamegraph_write(&w->q, &s, f, &err), 0);
	fclose(f);
	assert_int_equal(xml_check(text, &len), 0);
	assert_non_null(strstr(text, "Time waited for locks, above who held them: 210ms"));
	assert_non_null(strstr(text, "[runnable: stress/99]"));
	free(text);
}

static void where_nobody_is_blamed_that_is_said(void **state)
{
	struct asked *w = *state;
	struct error err = {0};

	state_stream(w);
	rig_play(&w->rig, NULL);
	assert_int_equal(query_init(&w->q, &w->rig.engine), 0);
	free(folded(w, -ENODATA, &err));
	assert_non_null(strstr(err.text, "Cannot show blame: "));
	assert_int_equal(flame(w, NULL).n, 0);
	const struct report_spec s = {
		.format = REPORT_TEXT, .views = REPORT_FLAME, .weight = REPORT_WEIGHT_BLAME};
	char *text = asked_report(&w->q, &s);
	assert_non_null(strstr(text, "# flame graph by blame: not known: "));
	free(text);
}

int main(void)
{
#define ON_STREAM(TEST) cmocka_unit_test_setup_teardown(TEST, asked_setup_empty, asked_teardown)
	const struct CMUnitTest tests[] = {
		ON_STREAM(who_waits_stands_above_the_blocker),
		ON_STREAM(a_chain_of_locks_has_both),
		ON_STREAM(zoom_and_filters_hold),
		ON_STREAM(what_traces_it_is_no_sleep),
		ON_STREAM(folded_lines_add_up),
		ON_STREAM(the_picture_is_well_formed),
		ON_STREAM(where_nobody_is_blamed_that_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
