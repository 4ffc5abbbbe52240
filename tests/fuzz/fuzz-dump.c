// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as samples of a profile with registers, stack dumps and branches: sample_type (8),
 * sample_regs_user (8) and branch_sample_type (8) come first, then records. The pointers of an
 * event lead into its record, and the model makes a chain of it, with frames of a process that has
 * a mapping at 4 MiB.
 */
#include "fuzz.h"
#include "kontend/clock.h"
#include "kontend/engine.h"
#include "kontend/mem.h"
#include "kontend/profile.h"
#include <linux/perf_event.h>
#include <string.h>
#include <sys/utsname.h>

enum { HEAD = 24, BASE = 4 << 20, WORDS = 3 };

/* Recorded here, so that files are read. */
static void put_host(struct engine *e)
{
	struct record_host h = {.clock_ns = clock_ns(CLOCK_MONOTONIC),
				.wall_ns = clock_ns(CLOCK_REALTIME)};
	struct utsname u;

	uname(&u);
	snprintf(h.release, sizeof(h.release), "%s", u.release);
	model_host(e->model, &h);
}

static void set_up(struct engine *e, const uint8_t *data)
{
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} a = {.attr = {.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.size = sizeof(a.attr),
			.sample_period = 1},
	       .id = 7};
	uint64_t words[HEAD / 8];
	struct error err = {0};

	memcpy(words, data, sizeof(words));
	a.attr.sample_type = words[0] | PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER;
	a.attr.sample_regs_user = words[1];
	a.attr.branch_sample_type = words[2];
	fuzz_require(!engine_init(e, NULL, NULL, &err));
	put_host(e);
	fuzz_require(!decode_add_attr(&e->decode, &a, sizeof(a), &err));
}

static void check_piece(const void *from, size_t len, const uint8_t *rec, size_t size)
{
	const uint8_t *p = from;

	fuzz_require(!len || (p >= rec && len <= size && p - rec <= (ptrdiff_t)(size - len)));
}

static void check(const struct event *ev, const uint8_t *rec, size_t size)
{
	check_piece(ev->sample.frames, ev->sample.n_frames * sizeof(uint64_t), rec, size);
	check_piece(ev->sample.branches, ev->sample.n_branches * WORDS * sizeof(uint64_t), rec,
		    size);
	if (!ev->sample.regs)
		return;
	check_piece(ev->sample.regs,
		    (size_t)__builtin_popcountll(ev->sample.regs_mask) * sizeof(uint64_t), rec,
		    size);
	check_piece(ev->sample.stack, ev->sample.stack_len, rec, size);
}

/* Of whichever process it is: this program is where it thinks it is. */
static void apply(struct engine *e, struct event *ev)
{
	struct event map = {.kind = EVENT_MMAP, .pid = ev->pid, .tid = ev->pid};

	map.mmap.start = BASE;
	map.mmap.len = BASE;
	map.mmap.path = "/proc/self/exe";
	fuzz_require(model_apply(e->model, &map) == 0);
	fuzz_require(model_apply(e->model, ev) == 0);
	fuzz_require(e->model->profile->samples > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t left = size < HEAD ? 0 : size - HEAD, got;
	struct engine e;

	if (!left)
		return 0;
	set_up(&e, data);
	/* Records are 8-byte aligned, and the block ends where they do. */
	uint8_t *buf = mem_resize(NULL, left, 1), *p = buf;
	fuzz_require(buf);
	memcpy(buf, data + HEAD, left);
	for (; left; p += got, left -= got) {
		struct event ev = {0};
		int r = decode_event(&e.decode, p, left, 3, &ev, &got);
		fuzz_require(got <= left);
		if (!r && ev.kind == EVENT_SAMPLE) {
			check(&ev, p, got);
			apply(&e, &ev);
		}
		if (!got)
			break;
	}
	mem_free(buf);
	engine_deinit(&e);
	return 0;
}
