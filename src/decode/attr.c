// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a perf_event_attr to field offsets of its samples. The kernel fixes the order of the fields
 * (perf_event_open(2), PERF_RECORD_SAMPLE). Fields before READ have fixed sizes, so they are loads
 * at constant offsets; later ones are walked. The sample_id trailer of other records is laid out
 * from its end.
 */
#include "kontend/decode.h"
#include "kontend/eventlist.h"
#include "kontend/mem.h"
#include "kontend/snapshot.h"
#include <errno.h>
#include <string.h>

/* Fields that may be between RAW and CGROUP; with any of them, CGROUP is not read. */
#define BEFORE_CGROUP                                                                              \
	(PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |               \
	 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |                     \
	 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_WEIGHT_STRUCT)

int decode_init(struct decode *d, struct error *err)
{
	*d = (struct decode){.identifier = true};
	return trace_new(&d->trace, err);
}

void decode_deinit(struct decode *d)
{
	trace_free(d->trace);
	map64_deinit(&d->ids);
	eventlist_deinit(&d->list);
	mem_free(d->formats);
	mem_free(d->attrs);
	*d = (struct decode){0};
}

static void place(uint16_t *ret, uint16_t *off, uint64_t have, uint64_t want)
{
	if (!(have & want))
		return;
	if (ret)
		*ret = *off;
	*off = (uint16_t)(*off + 8);
}

static void lay_out_sample(struct decode_attr *a)
{
	uint16_t off = sizeof(struct perf_event_header);
	uint64_t st = a->sample_type;

	place(&a->off_id, &off, st, PERF_SAMPLE_IDENTIFIER);
	place(&a->off_ip, &off, st, PERF_SAMPLE_IP);
	place(&a->off_tid, &off, st, PERF_SAMPLE_TID);
	place(&a->off_time, &off, st, PERF_SAMPLE_TIME);
	place(NULL, &off, st, PERF_SAMPLE_ADDR);
	place(a->off_id ? NULL : &a->off_id, &off, st, PERF_SAMPLE_ID);
	place(NULL, &off, st, PERF_SAMPLE_STREAM_ID);
	place(&a->off_cpu, &off, st, PERF_SAMPLE_CPU);
	place(&a->off_period, &off, st, PERF_SAMPLE_PERIOD);
	a->off_tail = off;
	a->has_cgroup = (st & PERF_SAMPLE_CGROUP) && !(st & BEFORE_CGROUP);
}

static void lay_out_trailer(struct decode_attr *a)
{
	uint16_t back = 0;
	uint64_t st = a->sample_type;

	if (st & PERF_SAMPLE_IDENTIFIER)
		back += 8;
	if (st & PERF_SAMPLE_CPU)
		a->trail_cpu = back += 8;
	if (st & PERF_SAMPLE_STREAM_ID)
		back += 8;
	if (st & PERF_SAMPLE_ID)
		back += 8;
	if (st & PERF_SAMPLE_TIME)
		a->trail_time = back += 8;
	if (st & PERF_SAMPLE_TID)
		a->trail_tid = back += 8;
	a->trail_size = back;
}

static void note_plain(struct decode_attr *a)
{
	const uint64_t need =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	const struct trace_field *lock = &a->tp.lock, *arg = &a->tp.arg;
	unsigned lock_end = lock->offset + 8u, arg_end = arg->offset + 4u;
	bool is_release = a->tp.kind == EVENT_RELEASE;

	a->raw_least = (uint16_t)(lock_end > arg_end ? lock_end : arg_end);
	a->chain_head = a->sample_type & PERF_SAMPLE_CALLCHAIN ? 8 : 0;
	a->is_plain = (a->tp.kind == EVENT_CONTENTION_END || is_release ||
		       (a->tp.kind == EVENT_CONTENTION_BEGIN && a->chain_head)) &&
		      lock->size == 8 && (arg->size == 4 || is_release) &&
		      (a->sample_type & (need | PERF_SAMPLE_READ)) == need;
}

/* Output of BPF programs; a magic number distinguishes kontend's from others'. */
static bool is_output(const struct decode_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT &&
	       a->sample_type & PERF_SAMPLE_RAW;
}

static bool has_format(const struct decode_attr *a, const struct trace_event *format)
{
	return a->type == PERF_TYPE_TRACEPOINT && a->sample_type & PERF_SAMPLE_RAW &&
	       a->config == format->id;
}

static void bind_format(const struct decode *d, struct decode_attr *a)
{
	if (is_output(a))
		a->tp.kind = EVENT_OWNER;
	if (a->type != PERF_TYPE_TRACEPOINT || !(a->sample_type & PERF_SAMPLE_RAW))
		return;
	for (size_t i = 0; i < d->n_formats; i++)
		if (has_format(a, &d->formats[i]))
			a->tp = d->formats[i];
	note_plain(a);
}

/* Without the ends of waits, or with only the ends, no result would be correct. */
static int check_sampled(const struct decode_attr *a, struct error *err)
{
	uint32_t kind = a->tp.kind;

	if (!a->is_counted || (kind != EVENT_CONTENTION_BEGIN && kind != EVENT_CONTENTION_END))
		return 0;
	return error_set(err, -ENOTSUP,
			 "Cannot read the recording: lock:contention_%s was counted, not sampled, "
			 "because of ':S' in its event group; record without it",
			 kind == EVENT_CONTENTION_END ? "end" : "begin");
}

static bool has_user_part(const struct decode_attr *a)
{
	const uint64_t dump = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	bool calls = a->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		     a->branch_type & PERF_SAMPLE_BRANCH_CALL_STACK;

	return calls || (a->sample_type & dump) == dump;
}

/* Samples of all events that can be a profile are decoded, and of those that were asked for. */
static void bind_profile(struct decode *d, struct decode_attr *a,
			 const struct perf_event_attr *attr)
{
	a->number = eventlist_number(d->n_attrs);
	a->can_sample = attr->sample_period && attr->sample_type & PERF_SAMPLE_IP;
	a->has_user_part = a->can_sample && has_user_part(a);
	if (eventlist_is_profile(attr))
		a->tp.kind = EVENT_SAMPLE;
}

/* Later kernels append fields to perf_event_attr; those that an older kernel lacks become zeros. */
static int read_attr(const void *data, size_t len, struct perf_event_attr *attr, struct error *err)
{
	uint32_t size;

	if (len < PERF_ATTR_SIZE_VER0)
		return error_set(err, -EINVAL,
				 "An event attribute is truncated: %zu bytes of at least %d", len,
				 PERF_ATTR_SIZE_VER0);
	memcpy(&size, (const char *)data + offsetof(struct perf_event_attr, size), sizeof(size));
	if (size < PERF_ATTR_SIZE_VER0 || size > len || (len - size) % sizeof(uint64_t))
		return error_set(err, -EINVAL,
				 "An event attribute states a size of %u bytes, in a record "
				 "of %zu",
				 size, len);
	*attr = (struct perf_event_attr){0};
	memcpy(attr, data, size < sizeof(*attr) ? size : sizeof(*attr));
	attr->size = size;
	return 0;
}

static int add_ids(struct decode *d, const uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t id;
		memcpy(&id, data + i * sizeof(id), sizeof(id));
		int r = map64_put(&d->ids, id, (uint32_t)(d->n_attrs));
		if (r)
			return r;
	}
	return 0;
}

int decode_add_attr(struct decode *d, const void *data, size_t len, struct error *err)
{
	struct perf_event_attr attr;
	int r = read_attr(data, len, &attr, err);

	if (r)
		return r;
	r = mem_grow(&d->attrs, &d->cap_attrs, d->n_attrs, sizeof(*d->attrs));
	if (!r)
		r = eventlist_add(&d->list, data, len);
	if (!r)
		r = add_ids(d, (const uint8_t *)data + attr.size,
			    (len - attr.size) / sizeof(uint64_t));
	if (r)
		return error_enomem(err, "event attributes");
	struct decode_attr *a = &d->attrs[d->n_attrs];
	*a = (struct decode_attr){.sample_type = attr.sample_type,
				  .read_format = attr.read_format,
				  .config = attr.config,
				  .type = attr.type,
				  .branch_type = attr.branch_sample_type,
				  .regs_user = attr.sample_regs_user,
				  .kernel_chain = attr.exclude_callchain_user,
				  .is_counted = !attr.sample_period &&
						attr.read_format & PERF_FORMAT_GROUP};
	lay_out_sample(a);
	if (attr.sample_id_all)
		lay_out_trailer(a);
	bind_format(d, a);
	bind_profile(d, a, &attr);
	if (!(a->sample_type & PERF_SAMPLE_IDENTIFIER))
		d->identifier = false;
	if (d->n_attrs && d->attrs[0].sample_type != a->sample_type)
		d->mixed = true;
	d->n_attrs++;
	return check_sampled(a, err);
}

int decode_take_names(struct eventlist *l, const void *data, size_t len)
{
	struct record_snapshot head;

	if (!snapshot_parse(data, len, &head) || head.kind != SNAPSHOT_EVENTS ||
	    head.version != EVENTSNAP_VERSION)
		return 0;
	return eventlist_take_names(l, (const char *)data + sizeof(head), len - sizeof(head));
}

int decode_add_format(struct decode *d, const void *data, size_t len, struct error *err)
{
	const char *system = data, *end = len ? memchr(data, 0, len) : NULL;
	struct trace_event ev;

	if (!end)
		return error_set(err, -EINVAL, "A tracepoint format of %zu bytes names no system",
				 len);
	const char *text = end + 1;
	int r = trace_parse(d->trace, system, text, len - (size_t)(text - system), &ev, err);
	if (r)
		return r;
	if (mem_grow(&d->formats, &d->cap_formats, d->n_formats, sizeof(*d->formats)))
		return error_enomem(err, "a tracepoint format");
	d->formats[d->n_formats++] = ev;
	r = eventlist_take_format(&d->list, data, len);
	/* A file may have many attrs and formats: check only the new format. */
	for (size_t i = 0; r == 0 && i < d->n_attrs; i++) {
		struct decode_attr *a = &d->attrs[i];

		if (!has_format(a, &ev))
			continue;
		a->tp = ev;
		note_plain(a);
		r = check_sampled(a, err);
	}
	return r;
}

static bool is_of_locks(uint32_t kind)
{
	switch (kind) {
	case EVENT_CONTENTION_BEGIN:
	case EVENT_CONTENTION_END:
	case EVENT_OWNER:
	case EVENT_HOLDER:
	case EVENT_MM_START:
	case EVENT_MM_ACQUIRED:
	case EVENT_MM_RELEASED:
	case EVENT_RELEASE:
	case EVENT_INODE:
	case EVENT_FLOCK:
	case EVENT_POSIX_LOCK:
	case EVENT_LEASE_BLOCK:
	case EVENT_LEASE_UNBLOCK:
		return true;
	default:
		return false;
	}
}

bool decode_lacks_locks(const struct decode *d)
{
	for (size_t i = 0; i < d->n_attrs; i++)
		if (is_of_locks(d->attrs[i].tp.kind))
			return false;
	/* kontend may have measured locks by snapshots and sums alone. */
	for (size_t i = 0; i < d->list.n; i++)
		if (d->list.events[i].is_own)
			return false;
	return d->n_attrs > 0;
}

bool decode_lacks_ends(const struct decode *d)
{
	bool begins = false;

	for (size_t i = 0; i < d->n_attrs; i++) {
		uint32_t kind = d->attrs[i].tp.kind;
		begins |= kind == EVENT_CONTENTION_BEGIN;
		/* Waits from kontend's BPF programs have both. */
		if (kind == EVENT_CONTENTION_END || kind == EVENT_OWNER)
			return false;
	}
	return begins;
}
