// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets are made one at a time, in the same memory. The first packet with a text, function or
 * call chain defines its number; later ones refer to the number.
 */
#include "kontend/locktype.h"
#include "kontend/mem.h"
#include "perfetto-int.h"

#include <errno.h>
#include <string.h>

enum {
	SEQUENCE = 1,
	STATE_CLEARED = 1,
	NEEDS_STATE = 2,
	CLOCK_REAL = 1, /* Perfetto's numbers */
	CLOCK_MONOTONE = 3,
};

static const char *const keys[KEYS] = {
	[KEY_TASK] = "task",	  [KEY_MODE] = "mode",	 [KEY_CALLER] = "caller",
	[KEY_CPU] = "cpu",	  [KEY_FLAGS] = "flags", [KEY_ADDRESS] = "lock",
	[KEY_ERROR] = "error",	  [KEY_STATE] = "state", [KEY_TIME] = "time",
	[KEY_SOURCE] = "kontend",
};

ProtobufCBinaryData perfetto_bytes(const char *text)
{
	return (ProtobufCBinaryData){.len = strlen(text), .data = (uint8_t *)(uintptr_t)text};
}

/* Writes the packet as one more element of the list that makes up the rest of the file. */
static void write_packet(struct perfetto *p, packet *one)
{
	Perfetto__Trace all = PERFETTO__TRACE__INIT;
	packet *list[] = {one};

	one->has_trusted_packet_sequence_id = one->has_sequence_flags = true;
	one->trusted_packet_sequence_id = SEQUENCE;
	one->sequence_flags |= NEEDS_STATE;
	all.packet = list;
	all.n_packet = 1;
	size_t n = perfetto__trace__get_packed_size(&all);
	while (p->cap_buf < n)
		if (mem_grow(&p->buf, &p->cap_buf, p->cap_buf, 1) < 0) {
			perfetto_fail(p, -ENOMEM);
			return;
		}
	perfetto__trace__pack(&all, p->buf);
	if (fwrite(p->buf, 1, n, p->t->out) != n)
		perfetto_fail(p, errno ? -errno : -EIO);
}

/* The text that @iid means, into *@n. */
static interned *intern(interned *n, uint64_t iid, const char *text)
{
	*n = (interned)PERFETTO__INTERNED__INIT;
	n->has_iid = n->has_text = true;
	n->iid = iid;
	n->text = perfetto_bytes(text);
	return n;
}

static void add_name(struct perfetto_packet *n, size_t at, uint64_t iid, const char *text)
{
	n->name_list[at] = intern(&n->names[at], iid, text);
}

static void reset(struct perfetto_packet *n)
{
	n->packet = (packet)PERFETTO__TRACE_PACKET__INIT;
	n->event = (track_event)PERFETTO__TRACK_EVENT__INIT;
	n->interned = (interned_data)PERFETTO__INTERNED_DATA__INIT;
	n->interned.debug_annotation_string_values = n->string_list;
	n->interned.function_names = n->function_list;
	n->interned.frames = n->frame_list;
	n->interned.callstacks = n->stack_list;
	n->interned.event_names = n->name_list;
	n->event.debug_annotations = n->annotation_list;
	n->event.category_iids = &n->category;
	n->event.flow_ids = n->flows;
	n->event.terminating_flow_ids = n->ends;
}

void perfetto_event(struct perfetto *p, unsigned type, uint64_t track, uint64_t time_ns)
{
	struct perfetto_packet *n = &p->now;

	reset(n);
	n->packet.has_timestamp = n->event.has_type = n->event.has_track_uuid = true;
	n->packet.timestamp = time_ns;
	n->event.type = type;
	n->event.track_uuid = track;
	n->packet.track_event = &n->event;
}

/* The number of a text; *ret_new: the current packet has to define it. 0: no memory. */
static uint64_t number(struct perfetto *p, struct stringtable *of, const char *text, bool *ret_new)
{
	size_t before = of->n;
	uint32_t at = stringtable_get(of, text);

	if (at == UINT32_MAX)
		perfetto_fail(p, -ENOMEM);
	*ret_new = of->n > before;
	return at == UINT32_MAX ? 0 : (uint64_t)at + 1;
}

void perfetto_name(struct perfetto *p, const char *name, unsigned category)
{
	struct perfetto_packet *n = &p->now;
	bool is_new;

	n->event.name_iid = number(p, &p->names, name, &is_new);
	n->event.has_name_iid = n->event.name_iid != 0;
	if (is_new)
		add_name(n, n->interned.n_event_names++, n->event.name_iid, name);
	n->category = category;
	n->event.n_category_iids = 1;
}

static debug_annotation *annotate(struct perfetto *p, enum perfetto_key key, int is)
{
	size_t at = p->now.event.n_debug_annotations++;
	debug_annotation *a = &p->now.annotations[at];

	*a = (debug_annotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	a->has_name_iid = true;
	a->name_iid = (uint64_t)key + 1;
	a->value_case = (Perfetto__DebugAnnotation__ValueCase)is;
	p->now.annotation_list[at] = a;
	return a;
}

void perfetto_u64(struct perfetto *p, enum perfetto_key key, uint64_t v)
{
	annotate(p, key, PERFETTO__DEBUG_ANNOTATION__VALUE_UINT_VALUE)->uint_value = v;
}

void perfetto_i64(struct perfetto *p, enum perfetto_key key, int64_t v)
{
	annotate(p, key, PERFETTO__DEBUG_ANNOTATION__VALUE_INT_VALUE)->int_value = v;
}

void perfetto_pointer(struct perfetto *p, enum perfetto_key key, uint64_t v)
{
	annotate(p, key, PERFETTO__DEBUG_ANNOTATION__VALUE_POINTER_VALUE)->pointer_value = v;
}

void perfetto_json(struct perfetto *p, enum perfetto_key key, const char *text)
{
	annotate(p, key, PERFETTO__DEBUG_ANNOTATION__VALUE_LEGACY_JSON_VALUE)->legacy_json_value =
		perfetto_bytes(text);
}

void perfetto_text(struct perfetto *p, enum perfetto_key key, const char *text)
{
	struct perfetto_packet *n = &p->now;
	bool is_new = false;
	uint64_t iid = text ? number(p, &p->strings, text, &is_new) : 0;

	if (!iid)
		return;
	annotate(p, key, PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE_IID)->string_value_iid =
		iid;
	if (!is_new)
		return;
	size_t at = n->interned.n_debug_annotation_string_values++;
	n->string_list[at] = intern(&n->strings[at], iid, p->strings.list[iid - 1]);
}

/* A function is a frame, since kernel addresses are no offsets in a file. */
static uint64_t function(struct perfetto *p, uint64_t addr)
{
	struct perfetto_packet *n = &p->now;
	char buf[EVENT_NAMES_TEXT];
	bool is_new;
	uint64_t iid = number(p, &p->functions, trace_func(p->t, addr, buf), &is_new);

	if (!is_new)
		return iid;
	size_t at = n->interned.n_frames++;
	n->function_list[n->interned.n_function_names++] =
		intern(&n->functions[at], iid, p->functions.list[iid - 1]);
	n->frames[at] = (frame)PERFETTO__FRAME__INIT;
	n->frames[at].has_iid = n->frames[at].has_function_name_id = true;
	n->frames[at].iid = n->frames[at].function_name_id = iid;
	n->frame_list[at] = &n->frames[at];
	return iid;
}

static bool is_reported(struct perfetto *p, uint32_t stack)
{
	while (p->n_stacks_reported <= stack) {
		if (mem_grow(&p->stacks_reported, &p->cap_stacks_reported, p->n_stacks_reported,
			     sizeof(*p->stacks_reported)) < 0) {
			perfetto_fail(p, -ENOMEM);
			return true;
		}
		p->stacks_reported[p->n_stacks_reported++] = false;
	}
	return p->stacks_reported[stack];
}

void perfetto_stack(struct perfetto *p, uint32_t stack)
{
	struct perfetto_packet *n = &p->now;

	if (!stack)
		return;
	n->event.has_callstack_iid = true;
	n->event.callstack_iid = stack;
	if (is_reported(p, stack))
		return;
	p->stacks_reported[stack] = true;
	const uint64_t *frames = wordset_words(&p->t->links.stacks, stack);
	size_t depth = p->t->links.stacks.runs[stack - 1].n;
	n->stack = (callstack)PERFETTO__CALLSTACK__INIT;
	n->stack.has_iid = true;
	n->stack.iid = stack;
	n->stack.frame_ids = n->frame_ids;
	for (size_t i = depth; i && n->stack.n_frame_ids < STACK_MAX_FRAMES; i--)
		n->frame_ids[n->stack.n_frame_ids++] = function(p, frames[i - 1]);
	n->stack_list[0] = &n->stack;
	n->interned.n_callstacks = 1;
}

void perfetto_put(struct perfetto *p)
{
	struct perfetto_packet *n = &p->now;
	const interned_data *d = &n->interned;

	if (d->n_event_names || d->n_debug_annotation_string_values || d->n_frames ||
	    d->n_callstacks)
		n->packet.interned_data = &n->interned;
	write_packet(p, &n->packet);
}

void perfetto_declare(struct perfetto *p, track_descriptor *d)
{
	packet one = PERFETTO__TRACE_PACKET__INIT;

	one.track_descriptor = d;
	write_packet(p, &one);
}

/* The clock of the timestamps, and its value at a given time of day. */
static void put_clocks(struct perfetto *p)
{
	packet one = PERFETTO__TRACE_PACKET__INIT;
	const struct record_host *host = p->t->engine->model->host;
	Perfetto__ClockSnapshot s = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[] = {PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT,
						   PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT};
	Perfetto__ClockSnapshot__Clock *list[] = {&clocks[0], &clocks[1]};
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;

	for (size_t i = 0; i < 2; i++)
		clocks[i].has_clock_id = clocks[i].has_timestamp = true;
	clocks[0].clock_id = CLOCK_MONOTONE;
	clocks[0].timestamp = host->clock_ns;
	clocks[1].clock_id = CLOCK_REAL;
	clocks[1].timestamp = host->wall_ns;
	s.clocks = list;
	s.n_clocks = host->wall_ns ? 2 : 1;
	s.has_primary_trace_clock = true;
	s.primary_trace_clock = CLOCK_MONOTONE;
	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = CLOCK_MONOTONE;
	one.clock_snapshot = &s;
	one.trace_packet_defaults = &defaults;
	one.has_first_packet_on_sequence = one.first_packet_on_sequence = true;
	one.has_sequence_flags = true;
	one.sequence_flags = STATE_CLEARED;
	write_packet(p, &one);
}

/* Defines all categories and keys of annotations. */
static void put_words(struct perfetto *p)
{
	struct perfetto_packet *n = &p->now;
	packet one = PERFETTO__TRACE_PACKET__INIT;

	reset(n);
	for (unsigned i = 0; i < LOCK_TYPES; i++)
		add_name(n, i, i + 1, locktype_name((enum lock_type)i));
	add_name(n, LOCK_TYPES, CATEGORY_HOLD, "hold");
	n->interned.event_categories = n->name_list;
	n->interned.n_event_categories = CATEGORY_HOLD;
	for (unsigned i = 0; i < KEYS; i++)
		add_name(n, CATEGORY_HOLD + i, i + 1, keys[i]);
	n->interned.debug_annotation_names = n->name_list + CATEGORY_HOLD;
	n->interned.n_debug_annotation_names = KEYS;
	one.interned_data = &n->interned;
	write_packet(p, &one);
}

void perfetto_begin(struct perfetto *p)
{
	put_clocks(p);
	put_words(p);
}
