// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses of functions by the names that /proc/PID/stack has, as snapshots have addresses.
 * /proc/kallsyms has a hundred thousand names, so all new ones of a pass are searched in one go.
 * The size distinguishes functions of one name in several files, and the module those in modules.
 */
#include "kontend/fdio.h"
#include "kontend/hash.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "tasks.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SYMBOLS_MOST = 8192 };

/* Of a line "[<0>] ext4_sync_file+0x1c8/0x3b0 [ext4]", or of a name alone. */
struct part {
	const char *name, *module;
	size_t len, module_len;
	uint64_t offset, size; /* size 0: not known */
};

static const char *find_end(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end : line + strlen(line);
}

static bool take_line(const char *line, struct part *ret)
{
	const char *end = find_end(line), *at;

	*ret = (struct part){.name = line};
	if (*line == '[') {
		at = strchr(line, ']');
		if (!at || at >= end || at[1] != ' ')
			return false;
		ret->name = at + 2;
	}
	ret->len = strcspn(ret->name, "+ \n");
	at = ret->name + ret->len;
	if (*at == '+') {
		at++;
		if (number_take_hex(&at, &ret->offset) < 0 || *at++ != '/' ||
		    number_take_hex(&at, &ret->size) < 0)
			return false;
	}
	if (at[0] == ' ' && at[1] == '[') {
		ret->module = at + 2;
		ret->module_len = strcspn(ret->module, " ]\n");
	}
	/* A name alone is that of the function that waits: its begin is not a return address. */
	ret->offset += ret->size == 0;
	return ret->len > 0 && ret->len < sizeof(((struct tasks_symbol *)0)->name) &&
	       ret->module_len < sizeof(((struct tasks_symbol *)0)->module);
}

static bool has_text(const char *text, const char *other, size_t len)
{
	return strlen(text) == len && !memcmp(text, other, len);
}

static bool is_symbol(const struct tasks_symbol *s, const struct part *p)
{
	return s->size == p->size && has_text(s->name, p->name, p->len) &&
	       has_text(s->module, p->module ? p->module : "", p->module_len);
}

static const struct tasks_symbol *find(const struct tasks_symbols *s, const struct part *p)
{
	const uint32_t *at = map64_get(&s->at, hash_bytes(HASH_START, p->name, p->len));

	for (uint32_t i = at ? *at + 1 : 0; i; i = s->list[i - 1].next)
		if (is_symbol(&s->list[i - 1], p))
			return &s->list[i - 1];
	return NULL;
}

static int add(struct tasks_symbols *s, const struct part *p)
{
	const uint64_t hash = hash_bytes(HASH_START, p->name, p->len);
	const uint32_t *before = map64_get(&s->at, hash);
	struct tasks_symbol to = {.size = p->size, .next = before ? *before + 1 : 0};

	memcpy(to.name, p->name, p->len);
	if (p->module)
		memcpy(to.module, p->module, p->module_len);
	if (mem_grow(&s->list, &s->cap, s->n, sizeof(*s->list)) ||
	    map64_put(&s->at, hash, (uint32_t)s->n) < 0)
		return -ENOMEM;
	s->list[s->n++] = to;
	return 0;
}

int tasks_symbols_want(struct tasks_symbols *s, const char *stack)
{
	struct part p;
	int code = 0;

	for (const char *line = stack; code == 0 && *line;) {
		if (take_line(line, &p) && s->n < SYMBOLS_MOST && !find(s, &p))
			code = add(s, &p);
		line = find_end(line);
		line += *line != '\0';
	}
	return code;
}

/* A symbol at @addr, which ends at @end, where that is known. */
static void consider(struct tasks_symbols *s, const struct part *p, uint64_t addr, uint64_t end)
{
	const uint32_t *at = map64_get(&s->at, hash_bytes(HASH_START, p->name, p->len));

	for (uint32_t i = at ? *at + 1 : 0; i; i = s->list[i - 1].next) {
		struct tasks_symbol *to = &s->list[i - 1];
		bool is_exact = end > addr && end - addr == to->size;
		if (!has_text(to->name, p->name, p->len) || (to->addr && !is_exact) ||
		    to->is_exact ||
		    !has_text(to->module, p->module ? p->module : "", p->module_len))
			continue;
		to->addr = addr;
		to->is_exact = is_exact;
	}
}

/* "ffffffffc0a51000 t ext4_sync_file	[ext4]". False: it is no line of a function. */
static bool take_symbol(const char *line, struct part *ret, uint64_t *ret_addr)
{
	const char *at = line;

	*ret = (struct part){0};
	if (number_take_hex(&at, ret_addr) < 0 || at[0] != ' ' || !at[1] ||
	    !strchr("tTwW", at[1]) || at[2] != ' ')
		return false;
	ret->name = at + 3;
	ret->len = strcspn(ret->name, "\t \n");
	at = ret->name + ret->len;
	if (*at == '\t' && at[1] == '[') {
		ret->module = at + 2;
		ret->module_len = strcspn(ret->module, "]\n");
	}
	return true;
}

static void search(struct tasks_symbols *s, const char *text)
{
	struct part open = {0}, p;
	uint64_t addr = 0, next;
	bool has_address = false;

	for (const char *line = text; *line;) {
		bool is_function = take_symbol(line, &p, &next);
		line = find_end(line);
		line += *line != '\0';
		if (!is_function)
			continue;
		has_address |= next != 0;
		/* Several symbols at one address end at the same one. */
		if (open.name && next != addr)
			consider(s, &open, addr, next);
		if (next && map64_get(&s->at, hash_bytes(HASH_START, p.name, p.len))) {
			open = p;
			addr = next;
			consider(s, &p, next, 0);
		} else if (next != addr) {
			open.name = NULL;
		}
	}
	s->are_withheld = !has_address;
}

int tasks_symbols_search(struct tasks_symbols *s, int file)
{
	char *text;
	size_t len;

	if (s->n == s->n_searched || file < 0)
		return 0;
	s->n_searched = s->n;
	if (lseek(file, 0, SEEK_SET) < 0 || fdio_read_rest(file, &text, &len) < 0) {
		s->are_withheld = true;
		return 0;
	}
	search(s, text);
	mem_free(text);
	return 0;
}

size_t tasks_symbols_frames(const struct tasks_symbols *s, const char *stack,
			    unsigned long long *ret)
{
	struct part p;
	size_t n = 0;

	for (const char *line = stack; *line && n < RAW_BLOCKED_FRAMES;) {
		const struct tasks_symbol *known = take_line(line, &p) ? find(s, &p) : NULL;
		if (known && known->addr)
			ret[n++] = known->addr + p.offset;
		line = find_end(line);
		line += *line != '\0';
	}
	return n;
}

void tasks_symbols_deinit(struct tasks_symbols *s)
{
	mem_free(s->list);
	map64_deinit(&s->at);
	*s = (struct tasks_symbols){0};
}
