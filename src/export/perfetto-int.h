/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_EXPORT_PERFETTO_INT_H
#define KONTEND_EXPORT_PERFETTO_INT_H

#include "kontend/limits.h"
#include "kontend/locktype.h"
#include "kontend/stringtable.h"
#include "perfetto.pb-c.h"
#include "trace-int.h"

typedef Perfetto__TracePacket packet;
typedef Perfetto__TrackEvent track_event;
typedef Perfetto__TrackDescriptor track_descriptor;
typedef Perfetto__DebugAnnotation debug_annotation;
typedef Perfetto__InternedData interned_data;
typedef Perfetto__Interned interned;
typedef Perfetto__Frame frame;
typedef Perfetto__Callstack callstack;

/* Types of events in Perfetto's format. */
enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END, TYPE_INSTANT, TYPE_COUNTER };

enum perfetto_key {
	KEY_TASK,
	KEY_MODE,
	KEY_CALLER,
	KEY_CPU,
	KEY_FLAGS,
	KEY_ADDRESS,
	KEY_ERROR,
	KEY_STATE,
	KEY_TIME,
	KEY_SOURCE,
	KEYS,
};

enum {
	CATEGORY_HOLD = LOCK_TYPES + 1, /* after the categories of waits, which are the lock type
					 * + 1 */
	PERFETTO_FLOWS = 8,		/* number of flows from a hold to waits */
	PERFETTO_STRINGS = 8,		/* number of new strings in a packet */
};

/* The current packet, with room for all parts that it may have. */
struct perfetto_packet {
	packet packet;
	track_event event;
	interned_data interned;
	debug_annotation annotations[KEYS], *annotation_list[KEYS];
	interned strings[PERFETTO_STRINGS], *string_list[PERFETTO_STRINGS];
	interned names[CATEGORY_HOLD + KEYS], *name_list[CATEGORY_HOLD + KEYS];
	interned functions[STACK_MAX_FRAMES], *function_list[STACK_MAX_FRAMES];
	frame frames[STACK_MAX_FRAMES], *frame_list[STACK_MAX_FRAMES];
	callstack stack, *stack_list[1];
	uint64_t category, frame_ids[STACK_MAX_FRAMES];
	uint64_t flows[PERFETTO_FLOWS], ends[TRACE_HOLDS];
};

/*
 * Slices of a track must not overlap, so slices that do are on several tracks (lanes). A lane keeps
 * its latest slices; all earlier ones ended at `floor` or before.
 */
enum { PERFETTO_SPANS = 8, PERFETTO_LANES = 200 };
struct perfetto_lane {
	uint64_t floor;
	struct perfetto_span {
		uint64_t from, to;
	} spans[PERFETTO_SPANS];
	uint32_t n;
};

struct perfetto_track {
	struct perfetto_lane *lanes; /* NULL: the track is not declared yet */
	size_t n, cap;
	bool counted;	  /* there is a counter below the track, */
	uint32_t waiting; /* and this is its latest value */
};

struct perfetto_tracks {
	struct perfetto_track *list;
	size_t n, cap;
};

enum perfetto_kind { TRACK_LOCK, TRACK_THREAD, TRACK_CPU, TRACK_KINDS };

struct perfetto {
	struct trace_sink sink;
	struct tracefile *t;
	bool begun;
	int error; /* the first error, a negative errno */
	struct perfetto_packet now;
	struct stringtable strings, functions, names;
	bool *stacks_reported;
	size_t n_stacks_reported, cap_stacks_reported;
	struct perfetto_tracks tracks[TRACK_KINDS]; /* by number */
	struct map64 processes;			    /* those that are declared */
	uint8_t *buf;
	size_t cap_buf;
};

/* Keeps the first error. */
static inline void perfetto_fail(struct perfetto *p, int error)
{
	if (!p->error)
		p->error = error;
}

/* perfetto-packet.c: begins an event of @type; then the caller adds its parts and writes it. */
void perfetto_event(struct perfetto *p, unsigned type, uint64_t track, uint64_t time_ns);
void perfetto_name(struct perfetto *p, const char *name, unsigned category);
void perfetto_u64(struct perfetto *p, enum perfetto_key key, uint64_t v);
void perfetto_i64(struct perfetto *p, enum perfetto_key key, int64_t v);
void perfetto_pointer(struct perfetto *p, enum perfetto_key key, uint64_t v);
void perfetto_text(struct perfetto *p, enum perfetto_key key, const char *text);
void perfetto_json(struct perfetto *p, enum perfetto_key key, const char *text);
void perfetto_stack(struct perfetto *p, uint32_t stack);
void perfetto_put(struct perfetto *p);
void perfetto_declare(struct perfetto *p, track_descriptor *d);
/* The beginning of the file. */
void perfetto_begin(struct perfetto *p);
ProtobufCBinaryData perfetto_bytes(const char *text);

/* perfetto-tracks.c: the track for a slice of that time; declares it if it is new. */
uint64_t perfetto_track_of_lock(struct perfetto *p, uint32_t lock, uint64_t from, uint64_t to);
uint64_t perfetto_track_of_thread(struct perfetto *p, uint32_t thread, uint64_t from, uint64_t to);
uint64_t perfetto_track_of_cpu(struct perfetto *p, uint32_t cpu, uint64_t from, uint64_t to);
/* The counter of tasks that wait for @lock; 0: its value is @n already. */
uint64_t perfetto_counter(struct perfetto *p, uint32_t lock, uint32_t n);
/* The groups that are the parents of the tracks. */
void perfetto_groups(struct perfetto *p);
/* The track for the measurement as a whole. */
uint64_t perfetto_track_of_all(struct perfetto *p);
void perfetto_tracks_deinit(struct perfetto *p);

#endif
