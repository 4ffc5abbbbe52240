// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel symbols from a file that the user has given: a copy of /proc/kallsyms, or a vmlinux. The
 * recorded kernel ran at another address if it was built or booted with KASLR. perf record has
 * written where one symbol, _text or _stext, was; the file says where it has that symbol, and all
 * of the kernel's symbols move by the difference, as in perf. Modules are loaded somewhere else at
 * each boot, so a file that has to be moved has none of them.
 */
#include "kernel.h"
#include "kontend/elfimg.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/text.h"
#include "reader.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SYMBOLS_MOST = 256 << 20, LINE = 24, NAME_MOST = 512 };

struct place {
	uint64_t addr;
	const char *name;
	char type;
};

static int compare(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* As in kallsyms: code and data, small letters for local symbols; 0: not in the kernel's memory. */
static char type_of(const struct elfimg *e, const struct elfimg_symbol *s)
{
	const struct elfimg_section *in =
		s->section && s->section < e->n_sections ? &e->sections[s->section] : NULL;

	if (!in || !(in->flags & SHF_ALLOC) || !s->addr || s->type == STT_SECTION ||
	    s->type == STT_FILE)
		return 0;
	char c = in->flags & SHF_EXECINSTR ? 't' : 'd';
	return s->bind == STB_LOCAL ? c : (char)(c - 'a' + 'A');
}

/* Prints the @n places as lines of kallsyms. 0 or -ENOMEM. */
static int put_lines(const struct place *p, size_t n, struct kernel_given *ret)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += LINE + strlen(p[i].name);
	ret->text = mem_calloc(len + 1, 1);
	if (!ret->text)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ret->len +=
			(size_t)snprintf(ret->text + ret->len, len + 1 - ret->len,
					 "%016" PRIx64 " %c %s\n", p[i].addr, p[i].type, p[i].name);
	return 0;
}

static size_t take_symbols(const struct elfimg *e, const uint8_t *bytes, size_t len,
			   const char *names, size_t names_len, struct place *ret)
{
	size_t size = elfimg_symbol_size(e), n = 0;

	for (size_t at = 0; at + size <= len; at += size) {
		struct elfimg_symbol s;

		elfimg_symbol(e, bytes + at, &s);
		char type = type_of(e, &s);
		const char *name = s.name < names_len ? names + s.name : "";
		size_t most = s.name < names_len ? names_len - s.name : 0;
		if (type && *name && strnlen(name, most) < (most < NAME_MOST ? most : NAME_MOST))
			ret[n++] = (struct place){s.addr, name, type};
	}
	return n;
}

static int read_table(const struct elfimg *e, struct kernel_given *ret)
{
	const struct elfimg_section *s = elfimg_find_type(e, SHT_SYMTAB);
	const struct elfimg_section *t = s ? elfimg_linked(e, s, SHT_STRTAB) : NULL;
	void *bytes = NULL, *names = NULL;
	size_t len = 0, names_len = 0;
	int r = t ? elfimg_load(e, s, SYMBOLS_MOST, &bytes, &len) : -ENODATA;

	if (!r)
		r = elfimg_load(e, t, SYMBOLS_MOST, &names, &names_len);
	struct place *p = r ? NULL : mem_calloc(len / elfimg_symbol_size(e) + 1, sizeof(*p));
	if (!r && !p)
		r = -ENOMEM;
	if (!r) {
		size_t n = take_symbols(e, bytes, len, names, names_len, p);
		qsort(p, n, sizeof(*p), compare);
		r = put_lines(p, n, ret);
	}
	mem_free(p);
	mem_free(names);
	mem_free(bytes);
	return r;
}

/* @fd goes to the image. */
static int read_elf(int fd, struct kernel_given *ret)
{
	struct elfimg e = {.fd = -1};
	int r = elfimg_open_fd(&e, fd);

	if (!r)
		r = read_table(&e, ret);
	if (!r && e.build_id_len <= sizeof(ret->id)) {
		memcpy(ret->id, e.build_id, e.build_id_len);
		ret->id_len = e.build_id_len;
	}
	elfimg_close(&e);
	return r;
}

/* Where the line of @name begins; NULL: there is none. */
static const char *line_of(const struct kernel_given *g, const char *name)
{
	char end[16];
	int n = snprintf(end, sizeof(end), " %s\n", name);
	const char *at = g->text, *p;

	while ((p = memmem(at, g->len - (size_t)(at - g->text), end, (size_t)n))) {
		at = p + n;
		while (p > g->text && p[-1] != '\n')
			p--;
		/* "ADDRESS TYPE NAME": an object may have that name in a module, after a tab. */
		size_t digits = strspn(p, "0123456789abcdefABCDEF");
		if (digits && p[digits] == ' ' && !memcmp(p + digits + 2, end, (size_t)n))
			return p;
	}
	return NULL;
}

static uint64_t address_of(const struct kernel_given *g, const char *name)
{
	const char *line = line_of(g, name);

	return line ? strtoull(line, NULL, 16) : 0;
}

int kernel_given_read(struct kernel_given *ret, const struct reader_options *o, struct error *err)
{
	uint8_t mark[SELFMAG] = {0};
	int fd =
		o->open ? o->open(o->open_ctx, o->symbols) : open(o->symbols, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return error_errno(err, o->open ? fd : -errno,
				   "Cannot open the kernel symbols '%s'", o->symbols);
	*ret = (struct kernel_given){.path = o->symbols};
	int r;
	if (fdio_read_at(fd, 0, mark, sizeof(mark)) && !memcmp(mark, ELFMAG, SELFMAG)) {
		r = read_elf(fd, ret);
	} else {
		r = fdio_read_rest(fd, &ret->text, &ret->len);
		close(fd);
	}
	if (r == -ENOMEM)
		return r;
	if (r == -ENODATA)
		return error_set(err, r,
				 "Cannot use the kernel symbols '%s': the file has no "
				 "symbol table; give a vmlinux that is not stripped",
				 o->symbols);
	if (r)
		return error_errno(err, r, "Cannot read the kernel symbols '%s'", o->symbols);
	ret->at[0] = address_of(ret, "_text");
	ret->at[1] = address_of(ret, "_stext");
	if (ret->at[0] || ret->at[1])
		return 0;
	return error_set(err, -EINVAL,
			 "Cannot use the kernel symbols '%s': the file has no address "
			 "of _text or _stext, as /proc/kallsyms and vmlinux have",
			 o->symbols);
}

void kernel_given_deinit(struct kernel_given *g)
{
	mem_free(g->text);
	*g = (struct kernel_given){0};
}

/* Lines of the kernel itself; those of modules end in "\t[module]". */
static int move(struct kernel_given *g, uint64_t by, struct kallsyms_text *ret)
{
	const char *end = g->text + g->len, *eol;
	size_t lines = 1;

	for (const char *p = g->text; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	size_t room = g->len + lines * LINE + 1;
	ret->heap = mem_calloc(room, 1);
	if (!ret->heap)
		return -ENOMEM;
	for (const char *p = g->text; p < end; p = eol + 1) {
		size_t digits = strspn(p, "0123456789abcdefABCDEF");

		eol = memchr(p, '\n', (size_t)(end - p));
		eol = eol ? eol : end;
		size_t len = (size_t)(eol - p);
		/* absolute symbols are no places: they do not move */
		if (!digits || digits + 2 > len || memchr(p, '\t', len) || p[digits + 1] == 'a' ||
		    p[digits + 1] == 'A')
			continue;
		ret->len += (size_t)snprintf(
			ret->heap + ret->len, room - ret->len, "%016" PRIx64 "%.*s\n",
			(uint64_t)strtoull(p, NULL, 16) + by, (int)(len - digits), p + digits);
	}
	ret->text = ret->heap;
	return 0;
}

int kernel_given_symbols(struct kernel_given *g, const struct features *f,
			 const struct kernel_place *k, struct kallsyms_text *ret,
			 char say[KERNEL_WHY])
{
	if (g->id_len && f->build_id_len &&
	    (g->id_len != f->build_id_len || memcmp(g->id, f->build_id, g->id_len) != 0)) {
		snprintf(say, KERNEL_WHY, "No kernel symbols: '%s' is another build of the kernel",
			 g->path);
		return 0;
	}
	uint64_t here = g->at[k->is_stext];
	uint64_t by = here && k->addr ? k->addr - here : 0;
	if (k->addr && !here) {
		snprintf(say, KERNEL_WHY, "No kernel symbols: '%s' has no %s", g->path,
			 k->is_stext ? "_stext" : "_text");
		return 0;
	}
	if (by) {
		snprintf(say, KERNEL_WHY,
			 "Kernel symbols are those of '%s', moved by %s0x%" PRIx64
			 ", and of no module",
			 g->path, (int64_t)by < 0 ? "-" : "", (int64_t)by < 0 ? -by : by);
		return move(g, by, ret);
	}
	snprintf(say, KERNEL_WHY, "Kernel symbols are those of '%s'%s", g->path,
		 k->addr ? "" : ", not moved: the recording does not say where its kernel ran");
	ret->text = ret->heap = g->text;
	ret->len = g->len;
	g->text = NULL;
	return 0;
}
