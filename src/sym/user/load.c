// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads one file in stages, with a pause after each step: opens it, finds the best symbol table,
 * reads names and symbols piece by piece, sorts digit by digit. The time of a step does not grow
 * with the file.
 * Once the source of the symbols is known, a cached table of these files replaces the rest.
 * The best table is .symtab of the file, else that of a separate file, else the compressed one
 * together with .dynsym (.gnu_debugdata leaves its symbols out), else .dynsym alone.
 */
#include "internal.h"

#include "kontend/clock.h"
#include "kontend/mem.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAMES_STEP = 2 << 20, SYMBOLS_STEP = 1 << 16 };

void usersym_load_end(struct usersym_load *l)
{
	elfimg_close(&l->main);
	elfimg_close(&l->debug);
	elfimg_close(&l->packed);
	mem_free(l->unpacked);
	if (l->root_fd >= 0)
		close(l->root_fd);
	*l = (struct usersym_load){.root_fd = -1};
}

/* The image of the open file, new or known. */
static struct usersym_image *image_of(struct usersyms *u, const struct elfimg *e, bool *ret_new)
{
	struct stat st = {0};

	if (e->fd >= 0 && !e->mem)
		fstat(e->fd, &st);
	struct usersym_image like = {
		.dev = st.st_dev,
		.file = usersym_file_of(&st),
		.answer = USERSYM_NO_TABLE,
		.given = -1,
		.id_len = (uint8_t)(e->build_id_len < USERSYM_ID_MAX ? e->build_id_len
								     : USERSYM_ID_MAX),
	};
	like.file.size = e->size;
	memcpy(like.id, e->build_id, like.id_len);
	*ret_new = false;
	for (size_t i = 0; i < u->n_images; i++) {
		struct usersym_image *x = u->images[i];
		if (x->dev == like.dev && memcmp(&x->file, &like.file, sizeof(x->file)) == 0)
			return x;
	}
	if (mem_grow(&u->images, &u->cap_images, u->n_images, sizeof(struct usersym_image *)) < 0)
		return NULL;
	struct usersym_image *x = mem_dup(&like, 1, sizeof(like));
	if (!x)
		return NULL;
	x->segments = mem_dup(e->segments, e->n_segments, sizeof(*e->segments));
	x->n_segments = x->segments ? e->n_segments : 0;
	if (!x->segments && e->n_segments) {
		mem_free(x);
		return NULL;
	}
	u->images[u->n_images++] = x;
	u->fixed_bytes += sizeof(*x) + x->n_segments * sizeof(*x->segments);
	*ret_new = true;
	return x;
}

/* The sources are known; @next reads them, unless the cache has them. */
static void look_for_kept(struct usersym_load *l, enum usersym_stage next)
{
	l->at = 0;
	l->stage = STAGE_KEPT;
	l->after_kept = next;
}

static bool add_source(struct usersym_load *l, const struct elfimg *e, uint32_t type)
{
	const struct elfimg_section *s = elfimg_find_type(e, type);
	const struct elfimg_section *names = s ? elfimg_linked(e, s, SHT_STRTAB) : NULL;

	if (!names || s->size < elfimg_symbol_size(e))
		return false;
	l->sources[l->n_sources++] = (struct usersym_source){e, s, names};
	return true;
}

/* The given debug file was checked before. */
static bool add_given(struct usersym_load *l)
{
	int fd = l->image->given < 0 ? -1 : fcntl(l->image->given, F_DUPFD_CLOEXEC, 0);

	if (fd < 0 || elfimg_open_fd(&l->debug, fd) < 0)
		return false;
	return add_source(l, &l->debug, SHT_SYMTAB);
}

bool usersym_load_begin(struct usersyms *u, struct usersym_object *o)
{
	struct usersym_load *l = &u->load;
	bool is_new;

	*l = (struct usersym_load){.root_fd = -1};
	o->answer = usersym_open(u, o, &l->main, &l->root_fd);
	if (o->answer != USERSYM_OK) {
		l->main.fd = -1;
		usersym_load_end(l);
		/* The file was readable the last time. */
		if (o->image && o->image->answer == USERSYM_PENDING)
			o->image->answer = o->answer;
		return false;
	}
	o->image = image_of(u, &l->main, &is_new);
	if (!o->image)
		o->answer = USERSYM_NO_MEMORY;
	if (!o->image || (!is_new && o->image->answer != USERSYM_PENDING)) {
		usersym_load_end(l);
		return false;
	}
	/* When a file is read again, its addresses stay known. */
	if (is_new)
		o->answer = USERSYM_PENDING;
	l->object = o;
	l->image = o->image;
	l->stage = STAGE_DEBUG;
	if (add_source(l, &l->main, SHT_SYMTAB) || add_given(l))
		look_for_kept(l, STAGE_NAMES);
	return true;
}

/* Continues after the search for separate symbols returned @code. */
static int found(struct usersym_load *l, int code, enum usersym_stage next)
{
	if (code < 0)
		return code;
	l->stage = next;
	if (code == 1 && add_source(l, &l->debug, SHT_SYMTAB))
		look_for_kept(l, STAGE_NAMES);
	else if (next == STAGE_PACKED)
		look_for_kept(l, STAGE_PACKED);
	return 0;
}

static int step_kept(struct usersyms *u, struct usersym_load *l)
{
	l->stage = l->after_kept;
	l->image->poor = l->after_kept == STAGE_PACKED;
	if (symbol_cache_find(u, l)) {
		l->image->answer = USERSYM_OK;
		l->stage = STAGE_DONE;
	}
	return 0;
}

static int step_packed(struct usersym_load *l)
{
	int code = usersym_debug_packed(l);

	if (code < 0)
		return code;
	if (code == 1)
		add_source(l, &l->packed, SHT_SYMTAB);
	add_source(l, &l->main, SHT_DYNSYM);
	l->at = 0;
	l->stage = l->n_sources ? STAGE_NAMES : STAGE_STUBS;
	return 0;
}

static int step_names(struct usersym_load *l)
{
	const struct usersym_source *s = &l->sources[l->source];
	struct symtab *t = &l->image->table;

	if (!l->at) {
		/* Before allocating: the file must have these bytes. */
		if (s->names->offset > s->elf->size || !s->names->size ||
		    s->names->size > s->elf->size - s->names->offset)
			return -ENOEXEC;
		l->text_base = t->text_len;
		if (s->names->size > SYMTAB_TEXT_MOST)
			return -EFBIG;
		int code = symtab_reserve_text(t, (size_t)s->names->size);
		if (code < 0)
			return code;
	}
	uint64_t left = s->names->size - l->at;
	size_t n = left < NAMES_STEP ? (size_t)left : NAMES_STEP;
	if (!elfimg_read(s->elf, s->names->offset + l->at, t->text + t->text_len, n))
		return -ENOEXEC;
	t->text_len += n;
	l->at += n;
	if (l->at == s->names->size) {
		t->text[t->text_len - 1] = '\0';
		l->at = 0;
		l->stage = STAGE_SYMBOLS;
	}
	return 0;
}

/* True for functions, and for labels in code that the assembler did not make. */
static bool is_wanted(const struct elfimg *e, const struct elfimg_symbol *s, const char *name)
{
	if (s->section == SHN_UNDEF || !*name)
		return false;
	if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC)
		return true;
	return s->type == STT_NOTYPE && s->section < e->n_sections &&
	       e->sections[s->section].flags & SHF_EXECINSTR && s->visibility != STV_HIDDEN &&
	       s->visibility != STV_INTERNAL && *name != '$';
}

/* Locks of programs are in variables. */
static bool is_variable(const struct elfimg *e, const struct elfimg_symbol *s, const char *name)
{
	return s->type == STT_OBJECT && s->size && *name && s->section < e->n_sections &&
	       e->sections[s->section].flags & SHF_WRITE;
}

/* In relocatable files, symbols have offsets into their section. */
static uint64_t address_of(const struct elfimg *e, const struct elfimg_symbol *s)
{
	bool is_loose = e->type == ET_REL && s->section < e->n_sections;

	return s->addr + (is_loose ? e->sections[s->section].addr : 0);
}

static int add_symbols(struct usersym_load *l, const struct usersym_source *s, const uint8_t *p,
		       size_t n)
{
	struct symtab *t = &l->image->table;
	size_t size = elfimg_symbol_size(s->elf);

	for (size_t i = 0; i < n; i++) {
		struct elfimg_symbol x;
		elfimg_symbol(s->elf, p + i * size, &x);
		if (x.name >= t->text_len - l->text_base)
			continue;
		const char *name = t->text + l->text_base + x.name;
		bool variable = is_variable(s->elf, &x, name);
		if (!variable && !is_wanted(s->elf, &x, name))
			continue;
		struct symtab_entry e = {
			.addr = address_of(s->elf, &x),
			.size = x.size < UINT32_MAX ? (uint32_t)x.size : UINT32_MAX,
			.name = (uint32_t)l->text_base + x.name,
			.rank = symtab_rank(&x),
			.variable = variable,
		};
		int code = symtab_add(t, &e);
		if (code < 0)
			return code;
	}
	return 0;
}

static int step_symbols(struct usersym_load *l)
{
	const struct usersym_source *s = &l->sources[l->source];
	size_t size = elfimg_symbol_size(s->elf);
	uint64_t left = s->symbols->size / size - l->at;
	size_t n = left < SYMBOLS_STEP ? (size_t)left : SYMBOLS_STEP;
	uint64_t offset = s->symbols->offset + l->at * size;

	if (offset > s->elf->size || n * size > s->elf->size - offset)
		return -ENOEXEC;
	uint8_t *p = mem_calloc(n, size);
	if (!p)
		return -ENOMEM;
	int code = elfimg_read(s->elf, offset, p, n * size) ? add_symbols(l, s, p, n) : -ENOEXEC;
	mem_free(p);
	l->at += n;
	if (left == n) {
		l->at = 0;
		l->stage = ++l->source < l->n_sources ? STAGE_NAMES : STAGE_STUBS;
	}
	return code;
}

/*
 * Names the stubs of .plt and .plt.sec after the functions that they call. Stub n of the section
 * belongs to relocation n of .rela.plt; .plt begins with one common stub (x86-64: 16 bytes, arm64:
 * 32). Linkers differ in what else they put there, so stubs get names only if the section has the
 * expected size.
 */

enum { STUB_SIZE = 16, STUBS_MOST = 1 << 20 };

/* All needed at once: relocations, their symbols, and the names of these. */
struct stubs {
	Elf64_Rela *relocs;
	uint8_t *symbols;
	char *names;
	size_t n, symbols_len, names_len, symbol_size;
};

static void stubs_deinit(struct stubs *s)
{
	mem_free(s->relocs);
	mem_free(s->symbols);
	mem_free(s->names);
}

static int stubs_read(const struct elfimg *e, const struct elfimg_section *rela, struct stubs *s)
{
	const struct elfimg_section *symbols = elfimg_linked(e, rela, SHT_DYNSYM);
	const struct elfimg_section *names = symbols ? elfimg_linked(e, symbols, SHT_STRTAB) : NULL;
	size_t most = STUBS_MOST * sizeof(Elf64_Rela), len;
	void *p;

	if (!names)
		return -ENOEXEC;
	int code = elfimg_load(e, rela, most, &p, &len);
	if (code < 0)
		return code;
	s->relocs = p;
	s->n = len / sizeof(Elf64_Rela);
	code = elfimg_load(e, symbols, most, &p, &s->symbols_len);
	if (code < 0)
		return code;
	s->symbols = p;
	code = elfimg_load(e, names, SYMTAB_TEXT_MOST, &p, &s->names_len);
	if (code < 0)
		return code;
	s->names = p;
	s->names[s->names_len - 1] = '\0';
	s->symbol_size = elfimg_symbol_size(e);
	return 0;
}

static const char *stub_name(const struct elfimg *e, const struct stubs *s, size_t i)
{
	uint64_t index = ELF64_R_SYM(s->relocs[i].r_info);
	struct elfimg_symbol sym;

	if (!index || index >= s->symbols_len / s->symbol_size)
		return NULL;
	elfimg_symbol(e, s->symbols + index * s->symbol_size, &sym);
	return sym.name < s->names_len && s->names[sym.name] ? s->names + sym.name : NULL;
}

static int add_stubs(const struct elfimg *e, const struct stubs *s,
		     const struct elfimg_section *plt, uint64_t head, struct symtab *t)
{
	if (plt->size != head + s->n * STUB_SIZE)
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		const char *name = stub_name(e, s, i);
		struct symtab_entry x = {
			.addr = plt->addr + head + i * STUB_SIZE, .size = STUB_SIZE, .plt = true};
		int code = name ? symtab_add_text(t, &x, name, strlen(name)) : 0;
		if (code < 0)
			return code;
	}
	return 0;
}

static int add_all_stubs(const struct elfimg *e, struct symtab *t)
{
	const struct elfimg_section *rela = elfimg_find(e, ".rela.plt");
	const struct elfimg_section *plt = elfimg_find(e, ".plt");
	const struct elfimg_section *second = elfimg_find(e, ".plt.sec");
	bool is_arm = e->machine == EM_AARCH64;
	struct stubs s = {0};
	int code = 0;

	if (!e->is_64 || !rela || (e->machine != EM_X86_64 && !is_arm))
		return 0;
	code = stubs_read(e, rela, &s);
	if (!code && plt)
		code = add_stubs(e, &s, plt, is_arm ? 32 : STUB_SIZE, t);
	if (!code && second)
		code = add_stubs(e, &s, second, 0, t);
	stubs_deinit(&s);
	return code == -ENOEXEC ? 0 : code;
}

static int step_stubs(struct usersym_load *l)
{
	l->stage = STAGE_SORT;
	return add_all_stubs(&l->main, &l->image->table);
}

static int step_sort(struct usersyms *u, struct usersym_load *l)
{
	bool more;
	int code = symtab_sort_step(&l->image->table, &more);

	if (code < 0 || more)
		return code;
	l->image->answer = l->image->table.n ? USERSYM_OK : USERSYM_NO_TABLE;
	l->stage = STAGE_DONE;
	symbol_cache_want(u, l);
	return 0;
}

static int load_step(struct usersyms *u, struct usersym_load *l)
{
	int code;

	switch (l->stage) {
	case STAGE_DEBUG:
		return found(l, usersym_debug_by_id(u, l), STAGE_LINK);
	case STAGE_LINK:
		code = usersym_debug_by_link(u, l);
		return found(l, code, code == 2 ? STAGE_SUM : STAGE_PACKED);
	case STAGE_SUM:
		code = usersym_debug_sum(l);
		return found(l, code, code == 2 ? STAGE_SUM : STAGE_LINK);
	case STAGE_KEPT:
		return step_kept(u, l);
	case STAGE_PACKED:
		return step_packed(l);
	case STAGE_NAMES:
		return step_names(l);
	case STAGE_SYMBOLS:
		return step_symbols(l);
	case STAGE_STUBS:
		return step_stubs(l);
	default:
		return step_sort(u, l);
	}
}

/* Symbols read before the file proved damaged are dropped. */
static void give_up(struct usersym_load *l, int code)
{
	symtab_deinit(&l->image->table);
	l->image->answer = code == -ENOMEM ? USERSYM_NO_MEMORY : USERSYM_NOT_ELF;
	l->stage = STAGE_DONE;
}

bool usersym_load_step(struct usersyms *u)
{
	struct usersym_load *l = &u->load;
	uint64_t begun = clock_now_ns();
	int code = load_step(u, l);

	l->spent_ns += clock_now_ns() - begun;
	if (code < 0)
		give_up(l, code);
	if (l->stage != STAGE_DONE)
		return true;
	l->object->answer = USERSYM_OK;
	usersym_load_end(l);
	return false;
}
