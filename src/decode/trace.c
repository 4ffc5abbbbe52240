// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formats of tracepoints. Only the parser of libtraceevent for tracefs `format` files is used. For
 * each format kontend keeps the offsets and sizes of the fields that the model needs, so decoding a
 * sample is a load at a known offset. A field that is missing or of unexpected size is an error for
 * the format, never a guess: kernels have moved fields before.
 *
 * Formats come from recordings as well as from the kernel, and libtraceevent was written for those
 * of the kernel: given other text it leaks memory and worse. So scan_text() checks the syntax
 * first, and accepts a subset that is safe to parse. The print format, which most of the library's
 * parser is for, is not used and not passed on.
 */
#include "kontend/trace.h"
#include "kontend/mem.h"
#include <errno.h>
#include <event-parse.h>
#include <string.h>

struct trace_text {
	const char *name; /* within the text, not NUL-terminated */
	size_t name_len;
	uint32_t id;
	size_t fields_end; /* offset after the last field line */
	bool is_plain;	   /* only fields of the form
			      "\tfield:DECLARATION;\toffset:N;\tsize:N;\tsigned:N;" */
};

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
	{"filelock", "flock_lock_inode", EVENT_FLOCK, "i_ino", "ret"},
	{"filelock", "posix_lock_inode", EVENT_POSIX_LOCK, "i_ino", "ret"},
	{"filelock", "break_lease_block", EVENT_LEASE_BLOCK, "i_ino", NULL},
	{"filelock", "break_lease_unblock", EVENT_LEASE_UNBLOCK, "i_ino", NULL},
};

enum event_kind trace_kind(const char *system, const char *name)
{
	for (size_t i = 0; i < sizeof(known_events) / sizeof(*known_events); i++)
		if (!strcmp(known_events[i].system, system) && !strcmp(known_events[i].name, name))
			return known_events[i].kind;
	return EVENT_NONE;
}

int trace_new(struct trace **ret, struct error *err)
{
	struct trace *t = mem_calloc(1, sizeof(*t));

	if (!t)
		return error_enomem(err, "the tracepoint parser");
	tep_set_loglevel(TEP_LOG_NONE);
	t->tep = tep_alloc();
	if (!t->tep) {
		mem_free(t);
		return error_enomem(err, "the tracepoint parser");
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

/* Kernels before 6.9 have the same names. */
static int find_file_fields(struct tep_event *event, enum event_kind kind, struct trace_event *ev,
			    struct error *err)
{
	int r = find_field(event, "s_dev", &ev->dev, err);

	if (kind == EVENT_FLOCK || kind == EVENT_POSIX_LOCK)
		find_optional(event, "owner", 8, &ev->owner);
	/* Of a lock of the other kinds both are the whole file. */
	if (kind == EVENT_POSIX_LOCK) {
		find_optional(event, "fl_start", 8, &ev->start);
		find_optional(event, "fl_end", 8, &ev->end);
	}
	if (!ev->end.size)
		ev->start.size = 0;
	r = r ? r : find_field(event, "flags", &ev->flags, err);
	return r ? r : find_field(event, "type", &ev->type, err);
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
	return event_is_file_try(known->kind) ? find_file_fields(event, known->kind, ev, err) : 0;
}

struct text_line {
	const char *at, *end;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The next line, without its newline; false at the end. */
static bool next_line(const char **pos, const char *end, struct text_line *ret)
{
	if (*pos >= end)
		return false;
	const char *nl = memchr(*pos, '\n', (size_t)(end - *pos));
	*ret = (struct text_line){.at = *pos, .end = nl ? nl : end};
	*pos = nl ? nl + 1 : end;
	return true;
}

static bool skip_text(struct text_line *l, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(l->end - l->at) < n || memcmp(l->at, text, n) != 0)
		return false;
	l->at += n;
	return true;
}

static bool skip_number(struct text_line *l, uint32_t *ret)
{
	uint32_t v = 0;
	unsigned n = 0;

	for (; l->at < l->end && *l->at >= '0' && *l->at <= '9' && n < 9; l->at++, n++)
		v = v * 10 + (uint32_t)(*l->at - '0');
	if (ret)
		*ret = v;
	return n > 0;
}

static size_t skip_word(struct text_line *l)
{
	const char *from = l->at;

	while (l->at < l->end && is_word(*l->at))
		l->at++;
	return (size_t)(l->at - from);
}

static void skip_blanks(struct text_line *l)
{
	while (l->at < l->end && (*l->at == ' ' || *l->at == '*'))
		l->at++;
}

/*
 * "unsigned int flags", "const char * name", "char comm[16]": two words or more, maybe a length.
 * Texts of variable length have one form only.
 */
static bool skip_declaration(struct text_line *l)
{
	unsigned words = 0;

	if (skip_text(l, "__data_loc char[] "))
		return skip_word(l) > 0;
	while (skip_word(l)) {
		words++;
		skip_blanks(l);
	}
	if (words < 2 || !is_word(l->at[-1]))
		return false;
	if (!skip_text(l, "["))
		return true;
	return skip_number(l, NULL) && skip_text(l, "]");
}

static bool is_field(struct text_line l)
{
	return skip_text(&l, "\tfield:") && skip_declaration(&l) && skip_text(&l, ";\toffset:") &&
	       skip_number(&l, NULL) && skip_text(&l, ";\tsize:") && skip_number(&l, NULL) &&
	       skip_text(&l, ";\tsigned:") && skip_number(&l, NULL) && skip_text(&l, ";") &&
	       l.at == l.end;
}

static bool scan_head(const char **pos, const char *end, struct trace_text *ret)
{
	struct text_line l;

	if (!next_line(pos, end, &l) || !skip_text(&l, "name: "))
		return false;
	ret->name = l.at;
	ret->name_len = skip_word(&l);
	if (!ret->name_len || l.at != l.end || !next_line(pos, end, &l) || !skip_text(&l, "ID: ") ||
	    !skip_number(&l, &ret->id) || l.at != l.end)
		return false;
	return next_line(pos, end, &l) && skip_text(&l, "format:") && l.at == l.end;
}

/* False: @text does not begin like a tracefs format file, with name and ID. */
static bool scan_text(const char *text, size_t len, struct trace_text *ret)
{
	const char *pos = text, *end = text + len;
	struct text_line l;

	*ret = (struct trace_text){0};
	if (!scan_head(&pos, end, ret))
		return false;
	ret->fields_end = (size_t)(pos - text);
	while (next_line(&pos, end, &l)) {
		if (l.at == l.end)
			continue;
		if (!is_field(l)) {
			ret->is_plain = skip_text(&l, "print fmt:");
			return true;
		}
		ret->fields_end = (size_t)(pos - text);
	}
	ret->is_plain = true;
	return true;
}

int trace_parse(struct trace *t, const char *system, const char *text, size_t len,
		struct trace_event *ret, struct error *err)
{
	struct tep_event *event = NULL;
	struct trace_text scanned;
	int r = scan_text(text, len, &scanned) ? 0 : -EINVAL;
	struct trace_event ev = {.id = scanned.id};
	const struct known_event *known = r ? NULL : lookup(system, &scanned);

	if (known)
		r = !scanned.is_plain ? -EINVAL
				      : parse_text(t, &event, system, text, scanned.fields_end);
	if (r == -ENOMEM)
		return error_enomem(err, "parsing a tracepoint format");
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
