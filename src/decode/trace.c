// SPDX-License-Identifier: GPL-2.0-only
/*
 * Only the parser of libtraceevent for tracefs `format` files is used. For each format kontend
 * keeps the offsets and sizes of the fields that the model needs, so decoding a sample is a load at
 * a known offset. A field that is missing or of unexpected size is an error for the format, never a
 * guess: kernels have moved fields before.
 */
#include "kontend/trace.h"
#include "kontend/mem.h"
#include "trace-text.h"
#include <errno.h>
#include <event-parse.h>
#include <string.h>

struct trace {
	struct tep_handle *tep;
};

struct known_event {
	const char *system, *name;
	enum event_kind kind;
	const char *lock, *arg; /* its fields; arg NULL: not needed */
};

static const struct known_event known_events[] = {
	{"lock", "contention_begin", EVENT_CONTENTION_BEGIN, "lock_addr", "flags"},
	{"lock", "contention_end", EVENT_CONTENTION_END, "lock_addr", "ret"},
	{"lock", "contended_release", EVENT_RELEASE, "lock_addr", NULL}, /* Linux 7.x */
	{"timer", "hrtimer_expire_entry", EVENT_TIMER_ENTRY, "hrtimer", "function"},
	{"timer", "hrtimer_expire_exit", EVENT_TIMER_EXIT, "hrtimer", NULL},
	{"mmap_lock", "mmap_lock_start_locking", EVENT_MM_START, "mm", "write"},
	{"mmap_lock", "mmap_lock_acquire_returned", EVENT_MM_ACQUIRED, "mm", "write"},
	{"mmap_lock", "mmap_lock_released", EVENT_MM_RELEASED, "mm", "write"},
};

int trace_new(struct trace **ret, struct error *err)
{
	struct trace *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return error_set(err, -ENOMEM, "No memory for the tracepoint parser");
	tep_set_loglevel(TEP_LOG_NONE);
	t->tep = tep_alloc();
	if (!t->tep) {
		mem_free(t);
		return error_set(err, -ENOMEM, "No memory for the tracepoint parser");
	}
	*ret = t;
	return 0;
}

void trace_free(struct trace *t)
{
	if (!t)
		return;
	tep_free(t->tep);
	mem_free(t);
}

static bool field_usable(const struct tep_format_field *f)
{
	bool whole = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;

	return whole && f->offset >= 0 && f->offset <= UINT16_MAX - 8;
}

static int find_field(struct tep_event *event, const char *name, struct trace_field *ret,
		      struct error *err)
{
	struct tep_format_field *f = tep_find_any_field(event, name);

	if (!f)
		return error_set(err, -EINVAL, "Tracepoint %s:%s has no field '%s' on this kernel",
				 event->system, event->name, name);
	if (!field_usable(f))
		return error_set(
			err, -EINVAL,
			"Cannot use the field '%s' of tracepoint %s:%s with offset %d and size %d",
			name, event->system, event->name, f->offset, f->size);
	*ret = (struct trace_field){.offset = (uint16_t)f->offset, .size = (uint16_t)f->size};
	return 0;
}

/* @size 0: any usable size. */
static void find_optional(struct tep_event *event, const char *name, int size,
			  struct trace_field *ret)
{
	struct tep_format_field *f = tep_find_field(event, name);

	if (f && field_usable(f) && (!size || f->size == size))
		*ret = (struct trace_field){.offset = (uint16_t)f->offset,
					    .size = (uint16_t)f->size};
}

/*
 * The memory cgroup: a path before Linux 6.14 (a __data_loc of 4 bytes), then an id. From here on
 * the size distinguishes them, so other sizes are rejected.
 */
static void find_mm_fields(struct tep_event *event, struct trace_event *ev)
{
	find_optional(event, "success", 0, &ev->success);
	find_optional(event, "memcg_path", 4, &ev->memcg);
	if (!ev->memcg.size)
		find_optional(event, "memcg_id", 8, &ev->memcg);
}

static const struct known_event *lookup(const char *system, const struct trace_text *text)
{
	for (size_t i = 0; i < sizeof(known_events) / sizeof(*known_events); i++)
		if (!strcmp(system, known_events[i].system) &&
		    strlen(known_events[i].name) == text->name_len &&
		    !memcmp(text->name, known_events[i].name, text->name_len))
			return &known_events[i];
	return NULL;
}

static const char no_print[] = "\nprint fmt: \"\"\n";

/* libtraceevent needs a print format and a NUL after the text. The event belongs to the handle. */
static int parse_text(struct trace *t, struct tep_event **ret, const char *system, const char *text,
		      size_t len)
{
	char *copy = mem_calloc(1, len + sizeof(no_print));
	int r;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, len);
	memcpy(copy + len, no_print, sizeof(no_print));
	r = tep_parse_format(t->tep, ret, copy, len + sizeof(no_print) - 1, system);
	mem_free(copy);
	return r ? -EINVAL : 0;
}

static int read_fields(struct tep_event *event, const struct known_event *known,
		       struct trace_event *ev, struct error *err)
{
	int r = find_field(event, known->lock, &ev->lock, err);

	if (r)
		return r;
	r = known->arg ? find_field(event, known->arg, &ev->arg, err) : 0;
	if (r)
		return r;
	struct tep_format_field *pid = tep_find_common_field(event, "common_pid");
	if (pid && pid->size == 4 && field_usable(pid))
		ev->pid = (struct trace_field){.offset = (uint16_t)pid->offset, .size = 4};
	if (known->kind >= EVENT_MM_START && known->kind <= EVENT_MM_RELEASED)
		find_mm_fields(event, ev);
	return 0;
}

int trace_parse(struct trace *t, const char *system, const char *text, size_t len,
		struct trace_event *ret, struct error *err)
{
	struct tep_event *event = NULL;
	struct trace_text scanned;
	int r = trace_text_scan(text, len, &scanned) ? 0 : -EINVAL;
	struct trace_event ev = {.id = scanned.id};
	const struct known_event *known = r ? NULL : lookup(system, &scanned);

	if (known)
		r = !scanned.is_plain ? -EINVAL
				      : parse_text(t, &event, system, text, scanned.fields_end);
	if (r == -ENOMEM)
		return error_set(err, r, "No memory for parsing a tracepoint format");
	if (r || (known && (!event || !event->name || !event->system)))
		return error_set(err, -EINVAL,
				 "A tracepoint format of system '%s' (%zu bytes) does "
				 "not have the syntax of tracefs format files",
				 system, len);
	if (known) {
		r = read_fields(event, known, &ev, err);
		ev.kind = known->kind;
	}
	if (!r)
		*ret = ev;
	return r;
}
