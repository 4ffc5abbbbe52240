// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPython: the functions that a thread runs, with their lines. The state of a thread has the
 * innermost frame of the interpreter; a frame has its function's code, which has the name, the file
 * and a table of lines, and the frame that called it. A frame that a C function has called begins a
 * run of the interpreter's function, which is in the call chain; its calls of other Python
 * functions are not.
 *
 * In 3.11 and 3.12 the places are those of 64-bit Linux; 3.13 says where all of that is, at the
 * begin of _PyRuntime. Later versions have other ones, and are not read. A program may have
 * anything in that memory, so all is bounded, and a word that does not fit ends the list.
 */
#include "internal.h"
#include "kontend/text.h"

#include <string.h>

enum { V_3_11 = 0x30b, V_3_12, V_3_13, INTERPRETERS_MOST = 16, THREADS_MOST = 4096 };

struct places {
	/* In _PyRuntime; in an interpreter; in the state of a thread. */
	uint64_t interpreters, next, threads, thread_next, thread_frames, thread_number;
	/* In the memory to which thread_frames points. */
	uint64_t frames_first;
	/* In a frame of the interpreter; kind: one byte, which says what has called it. */
	uint64_t code, previous, at, kind;
	/* In the code of a function. */
	uint64_t line, file, name, table, bytes;
	/* In objects: texts, of ASCII or not, and bytes. */
	uint64_t text_size, text_state, text_ascii, text_other, bytes_size, bytes_first;
	bool is_direct;	   /* thread_frames is the first frame itself */
	bool has_entries;  /* frames of functions that C has called have the kind 1; */
	uint8_t kind_of_c; /* or frames between these and the C code have this one */
};

static const struct places of_3_11 = {
	.interpreters = 40,
	.threads = 16,
	.thread_next = 8,
	.thread_frames = 56,
	.thread_number = 160,
	.frames_first = 8,
	.code = 32,
	.previous = 48,
	.at = 56,
	.kind = 68,
	.line = 72,
	.file = 112,
	.name = 128,
	.table = 136,
	.bytes = 184,
	.text_size = 16,
	.text_state = 32,
	.text_ascii = 48,
	.text_other = 72,
	.bytes_size = 16,
	.bytes_first = 32,
	.has_entries = true,
};

static const struct places of_3_12 = {
	.interpreters = 40,
	.threads = 72,
	.thread_next = 8,
	.thread_frames = 56,
	.thread_number = 144,
	.code = 0,
	.previous = 8,
	.at = 56,
	.kind = 70,
	.line = 68,
	.file = 112,
	.name = 128,
	.table = 136,
	.bytes = 192,
	.text_size = 16,
	.text_state = 32,
	.text_ascii = 40,
	.text_other = 56,
	.bytes_size = 16,
	.bytes_first = 32,
	.kind_of_c = 3,
};

/* Words at the begin of _PyRuntime of 3.13. */
enum {
	W_INTERPRETERS = 5,
	W_NEXT = 8,
	W_THREADS,
	W_THREAD_NEXT = 21,
	W_THREAD_FRAME = 23,
	W_THREAD_NUMBER = 25,
	W_PREVIOUS = 29,
	W_CODE,
	W_AT,
	W_KIND = 33,
	W_FILE = 35,
	W_NAME = 37,
	W_TABLE,
	W_LINE,
	W_BYTES = 43,
	W_BYTES_SIZE = 65,
	W_BYTES_FIRST,
	W_TEXT_STATE = 68,
	W_TEXT_SIZE,
	W_TEXT_ASCII,
	W_ALL,
	TEXT_MORE = 16, /* of a text that is not ASCII */
};
static const uint64_t PLACE_MOST = 1 << 20;

static bool find_places(const struct runtime_process *p, const struct runtime *t,
			struct places *ret)
{
	uint64_t w[W_ALL];

	*ret = t->version == V_3_11 ? of_3_11 : of_3_12;
	if (t->version < V_3_13)
		return true;
	if (t->version > V_3_13 || !python_words(p, t, w, W_ALL))
		return false;
	for (size_t i = W_INTERPRETERS; i < W_ALL; i++)
		if (w[i] >= PLACE_MOST)
			return false;
	*ret = (struct places){
		.interpreters = w[W_INTERPRETERS],
		.next = w[W_NEXT],
		.threads = w[W_THREADS],
		.thread_next = w[W_THREAD_NEXT],
		.thread_frames = w[W_THREAD_FRAME],
		.thread_number = w[W_THREAD_NUMBER],
		.code = w[W_CODE],
		.previous = w[W_PREVIOUS],
		.at = w[W_AT],
		.kind = w[W_KIND],
		.line = w[W_LINE],
		.file = w[W_FILE],
		.name = w[W_NAME],
		.table = w[W_TABLE],
		.bytes = w[W_BYTES],
		.text_size = w[W_TEXT_SIZE],
		.text_state = w[W_TEXT_STATE],
		.text_ascii = w[W_TEXT_ASCII],
		.text_other = w[W_TEXT_ASCII] + TEXT_MORE,
		.bytes_size = w[W_BYTES_SIZE],
		.bytes_first = w[W_BYTES_FIRST],
		.is_direct = true,
		.kind_of_c = 3,
	};
	return true;
}

/* Bits of the state of a text. */
enum { STATE_KIND = 2, STATE_KINDS = 7, STATE_IS_ASCII = 1 << 6, KIND_MOST = 4 };
/* Of an entry in the table of lines. */
enum { TABLE_MOST = 1 << 14, MARK = 0x80, LENGTHS = 7, FORM = 3, FORMS = 15 };
enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG_FORM, NO_PLACE, UNIT = 2, VARINT_MOST = 6 };

static bool read_word(const struct runtime_process *p, uint64_t at, uint64_t *ret)
{
	return runtime_read_u64(p, at, ret) && *ret;
}

/* Its characters, '?' for those that are not ASCII. False: it is no text. */
static bool read_text(const struct runtime_process *p, const struct places *x, uint64_t object,
		      char *ret, size_t size)
{
	uint8_t bytes[KIND_MOST * RUNTIME_TEXT];
	uint64_t len, at;
	uint32_t state;

	if (!runtime_read_u64(p, object + x->text_size, &len) || !len || len > UINT32_MAX ||
	    !runtime_read_u32(p, object + x->text_state, &state))
		return false;
	size_t width = state >> STATE_KIND & STATE_KINDS, n = len < size - 1 ? len : size - 1;
	if ((width != 1 && width != 2 && width != KIND_MOST) || n > RUNTIME_TEXT)
		return false;
	at = object + (state & STATE_IS_ASCII ? x->text_ascii : x->text_other);
	if (!p->read(p->arg, at, bytes, n * width))
		return false;
	for (size_t i = 0; i < n; i++) {
		uint32_t c = 0;
		memcpy(&c, bytes + i * width, width);
		ret[i] = (char)(c < 0x80 ? c : '?');
	}
	ret[n] = '\0';
	return strlen(ret) == n;
}

/* Of six bits each, the lowest first. False: it has no end. */
static bool take_number(const uint8_t *table, size_t len, size_t *at, uint32_t *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < VARINT_MOST && *at < len; i++) {
		uint8_t byte = table[(*at)++];
		*ret |= (uint32_t)(byte & 0x3f) << i * 6;
		if (!(byte & 0x40))
			return true;
	}
	return false;
}

/* How far the line of the entry with that form is from the one before. False: damaged. */
static bool take_delta(const uint8_t *table, size_t len, size_t *at, unsigned form, int64_t *ret)
{
	uint32_t number = 0;

	*ret = 0;
	if (form == NO_COLUMNS || form == LONG_FORM) {
		if (!take_number(table, len, at, &number))
			return false;
		*ret = number & 1 ? -(int64_t)(number >> 1) : number >> 1;
	} else if (form >= ONE_LINE && form < NO_COLUMNS) {
		*ret = form - ONE_LINE;
	}
	return true;
}

uint32_t python_line(const uint8_t *table, size_t len, uint32_t first, uint64_t unit)
{
	int64_t line = first, delta;
	uint64_t end = 0;

	for (size_t at = 0; at < len && table[at] & MARK;) {
		unsigned form = table[at] >> FORM & FORMS;
		end += (table[at++] & LENGTHS) + 1u;
		if (!take_delta(table, len, &at, form, &delta))
			break;
		line += delta;
		if (unit < end)
			return form == NO_PLACE || line <= 0 || line > UINT32_MAX ? 0
										  : (uint32_t)line;
		/* Columns, which no entry begins with. */
		while (at < len && !(table[at] & MARK))
			at++;
	}
	return 0;
}

static uint32_t read_line(const struct runtime_process *p, const struct places *x, uint64_t frame,
			  uint64_t code)
{
	uint64_t object, len, at;
	uint8_t table[TABLE_MOST];
	uint32_t first;

	if (!runtime_read_u32(p, code + x->line, &first) ||
	    !runtime_read_u64(p, frame + x->at, &at) || !read_word(p, code + x->table, &object) ||
	    !read_word(p, object + x->bytes_size, &len))
		return 0;
	/* It has not begun yet. */
	if (at < code + x->bytes)
		return first;
	len = len < sizeof(table) ? len : sizeof(table);
	return p->read(p->arg, object + x->bytes_first, table, len)
		       ? python_line(table, len, first, (at - code - x->bytes) / UNIT)
		       : 0;
}

static bool read_frame(const struct runtime_process *p, const struct places *x, uint64_t frame,
		       struct runtime_call *ret)
{
	uint64_t code, name, file;

	if (!read_word(p, frame + x->code, &code) || !read_word(p, code + x->name, &name) ||
	    !read_word(p, code + x->file, &file) ||
	    !read_text(p, x, name, ret->function, sizeof(ret->function)) ||
	    !read_text(p, x, file, ret->file, sizeof(ret->file)))
		return false;
	ret->is_entry = false;
	ret->line = read_line(p, x, frame, code);
	return true;
}

/* The state of the thread with that number; 0: it has none. */
static uint64_t find_thread(const struct runtime_process *p, const struct places *x,
			    uint64_t runtime, uint32_t number)
{
	uint64_t interpreter, thread, has;
	size_t left = THREADS_MOST; /* in all */

	if (!number || !read_word(p, runtime + x->interpreters, &interpreter))
		return 0;
	for (size_t i = 0; interpreter && i < INTERPRETERS_MOST; i++) {
		if (!runtime_read_u64(p, interpreter + x->threads, &thread))
			return 0;
		for (; thread && left; left--) {
			if (!runtime_read_u64(p, thread + x->thread_number, &has))
				return 0;
			if (has == number)
				return thread;
			if (!runtime_read_u64(p, thread + x->thread_next, &thread))
				return 0;
		}
		if (!runtime_read_u64(p, interpreter + x->next, &interpreter))
			return 0;
	}
	return 0;
}

/* The innermost frame of the interpreter; 0: it runs none. */
static uint64_t first_frame(const struct runtime_process *p, const struct places *x,
			    uint64_t thread)
{
	uint64_t at;

	if (!read_word(p, thread + x->thread_frames, &at))
		return 0;
	return x->is_direct || runtime_read_u64(p, at + x->frames_first, &at) ? at : 0;
}

size_t python_calls(const struct runtime_process *p, const struct runtime *t, int32_t tid,
		    struct runtime_call *ret, size_t most)
{
	uint64_t thread, frame;
	struct places x;
	uint8_t kind;
	size_t n = 0;

	if (!find_places(p, t, &x))
		return 0;
	thread = find_thread(p, &x, t->symbols[PYTHON_RUNTIME], p->number(p->arg, tid));
	frame = thread ? first_frame(p, &x, thread) : 0;
	for (size_t i = 0; frame && n < most && i < 2 * most; i++) {
		if (!p->read(p->arg, frame + x.kind, &kind, sizeof(kind)))
			break;
		bool is_of_c = x.kind_of_c && kind == x.kind_of_c;
		if (is_of_c && n)
			ret[n - 1].is_entry = true;
		if (!is_of_c && !read_frame(p, &x, frame, &ret[n]))
			break;
		if (!is_of_c)
			ret[n++].is_entry = x.has_entries && kind == 1;
		if (!runtime_read_u64(p, frame + x.previous, &frame))
			break;
	}
	return n;
}
