// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unwinds stacks with libdwfl, for all architectures of elfutils. It never gets a file: files may
 * be any user's, and damaged debug information can make libdwfl read out of bounds. It gets an
 * image of each file built in memory: a header, two segments, and the exception tables, which were
 * read with bounds checks. So it has nothing else to search.
 * A space has one Dwfl, built when its mappings are first needed. The cost of a stack is limited by
 * the words of memory it reads, which are counted here, and by the number of frames.
 */
#include "internal.h"
#include "kontend/mem.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, TABLES_AT = PAGE, SEGMENTS = 2, THREAD = 1 };

/* An ELF image with the exception tables of a file and nothing else. */
struct image {
	Elf64_Ehdr head;
	Elf64_Phdr segments[SEGMENTS];
};

struct space {
	Dwfl *dwfl; /* NULL: not yet */
	Elf *machine;
	Elf64_Ehdr machine_head;
};

/* The current walk through a stack. */
struct walk {
	struct unwind_space *s;
	struct unwind_frame *frames;
	size_t n, most;
	uint64_t last_sp;
	enum unwind_end end; /* UNWIND_ENDS: libdwfl ended the walk */
};

static Elf64_Ehdr head_of(const struct unwind_machine *m)
{
	return (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = m->elf,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
	};
}

/* The lowest virtual address of the file, where its first mapping begins. */
static uint64_t lowest(const struct unwind_tables *t)
{
	uint64_t low = UINT64_MAX;

	for (size_t i = 0; i < t->n_segments; i++)
		if (t->segments[i].type == PT_LOAD && t->segments[i].addr < low)
			low = t->segments[i].addr;
	return low & ~(uint64_t)(PAGE - 1);
}

static bool make_image(struct unwind_tables *t, const struct unwind_machine *m)
{
	struct image h = {.head = head_of(m)};
	uint64_t at = TABLES_AT + (t->header - t->addr);

	if (t->image)
		return true;
	t->image = mem_calloc(1, TABLES_AT + t->len + sizeof(uint64_t));
	if (!t->image)
		return false;
	h.head.e_phoff = offsetof(struct image, segments);
	h.head.e_phentsize = sizeof(h.segments[0]);
	h.head.e_phnum = SEGMENTS;
	h.segments[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				     .p_flags = PF_R | PF_X,
				     .p_vaddr = lowest(t),
				     .p_filesz = PAGE,
				     .p_memsz = PAGE,
				     .p_align = PAGE};
	h.segments[1] = (Elf64_Phdr){.p_type = PT_GNU_EH_FRAME,
				     .p_flags = PF_R,
				     .p_offset = at,
				     .p_vaddr = t->header,
				     .p_filesz = TABLES_AT + t->len - at,
				     .p_memsz = TABLES_AT + t->len - at,
				     .p_align = 4};
	memcpy(t->image, &h, sizeof(h));
	memcpy(t->image + TABLES_AT, t->bytes, t->len);
	/* They are there once. */
	mem_free(t->bytes);
	t->bytes = t->image + TABLES_AT;
	return true;
}

static int find_elf(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr base,
		    char **ret_name, Elf **ret)
{
	struct unwind_tables *t = *user;

	(void)mod, (void)name, (void)base, (void)ret_name;
	*ret = elf_memory((char *)t->image, TABLES_AT + t->len);
	return -1;
}

static int no_debuginfo(Dwfl_Module *mod, void **user, const char *name, Dwarf_Addr base,
			const char *file, const char *link, GElf_Word crc, char **ret_name)
{
	(void)mod, (void)user, (void)name, (void)base, (void)file, (void)link, (void)crc;
	(void)ret_name;
	return -1;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *ret, void *arg)
{
	struct unwind_space *s = arg;
	uint64_t word;

	(void)dwfl;
	if (--s->reads_left < 0)
		return false;
	if (!unwind_stack_word(s, addr, &word)) {
		s->is_cut = true;
		return false;
	}
	*ret = word;
	return true;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **ret)
{
	(void)dwfl, (void)tid;
	*ret = arg;
	return true;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **ret)
{
	bool is_first = !*ret;

	(void)dwfl;
	*ret = arg;
	return is_first ? THREAD : 0;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwind_space *s = arg;
	const struct unwind_machine *m = s->u->machine;
	uint64_t value;

	for (unsigned i = 0; i < m->n_regs; i++) {
		Dwarf_Word word;

		if (!unwind_reg(s, i, &value))
			continue;
		word = value;
		/* The register without a DWARF number is the program counter. */
		if ((unsigned)m->perf_regs[i] == m->perf_ip)
			dwfl_thread_state_register_pc(thread, word);
		if (!dwfl_thread_state_registers(thread, (int)i, 1, &word) &&
		    (unsigned)m->perf_regs[i] != m->perf_ip)
			return false;
	}
	return true;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = no_debuginfo};
static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

/*
 * Reports adjacent mappings of one file, from @first on, as a module. Returns the index after the
 * last of them; *ret_end: its end address.
 */
static size_t report_module(struct unwind_space *s, struct space *own, size_t first,
			    uint64_t *ret_end)
{
	const struct unwind_view *v = unwind_view_of(s, &s->maps[first]);
	struct unwind_view view = v ? *v : (struct unwind_view){0};
	uint64_t low, end = s->maps[first].end;
	size_t i = first + 1;
	void **user;

	if (!v)
		return i;
	for (; i < s->n_maps && s->maps[i].object == s->maps[first].object; i++)
		end = s->maps[i].end;
	low = lowest(view.tables) + view.bias;
	if (low < *ret_end || low > s->maps[first].start || end <= low ||
	    !make_image((struct unwind_tables *)(uintptr_t)view.tables, s->u->machine))
		return i;
	Dwfl_Module *mod = dwfl_report_module(own->dwfl, "", low, end);
	if (mod && dwfl_module_info(mod, &user, NULL, NULL, NULL, NULL, NULL, NULL))
		*user = (void *)(uintptr_t)view.tables;
	*ret_end = end;
	return i;
}

static bool set_up(struct unwind_space *s)
{
	struct space *own = s->own;
	uint64_t end = 0;

	if (own->dwfl)
		return true;
	own->dwfl = dwfl_begin(&callbacks);
	if (!own->dwfl)
		return false;
	dwfl_report_begin(own->dwfl);
	for (size_t i = 0; i < s->n_maps;)
		i = report_module(s, own, i, &end);
	dwfl_report_end(own->dwfl, NULL, NULL);
	if (dwfl_attach_state(own->dwfl, own->machine, THREAD, &thread_callbacks, s))
		return true;
	dwfl_end(own->dwfl);
	own->dwfl = NULL;
	return false;
}

static int end_walk(struct walk *w, enum unwind_end end)
{
	w->end = end;
	return DWARF_CB_ABORT;
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct walk *w = arg;
	struct unwind_space *s = w->s;
	Dwarf_Addr pc;
	Dwarf_Word sp;
	bool is_leaf;

	if (!dwfl_frame_pc(frame, &pc, &is_leaf) || !pc)
		return end_walk(w, UNWIND_DONE);
	if (w->n++ == 0) {
		s->unknown_ip = s->ip;
		return DWARF_CB_OK;
	}
	if (w->n > w->most) {
		w->n--;
		return end_walk(w, UNWIND_MOST);
	}
	if (dwfl_frame_reg(frame, s->u->machine->perf_sp, &sp) == 0) {
		if (sp < w->last_sp || (sp == w->last_sp && w->n > 2)) {
			w->n--;
			return end_walk(w, UNWIND_LOOP);
		}
		w->last_sp = sp;
	}
	unwind_put_frame(s, pc, !is_leaf, &w->frames[w->n - 1]);
	s->unknown_ip = w->frames[w->n - 1].at;
	return DWARF_CB_OK;
}

/*
 * Why libdwfl found no further frame. It treats a return address that it cannot read like the
 * missing one of the outermost function.
 */
static enum unwind_end end_of(struct unwind_space *s, int code)
{
	const struct unwind_map *m = unwind_find_map(s, s->unknown_ip);

	if (code == 0)
		return s->is_cut ? UNWIND_CUT : UNWIND_DONE;
	if (s->reads_left < 0)
		return UNWIND_BAD;
	if (!m || !unwind_view_of(s, m))
		return unwind_no_tables(s);
	return s->is_cut ? UNWIND_CUT : UNWIND_NO_INFO;
}

static bool is_for(const struct unwind_machine *m)
{
	return m->elf == EM_X86_64 || m->elf == EM_AARCH64;
}

static int open_space(struct unwind_space *s)
{
	struct space *own = mem_calloc(1, sizeof(*own));

	if (!own)
		return -ENOMEM;
	elf_version(EV_CURRENT);
	own->machine_head = head_of(s->u->machine);
	own->machine = elf_memory((char *)&own->machine_head, sizeof(own->machine_head));
	s->own = own;
	return 0;
}

static void forget(struct unwind_space *s)
{
	struct space *own = s->own;

	dwfl_end(own->dwfl);
	own->dwfl = NULL;
}

static void close_space(struct unwind_space *s)
{
	struct space *own = s->own;

	forget(s);
	elf_end(own->machine);
	mem_free(own);
}

static size_t walk(struct unwind_space *s, struct unwind_frame *ret, size_t most,
		   enum unwind_end *ret_end)
{
	struct space *own = s->own;
	struct walk w = {.s = s, .frames = ret, .most = most, .last_sp = s->sp, .end = UNWIND_ENDS};

	s->unknown_ip = s->ip;
	if (!set_up(s))
		return 1;
	int code = dwfl_getthread_frames(own->dwfl, THREAD, take_frame, &w);
	*ret_end = w.end == UNWIND_ENDS ? end_of(s, code) : w.end;
	return w.n ? w.n : 1;
}

/* The tables of a file as libdw has them. */
struct rules {
	Elf *elf;
	Dwarf_CFI *cfi;
};

static void free_rules(void *p)
{
	struct rules *r = p;

	dwarf_cfi_end(r->cfi);
	elf_end(r->elf);
	mem_free(r);
}

/* NULL: they cannot be read, or there is no memory. */
static struct rules *rules_of(struct unwind_tables *t, const struct unwind_machine *m)
{
	struct rules *r;

	if (t->rules)
		return t->rules;
	elf_version(EV_CURRENT);
	r = make_image(t, m) ? mem_calloc(1, sizeof(*r)) : NULL;
	if (!r)
		return NULL;
	r->elf = elf_memory((char *)t->image, TABLES_AT + t->len);
	r->cfi = r->elf ? dwarf_getcfi_elf(r->elf) : NULL;
	t->rules = r;
	t->free_rules = free_rules;
	return r;
}

/* DWARF numbers of the registers that rules may use. */
struct rule_regs {
	unsigned sp, fp;
};

static struct rule_regs regs_of(const struct unwind_machine *m)
{
	enum { X86_SP = 7, X86_FP = 6, ARM64_SP = 31, ARM64_FP = 29 };

	return m->elf == EM_X86_64 ? (struct rule_regs){X86_SP, X86_FP}
				   : (struct rule_regs){ARM64_SP, ARM64_FP};
}

/* Where the frame begins: a register and a distance. */
static bool take_begin(Dwarf_Frame *f, struct rule_regs regs, struct unwind_rule *ret)
{
	uint64_t reg, distance;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(f, &ops, &n) < 0 || n != 1)
		return false;
	if (ops->atom == DW_OP_bregx) {
		reg = ops->number;
		distance = ops->number2;
	} else if (ops->atom >= DW_OP_breg0 && ops->atom <= DW_OP_breg31) {
		reg = ops->atom - DW_OP_breg0;
		distance = ops->number;
	} else {
		return false;
	}
	ret->kind = reg == regs.fp ? UNWIND_RULE_FP : UNWIND_RULE_SP;
	ret->frame = (int32_t)distance;
	return (reg == regs.fp || reg == regs.sp) && ret->frame == (int64_t)distance;
}

enum saved { SAVED_THERE, SAVED_NOT, SAVED_NOWHERE, SAVED_OTHERWISE };

/* Where the caller's register is: so far from the frame's begin. */
static enum saved find_saved(Dwarf_Frame *f, int reg, int32_t *ret)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(f, reg, memory, &ops, &n) < 0)
		return SAVED_OTHERWISE;
	if (n == 0)
		return ops ? SAVED_NOWHERE : SAVED_NOT;
	if (ops[0].atom != DW_OP_call_frame_cfa || n > 2 ||
	    (n == 2 && ops[1].atom != DW_OP_plus_uconst))
		return SAVED_OTHERWISE;
	*ret = n == 2 ? (int32_t)(int64_t)ops[1].number : 0;
	return n == 1 || *ret == (int64_t)ops[1].number ? SAVED_THERE : SAVED_OTHERWISE;
}

static int take_rule(Dwarf_Frame *f, const struct unwind_machine *m, struct unwind_rule *ret)
{
	const struct rule_regs regs = regs_of(m);
	bool is_signal;
	int link = dwarf_frame_info(f, NULL, NULL, &is_signal);
	enum saved where = link < 0 ? SAVED_OTHERWISE : find_saved(f, link, &ret->ret);

	if (where == SAVED_NOWHERE) {
		ret->kind = UNWIND_RULE_LAST;
		return 0;
	}
	ret->in_link = where == SAVED_NOT;
	if (where == SAVED_OTHERWISE || is_signal || !take_begin(f, regs, ret))
		return -ENOTSUP;
	where = find_saved(f, (int)regs.fp, &ret->fp);
	/* Functions need not say that they leave it alone, or that it means nothing. */
	ret->fp_unchanged = where != SAVED_THERE;
	return where == SAVED_OTHERWISE ? -ENOTSUP : 0;
}

int unwind_rule_by_libdw(struct unwind_tables *t, const struct unwind_machine *m, uint64_t addr,
			 struct unwind_rule *ret)
{
	struct rules *r = rules_of(t, m);
	Dwarf_Frame *f;

	*ret = (struct unwind_rule){0};
	if (!r)
		return -ENOMEM;
	if (!r->cfi || dwarf_cfi_addrframe(r->cfi, addr, &f) != 0)
		return -ENOENT;
	int code = take_rule(f, m, ret);
	free(f);
	return code;
}

static const struct unwind_backend backend = {is_for, open_space, close_space, forget, walk};

const struct unwind_backend *unwind_by_libdw(void)
{
	return &backend;
}
