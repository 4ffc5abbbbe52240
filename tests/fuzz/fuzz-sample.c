// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as perf records of one event, whose attr comes from the first bytes: sample_type (8),
 * read_format (1), sample_id_all (1), and whether BPF programs write it, or it is of an mmap_lock
 * (1). Whatever size a record gives, the pointers of an event lead into the record, and the
 * walk ends.
 */
#include "fuzz.h"
#include "kontend/decode.h"
#include "kontend/mem.h"
#include "kontend/runrec.h"
#include "kontend/userlock.h"
#include "kontend/waitrec.h"
#include <linux/perf_event.h>
#include <string.h>

static const char begin_format[] =
	"lock\0name: contention_begin\nID: 401\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n\nprint fmt: \"\"\n";

static const char mm_format[] =
	"mmap_lock\0name: mmap_lock_acquire_returned\nID: 402\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:struct mm_struct * mm;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 memcg_id;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:bool write;\toffset:24;\tsize:1;\tsigned:0;\n"
	"\tfield:bool success;\toffset:25;\tsize:1;\tsigned:0;\n\nprint fmt: \"\"\n";

static void set_up(struct decode *d, const uint8_t *data)
{
	struct {
		struct perf_event_attr attr;
		uint64_t id;
	} a = {.attr = {.type = PERF_TYPE_TRACEPOINT, .size = sizeof(a.attr), .config = 401},
	       .id = 7};
	struct error err = {0};

	memcpy(&a.attr.sample_type, data, sizeof(a.attr.sample_type));
	a.attr.sample_type |= PERF_SAMPLE_RAW;
	a.attr.sample_period = 1; /* waits that are only counted are refused */
	a.attr.read_format = data[8] & 31;
	a.attr.sample_id_all = data[9] & 1;
	if (data[10] & 1) {
		a.attr.type = PERF_TYPE_SOFTWARE;
		a.attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	}
	if (!(data[10] & 1) && data[10] & 2)
		a.attr.config = 402;
	fuzz_require(!decode_init(d, &err));
	fuzz_require(!decode_add_format(d, begin_format, sizeof(begin_format) - 1, &err));
	fuzz_require(!decode_add_format(d, mm_format, sizeof(mm_format) - 1, &err));
	fuzz_require(!decode_add_attr(d, &a, sizeof(a), &err));
}

static void check_text(const char *text, const uint8_t *rec, size_t size)
{
	const uint8_t *from = (const uint8_t *)text;

	fuzz_require(from >= rec && from + strlen(text) + 1 <= rec + size);
}

static void check_inside(const struct event *ev, const uint8_t *rec, size_t size)
{
	const uint8_t *from = NULL, *to = NULL;

	if (ev->kind == EVENT_CONTENTION_BEGIN && ev->begin.n_frames) {
		from = (const uint8_t *)ev->begin.frames;
		to = (const uint8_t *)(ev->begin.frames + ev->begin.n_frames);
	} else if (ev->kind == EVENT_MM_ACQUIRED && ev->mm.n_frames) {
		from = (const uint8_t *)ev->mm.frames;
		to = (const uint8_t *)(ev->mm.frames + ev->mm.n_frames);
	} else if (ev->kind == EVENT_HOLDER) {
		check_text(ev->holder.comm, rec, size);
		check_text(ev->holder.other_comm, rec, size);
		from = (const uint8_t *)ev->holder.frames;
		to = (const uint8_t *)(ev->holder.frames + ev->holder.n_frames);
	} else if (ev->kind == EVENT_SLEEP) {
		fuzz_require(ev->sleep.begin_ns + ev->sleep.length_ns <= ev->time);
		check_text(ev->sleep.comm, rec, size);
		check_text(ev->sleep.waker_comm, rec, size);
		from = (const uint8_t *)ev->sleep.frames;
		to = (const uint8_t *)(ev->sleep.frames + ev->sleep.n_frames);
	} else if (ev->kind == EVENT_RUN) {
		fuzz_require(ev->run->state < RUNREC_STATES && ev->run->flags < RUNREC_FLAGS);
		fuzz_require(ev->run->off_ns <= ev->time && ev->run->in_ns <= ev->time);
		check_text(ev->run->comm, rec, size);
		check_text(ev->run->waker_comm, rec, size);
		for (size_t i = 0; i < RUNREC_BYS; i++)
			check_text(ev->run->by[i].comm, rec, size);
		from = (const uint8_t *)ev->run->frames;
		to = from + (ev->run->n_frames + ev->run->n_user + ev->run->n_waker_frames) *
				    sizeof(uint64_t);
		check_text(ev->run->on.name, rec, size);
		fuzz_require(ev->run->user < WAITREC_USERS);
	} else if (ev->kind == EVENT_USER) {
		fuzz_require(ev->user.begin_ns + ev->user.length_ns <= ev->time);
		fuzz_require(ev->user.woken_ns >= ev->user.begin_ns &&
			     ev->user.woken_ns <= ev->time);
		fuzz_require(userlock_is(ev->user.lock) && ev->user.kind < USERLOCK_KINDS);
		check_text(ev->user.comm, rec, size);
		from = (const uint8_t *)ev->user.frames;
		to = (const uint8_t *)(ev->user.frames + ev->user.n_frames);
	} else if (ev->kind == EVENT_DEFERRED) {
		from = (const uint8_t *)ev->deferred.frames;
		to = (const uint8_t *)(ev->deferred.frames + ev->deferred.n_frames);
	} else if (ev->kind == EVENT_INODE) {
		check_text(ev->inode.fs, rec, size);
		from = (const uint8_t *)ev->inode.names;
		to = from + ev->inode.n_bytes;
	} else if (ev->kind == EVENT_COMM) {
		from = (const uint8_t *)ev->comm.name;
		to = from + strlen(ev->comm.name) + 1;
	} else if (ev->kind == EVENT_CGROUP) {
		from = (const uint8_t *)ev->cg.path;
		to = from + strlen(ev->cg.path) + 1;
	} else if (ev->kind == EVENT_KSYMBOL) {
		from = (const uint8_t *)ev->ksym.name;
		to = from + strlen(ev->ksym.name) + 1;
		fuzz_require(ev->ksym.is_gone || ev->ksym.start + ev->ksym.len > ev->ksym.start);
		fuzz_require(ev->time <= INT64_MAX);
	}
	fuzz_require(!from || (from >= rec && to <= rec + size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decode d;
	size_t left = size < 16 ? 0 : size - 16, got;

	if (!left)
		return 0;
	set_up(&d, data);
	/* Records are 8-byte aligned, and the block ends where they do. */
	uint8_t *buf = mem_resize(NULL, left, 1), *p = buf;
	fuzz_require(buf);
	memcpy(buf, data + 16, left);
	for (; left; p += got, left -= got) {
		struct event ev = {0};
		int r = decode_event(&d, p, left, 3, &ev, &got);
		fuzz_require(got <= left);
		if (!r)
			check_inside(&ev, p, got);
		if (!got)
			break;
	}
	mem_free(buf);
	decode_deinit(&d);
	return 0;
}
