// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attributes of events. All share clock, ids and the layout of trailers, so one ring for each
 * CPU can have their records and one rule decodes their trailers. Call chains cost most, and those
 * at the end of a wait are of no interest: only the begin has one, without the part in user space,
 * unless the recording is for perf, which identifies a wait by the call chain at its end. The dummy
 * counts nothing; comm, task and cgroup make the kernel write the records that name tasks. The
 * collector is woken when a quarter of the ring is full, which leaves three quarters until it runs;
 * with few_wakeups it is woken less often.
 *
 * Also parses --call-graph, with the words of perf.
 */
#include "kontend/perf-attr.h"
#include "kontend/number.h"
#include <errno.h>
#include <string.h>
#include <time.h>

const char *const perf_event_names[PERF_EVENTS] = {
	[PERF_BEGIN] = "lock:contention_begin",
	[PERF_END] = "lock:contention_end",
	[PERF_DUMMY] = "the software event dummy",
	[PERF_TIMER_ENTRY] = "timer:hrtimer_expire_entry",
	[PERF_TIMER_EXIT] = "timer:hrtimer_expire_exit",
	[PERF_SWITCH] = "the software event dummy",
	[PERF_PROFILE] = "the event of the profile",
	[PERF_OUTPUT] = "the software event bpf-output",
	[PERF_RELEASE] = "lock:contended_release",
	[PERF_MM_START] = "mmap_lock:mmap_lock_start_locking",
	[PERF_MM_ACQUIRED] = "mmap_lock:mmap_lock_acquire_returned",
	[PERF_MM_RELEASED] = "mmap_lock:mmap_lock_released",
};

/* The size that the decoder knows; newer headers have longer structs with nothing for us. */
enum { ATTR_SIZE = 128 };

_Static_assert(ATTR_SIZE <= sizeof(struct perf_event_attr), "headers older than Linux 5.13");

static void init_chain(struct perf_event_attr *attr, const struct perf_attr_options *o)
{
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = 1;
	attr->sample_max_stack = (uint16_t)o->how.max_stack;
}

static void init_tracepoint(struct perf_event_attr *attr, enum perf_event_index which,
			    const struct perf_attr_options *o)
{
	const uint32_t ids[PERF_EVENTS] = {
		[PERF_BEGIN] = o->wanted.begin_id,
		[PERF_END] = o->wanted.end_id,
		[PERF_RELEASE] = o->wanted.release_id,
		[PERF_TIMER_ENTRY] = o->wanted.timer_entry_id,
		[PERF_TIMER_EXIT] = o->wanted.timer_exit_id,
		[PERF_MM_START] = o->wanted.mm_ids[0],
		[PERF_MM_ACQUIRED] = o->wanted.mm_ids[1],
		[PERF_MM_RELEASED] = o->wanted.mm_ids[2],
	};

	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = ids[which];
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_RAW;
	if (which >= PERF_MM_START) {
		/* There are many of them: each byte, and each lookup of the cgroup, counts. */
		attr->enable_on_exec = attr->enable_on_exec && !o->wanted.mm_in_bursts;
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
		if (which == PERF_MM_ACQUIRED && o->wanted.mm_paths && o->how.max_stack)
			init_chain(attr, o);
		return;
	}
	if (which == PERF_RELEASE)
		return;
	if (which > PERF_END) {
		/*
		 * It is enabled after it has its filter. Records that are written after the time of
		 * an entry are part of the measured time, so they are short: the raw data have the
		 * task.
		 */
		attr->enable_on_exec = 0;
		attr->sample_type &=
			~(uint64_t)(PERF_SAMPLE_TID | PERF_SAMPLE_CGROUP | PERF_SAMPLE_IP);
		return;
	}
	if (o->how.max_stack && (which == PERF_BEGIN || o->how.for_perf))
		init_chain(attr, o);
	if (which == PERF_BEGIN && o->how.max_stack)
		attr->exclude_callchain_user = !o->wanted.user_chain;
}

static void init_switch(struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->context_switch = 1;
	attr->enable_on_exec = 0;
}

/*
 * The data from which user chains are made, instead of the kernel's unwinding by frame pointers:
 * with the fields of perf record, so that its readers accept it.
 */
static void init_user_chain(struct perf_event_attr *attr, const struct callgraph *c)
{
	if (c->mode == CALLGRAPH_DWARF) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = callgraph_registers();
		attr->sample_stack_user = c->dump_bytes;
		attr->exclude_callchain_user = 1;
	} else if (c->mode == CALLGRAPH_LBR) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS;
	}
}

/* Chains as deep as the kernel records them, with the part in user space. */
static void init_profile(struct perf_event_attr *attr, const struct perf_attr_options *o)
{
	attr->type = o->how.profile_clock ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE;
	attr->config = o->how.profile_clock ? (uint64_t)PERF_COUNT_SW_CPU_CLOCK
					    : (uint64_t)PERF_COUNT_HW_CPU_CYCLES;
	attr->freq = 1;
	attr->sample_freq = o->how.profile_hz;
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD;
	if (!o->how.max_stack)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	init_user_chain(attr, &o->how.callgraph);
}

/* An empty event in place of one that the feed reports: even disabled ones cost at each wait. */
static void init_place(struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->enable_on_exec = 0;
}

static void init_output(struct perf_event_attr *attr, const struct perf_attr_options *o)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_BPF_OUTPUT;
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_RAW;
	attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	attr->enable_on_exec = attr->inherit = 0;
	/*
	 * The kernel writes a record of it when there is much data in a ring that has no other
	 * reader.
	 */
	if (o->fed && !o->much) {
		attr->watermark = 0;
		attr->wakeup_events = 1;
	}
}

static void init_dummy(struct perf_event_attr *attr, const struct perf_attr_options *o)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->cgroup = o->cgroup;
	/* Records mappings of code. */
	attr->mmap = attr->mmap2 = o->how.profile_hz != 0 || o->how.user_frames || o->how.maps;
	attr->mmap_data = o->wanted.data_maps;
}

void perf_attr_init(struct perf_event_attr *attr, enum perf_event_index which,
		    const struct perf_attr_options *o)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = ATTR_SIZE;
	attr->disabled = 1;
	attr->sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	if (o->cgroup)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	/* perf shows no samples by function of a file where the first event has none. */
	if (o->how.for_perf)
		attr->sample_type |= PERF_SAMPLE_IP;
	attr->read_format = PERF_FORMAT_ID | (o->lost ? PERF_FORMAT_LOST : 0);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark =
		o->wanted.few_wakeups ? o->ring_bytes / 16 * 11 : o->ring_bytes / 4;
	/* A thread is measured alone; a process or command with all tasks that it starts. */
	attr->inherit = o->kind == TARGET_PIDS || o->kind == TARGET_COMMAND;
	attr->enable_on_exec = o->kind == TARGET_COMMAND;
	if (which <= PERF_END && o->fed)
		init_place(attr);
	else if (which == PERF_DUMMY)
		init_dummy(attr, o);
	else if (which == PERF_SWITCH)
		init_switch(attr);
	else if (which == PERF_PROFILE)
		init_profile(attr, o);
	else if (which == PERF_OUTPUT)
		init_output(attr, o);
	else
		init_tracepoint(attr, which, o);
}

static int bad_size(const char *text, struct error *err)
{
	return error_set(err, -EINVAL,
			 "--call-graph '%s': give the bytes of a stack dump as a multiple of 8, "
			 "from 8 to %d, as in dwarf,%d",
			 text, CALLGRAPH_DUMP_MOST, CALLGRAPH_DUMP);
}

static int parse_dump_size(const char *text, const char *size, struct callgraph *ret,
			   struct error *err)
{
	uint64_t n;

	if (number_take_any(&size, &n) < 0 || *size || !n || n % 8 || n > CALLGRAPH_DUMP_MOST)
		return bad_size(text, err);
	*ret = (struct callgraph){CALLGRAPH_DWARF, (uint32_t)n};
	return 0;
}

int callgraph_parse(const char *text, struct callgraph *ret, struct error *err)
{
	if (!strncmp(text, "dwarf,", 6))
		return parse_dump_size(text, text + 6, ret, err);
	if (!strcmp(text, "fp"))
		*ret = (struct callgraph){CALLGRAPH_FP, 0};
	else if (!strcmp(text, "dwarf"))
		*ret = (struct callgraph){CALLGRAPH_DWARF, CALLGRAPH_DUMP};
	else if (!strcmp(text, "lbr"))
		*ret = (struct callgraph){CALLGRAPH_LBR, 0};
	else
		return error_set(err, -EINVAL,
				 "--call-graph '%s': give fp, dwarf, dwarf,SIZE or lbr", text);
	return 0;
}

uint64_t callgraph_registers(void)
{
#if defined(__x86_64__)
	return 0xff0fff; /* without DS, ES, FS, GS, which the kernel does not give */
#elif defined(__aarch64__)
	return 0x1ffffffff;
#else
	return 0;
#endif
}
