// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of threads that sleep. Of their registers mostly only the stack pointer, the instruction
 * pointer and maybe the frame pointer are known. The tables of libraries mostly need no other: what
 * the functions within a system call's wrapper have saved is on the stack. Where a function has no
 * tables, its instructions up to its return say where its caller is. Where they do not, or it
 * counts from its frame pointer, which is not known, its caller is searched: the next word on the
 * stack that is a return address, right after a call of that very function. From there on the
 * tables are tried again, with the frame pointer that the function has saved.
 *
 * Compilers split functions: sem_wait() of glibc jumps to a function without an exported name when
 * it has to sleep. Such a part has the name of the function that was called and jumps to it, or of
 * the only one of the C library that refers to it.
 */
#include "internal.h"
#include "kontend/futexclass.h"
#include "kontend/hash.h"
#include "kontend/load.h"
#include "kontend/map64.h"
#include "kontend/mem.h"
#include "kontend/sleepstack.h"
#include "user/internal.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

enum {
	STACK_FIRST = 1 << 13,	/* bytes of the stack that are read, */
	STACK_MOST = 1 << 16,	/* and where they do not suffice */
	SEARCH_MOST = 1 << 14,	/* bytes in which a caller is searched */
	SYMBOLS_MOST = 8 << 20, /* bytes of symbols that are kept, and of tables for unwinding */
	TABLES_MOST = 4 << 20,
	/* A call of x86-64 by a word near the code, as of a library's functions. */
	CALL_BY_SIZE = 6,
	CALL_BY = 0xff,
	CALL_BY_MORE = 0x15,
	/* A stub for a library's function: it jumps by a word; a mark for the CPU may be before. */
	STUB_SIZE = 12,
	STUB_MARK_SIZE = 4,
	STUB_PREFIX = 0xf2,
	JUMP_BY_MORE = 0x25,
	/* Others with a distance to their end. */
	JUMP_IF = 0x0f,
	JUMP_IF_MORE = 0x80,
	JUMP_IF_MASK = 0xf0,
	ADDRESS = 0x8d,
	ADDRESS_NEAR = 0x05,
	ADDRESS_MASK = 0xc7,
	REFERS_BEFORE = 2,
	REFERS_SIZE = REFERS_BEFORE + 4, /* a short jump is the last two of these bytes */
	/* Of arm64: a word, with the distance in words in its lower bits. */
	ARM64_BRANCH = 0x14000000,
	ARM64_BRANCH_MASK = 0x7c000000,
	ARM64_BRANCH_SHIFT = 6,
	CODE_MOST = 8 << 20, /* bytes of a library's code that are searched, */
	CODE_STEP = 1 << 14, /* in steps */
	JUMPS_MOST = 512,    /* bytes of a function that may end with a jump */
};

static const uint8_t stub_mark[STUB_MARK_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};

struct sleepstack {
	const char *proc; /* the caller's */
	bool keep;
	struct usersyms *files;
	struct unwind *unwind;
	struct unwind_space *space;
	struct unwind_map *maps; /* executable ones */
	size_t n_maps, cap_maps;
	const struct sleepstack_map *all; /* the caller's */
	size_t n_all;
	struct map64 parts; /* where the only function is that refers to a part; 0: there is none */
	uint8_t stack[STACK_MOST];
	uint8_t code[CODE_STEP];
};

/* A thread whose stack is unwound. */
struct thread {
	struct sleepstack *s;
	sleepstack_read *read;
	void *arg;
	uint64_t sp;
	uint64_t fp;   /* where the tables begin; 0: not known */
	uint64_t mask; /* of registers, at the begin; 0: only these are known */
	const uint64_t *regs;
	size_t len;  /* bytes of the stack that were read */
	size_t most; /* frames */
	bool pending;
};

static void close_files(struct sleepstack *s)
{
	unwind_space_free(s->space);
	unwind_free(s->unwind);
	usersyms_free(s->files);
	map64_deinit(&s->parts);
	s->space = NULL;
	s->unwind = NULL;
	s->files = NULL;
}

static int open_files(struct sleepstack *s)
{
	const struct usersyms_config c = {
		.same_machine = true,
		.proc = s->proc,
		.keep = s->keep,
		.tables_most = SYMBOLS_MOST,
	};
	const struct unwind_config how = {.machine = NULL};
	struct error err = {0};
	int code = usersyms_new(&s->files, &c, &err);

	code = code < 0 ? code : unwind_new(&s->unwind, s->files, &how, &err);
	code = code < 0 ? code : unwind_space_new(&s->space, s->unwind);
	if (code < 0)
		close_files(s);
	return code;
}

int sleepstack_new(struct sleepstack **ret, const char *proc, bool keep)
{
	struct sleepstack *s = mem_calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->proc = proc;
	s->keep = keep;
	int code = open_files(s);
	if (code < 0) {
		mem_free(s);
		return code;
	}
	*ret = s;
	return 0;
}

void sleepstack_free(struct sleepstack *s)
{
	if (!s)
		return;
	close_files(s);
	mem_free(s->maps);
	mem_free(s);
}

bool sleepstack_is_worn(const struct sleepstack *s)
{
	return usersyms_is_worn(s->files);
}

int sleepstack_renew(struct sleepstack *s)
{
	struct sleepstack new = {.proc = s->proc, .keep = s->keep};
	int code = open_files(&new);

	if (code < 0)
		return code;
	close_files(s);
	s->files = new.files;
	s->unwind = new.unwind;
	s->space = new.space;
	return 0;
}

static uint32_t object_of(struct sleepstack *s, pid_t pid, const struct sleepstack_map *m)
{
	const struct usersym_inode inode = {.maj = m->maj, .min = m->min, .ino = m->ino};
	bool is_file = *m->path == '/' || !strcmp(m->path, "[vdso]");
	uint32_t object;

	return is_file && usersyms_object_at(s->files, m->path, &inode, pid, &object) == 0
		       ? object
		       : UNWIND_NO_OBJECT;
}

int sleepstack_process(struct sleepstack *s, pid_t pid, const struct sleepstack_map *maps, size_t n)
{
	s->n_maps = 0;
	s->all = maps;
	s->n_all = n;
	usersyms_tidy(s->files);
	unwind_tidy(s->unwind, TABLES_MOST);
	for (size_t i = 0; i < n; i++) {
		const struct sleepstack_map *m = &maps[i];
		if (!m->executable)
			continue;
		if (mem_grow(&s->maps, &s->cap_maps, s->n_maps, sizeof(*s->maps)) < 0)
			return -ENOMEM;
		s->maps[s->n_maps++] =
			(struct unwind_map){m->start, m->end, m->file_offset, object_of(s, pid, m)};
	}
	unwind_space_set(s->space, s->maps, s->n_maps);
	return 0;
}

/* Bytes from @addr to the end of its mapping, @most at most. */
static size_t size_to_end(const struct sleepstack *s, uint64_t addr, size_t most)
{
	for (size_t i = 0; i < s->n_all; i++)
		if (addr >= s->all[i].start && addr < s->all[i].end)
			return s->all[i].end - addr < most ? (size_t)(s->all[i].end - addr) : most;
	return 0;
}

static bool read_stack(struct thread *t, size_t most)
{
	t->len = size_to_end(t->s, t->sp, most) & ~(size_t)7;
	return t->len && t->read(t->arg, t->sp, t->s->stack, t->len);
}

/* By the tables, for a stack pointer @at bytes further out. */
static size_t by_tables(const struct thread *t, size_t at, uint64_t ip, struct unwind_frame *ret,
			size_t most, enum unwind_end *ret_end)
{
	const struct unwind_machine *m = t->s->unwind->machine;
	const uint64_t regs[] = {t->fp, t->sp + at, ip}; /* in the order of perf */
	const uint64_t fp = t->fp ? 1ull << m->perf_fp : 0;
	bool all = !at && t->mask;
	const struct unwind_sample sample = {
		.regs_mask = all ? t->mask : fp | 1ull << m->perf_sp | 1ull << m->perf_ip,
		.regs = all ? t->regs : regs + (fp ? 0 : 1),
		.stack = t->s->stack + at,
		.stack_len = t->len - at,
	};

	return unwind_stack(t->s->space, &sample, ret, most, ret_end);
}

static bool find_name(struct thread *t, const struct unwind_frame *f, struct usersym *ret)
{
	if (!f->is_known || f->object == UNWIND_NO_OBJECT)
		return false;
	enum usersym_answer a = usersyms_lookup(t->s->files, f->object, f->file_offset, ret);
	t->pending |= a == USERSYM_PENDING;
	return a == USERSYM_OK;
}

/* The begin of the function of a frame, in the process; 0: not known. */
static uint64_t begin_of(struct thread *t, const struct unwind_frame *f)
{
	const struct unwind_map *m = unwind_find_map(t->s->space, f->at);
	struct usersym sym;

	if (m && find_name(t, f, &sym) && sym.start >= m->file_offset)
		return m->start + (sym.start - m->file_offset);
	return unwind_begin_of(t->s->space, f->at);
}

/* The address so far from the end of an instruction. */
static uint64_t near(uint64_t after, const uint8_t *distance)
{
	return after + (uint64_t)(int64_t)(int32_t)load_u32(distance);
}

static bool read_word(const struct thread *t, uint64_t at, uint64_t *ret)
{
	return t->read(t->arg, at, ret, sizeof(*ret));
}

/* Where a call of @target leads to: through a stub, if it is one. */
static uint64_t through_stub(const struct thread *t, uint64_t target)
{
	uint8_t code[STUB_SIZE];
	uint64_t to;
	size_t i = 0;

	if (!unwind_find_map(t->s->space, target) || !t->read(t->arg, target, code, sizeof(code)))
		return target;
	i += memcmp(code, stub_mark, sizeof(stub_mark)) ? 0 : sizeof(stub_mark);
	i += code[i] == STUB_PREFIX ? 1 : 0;
	bool is_stub = code[i] == CALL_BY && code[i + 1] == JUMP_BY_MORE &&
		       read_word(t, near(target + i + CALL_BY_SIZE, code + i + 2), &to);
	return is_stub ? to : target;
}

/* The last bytes of an instruction of x86-64, up to @after: does it jump to @to? */
static bool jumps_near(uint64_t after, const uint8_t code[REFERS_SIZE], uint64_t to)
{
	if (near(after, code + REFERS_BEFORE) == to)
		return code[1] == UNWIND_JUMP ||
		       (code[0] == JUMP_IF && (code[1] & JUMP_IF_MASK) == JUMP_IF_MORE);
	return code[REFERS_SIZE - 2] == UNWIND_JUMP_SHORT &&
	       after + (uint64_t)(int64_t)(int8_t)code[REFERS_SIZE - 1] == to;
}

/* Does it refer to @to: with a jump, a call, or for an address? */
static bool refers(const struct thread *t, uint64_t after, const uint8_t code[REFERS_SIZE],
		   uint64_t to)
{
	uint32_t word = load_u32(code + REFERS_BEFORE);
	int32_t distance = (int32_t)(word << ARM64_BRANCH_SHIFT) >> (ARM64_BRANCH_SHIFT - 2);

	if (t->s->unwind->machine->elf == EM_X86_64)
		return jumps_near(after, code, to) ||
		       (near(after, code + REFERS_BEFORE) == to &&
			(code[1] == UNWIND_CALL ||
			 (code[0] == ADDRESS && (code[1] & ADDRESS_MASK) == ADDRESS_NEAR)));
	return !(after % sizeof(word)) && (word & ARM64_BRANCH_MASK) == ARM64_BRANCH &&
	       after - sizeof(word) + (uint64_t)(int64_t)distance == to;
}

/* Is @target a function that jumps to the other one where it would return? */
static bool jumps(const struct thread *t, uint64_t target, uint64_t function)
{
	const uint64_t from = target - (REFERS_SIZE - 2); /* a short jump may be its first */
	uint8_t *code = t->s->code;
	size_t n = size_to_end(t->s, from, JUMPS_MOST);

	if (n < REFERS_SIZE || unwind_begin_of(t->s->space, target) != target ||
	    !t->read(t->arg, from, code, n))
		return false;
	for (size_t i = 0; i + REFERS_SIZE <= n; i++) {
		uint64_t after = from + i + REFERS_SIZE;
		if (jumps_near(after, code + i, function))
			return unwind_begin_of(t->s->space, after - 1) == target;
	}
	return false;
}

/* Where the call leads that returns to @after; 0: it is none that shows it. */
static uint64_t called(const struct thread *t, uint64_t after)
{
	uint8_t code[CALL_BY_SIZE];
	uint64_t to;

	if (after <= CALL_BY_SIZE || !unwind_find_map(t->s->space, after - 1) ||
	    !t->read(t->arg, after - sizeof(code), code, sizeof(code)))
		return 0;
	uint64_t target = near(after, code + 2);
	if (code[CALL_BY_SIZE - UNWIND_CALL_SIZE] == UNWIND_CALL)
		return through_stub(t, target);
	bool is_by_word =
		code[0] == CALL_BY && code[1] == CALL_BY_MORE && read_word(t, target, &to);
	return is_by_word ? to : 0;
}

/* Where the return address is that a call of the last frame's function left; 0: not found. */
static size_t find_caller(struct thread *t, const struct unwind_frame *last, size_t at)
{
	uint64_t function = begin_of(t, last), word;

	if (!function || t->s->unwind->machine->elf != EM_X86_64)
		return 0;
	for (size_t end = at + SEARCH_MOST; at < end && at + sizeof(word) <= t->len; at += 8) {
		memcpy(&word, t->s->stack + at, sizeof(word));
		uint64_t to = called(t, word);
		if (to && (to == function || jumps(t, to, function)))
			return at + 8;
	}
	return 0;
}

/* After the return addresses of these frames, whose first is on no stack. */
static size_t after(const struct thread *t, const struct unwind_frame *frames, size_t n, size_t at)
{
	uint64_t word;

	for (size_t i = 1; i < n; i++) {
		do {
			if (at + sizeof(word) > t->len)
				return at;
			memcpy(&word, t->s->stack + at, sizeof(word));
			at += sizeof(word);
		} while (word != frames[i].ip);
	}
	return at;
}

/* By the tables, up to a frame that is in no code: the caller of the one before is to be searched.
 */
static size_t add_frames(const struct thread *t, size_t at, uint64_t ip,
			 struct unwind_frame *frames, size_t n, enum unwind_end *ret_end)
{
	size_t end = n + by_tables(t, at, ip, frames + n, t->most - n, ret_end);

	for (size_t i = n + 1; i < end; i++) {
		if (frames[i].is_known)
			continue;
		*ret_end = UNWIND_NO_INFO;
		return i;
	}
	return end;
}

/* The rule of a function whose return address is the outermost word of its frame. */
static bool rule_of(const struct thread *t, const struct unwind_frame *f, struct unwind_rule *ret)
{
	return unwind_rule_of(t->s->space, f->at, ret) == 0 && ret->kind != UNWIND_RULE_LAST &&
	       !ret->in_link && ret->ret == -(int32_t)sizeof(uint64_t);
}

/* The same by the rule of the last frame's function, whose stack pointer is @at bytes further out.
 */
static size_t caller_by_rule(const struct thread *t, const struct unwind_frame *last, size_t at)
{
	struct unwind_rule r;
	uint64_t word;

	if (!rule_of(t, last, &r) || r.kind != UNWIND_RULE_SP || r.frame < (int32_t)sizeof(word) ||
	    at > t->len || (size_t)r.frame > t->len - at)
		return 0;
	at += (size_t)r.frame;
	memcpy(&word, t->s->stack + at - sizeof(word), sizeof(word));
	return word && unwind_find_map(t->s->space, word - 1) ? at : 0;
}

/*
 * The frame pointer that the last frame's function has saved, if its return address is right before
 * @at; 0: not known.
 */
static uint64_t saved_fp(const struct thread *t, const struct unwind_frame *last, size_t at)
{
	struct unwind_rule r;
	const int64_t end = (int64_t)at;

	if (!rule_of(t, last, &r) || r.fp_unchanged || r.fp > -(int32_t)sizeof(uint64_t) ||
	    end + r.fp < 0)
		return 0;
	return load_u64(t->s->stack + end + r.fp);
}

/* From the return address on that is before @at. The call itself has the same rules as what
 * follows.
 */
static size_t go_on(struct thread *t, size_t at, struct unwind_frame *frames, size_t n,
		    enum unwind_end *ret_end)
{
	size_t from = n;
	uint64_t ip;

	t->fp = saved_fp(t, &frames[n - 1], at);
	memcpy(&ip, t->s->stack + at - sizeof(ip), sizeof(ip));
	n = add_frames(t, at, ip - 1, frames, n, ret_end);
	frames[from].ip = ip;
	return n;
}

static size_t walk(struct thread *t, const struct sleepstack_registers *regs,
		   struct unwind_frame *frames, enum unwind_end *ret_end)
{
	uint64_t ip = regs->ip;
	size_t at = 0, from, n;

	t->fp = regs->fp;
	/* Without a table its frame pointer may be that of a caller. */
	unwind_put_frame(t->s->space, ip, false, &frames[0]);
	if (!unwind_has_table(t->s->space, ip))
		at = caller_by_rule(t, &frames[0], 0);
	from = at ? 1 : 0;
	n = at ? go_on(t, at, frames, 1, ret_end) : add_frames(t, 0, ip, frames, 0, ret_end);
	while (n && n < t->most && *ret_end != UNWIND_DONE && *ret_end != UNWIND_CUT) {
		size_t sp = after(t, frames + from, n - from, at);
		at = caller_by_rule(t, &frames[n - 1], sp);
		at = at ? at : find_caller(t, &frames[n - 1], sp);
		if (!at)
			break;
		from = n;
		n = go_on(t, at, frames, n, ret_end);
	}
	return n;
}

/* Adds what refers to @begin among @n bytes of code. False: there are several. */
static bool add_references(struct thread *t, uint64_t addr, size_t n, uint64_t begin,
			   struct unwind_frame *ret, struct usersym *ret_sym)
{
	struct unwind_frame f;
	struct usersym sym;

	for (size_t i = 0; i + REFERS_SIZE <= n; i++) {
		uint64_t after = addr + i + REFERS_SIZE;
		if (!refers(t, after, t->s->code + i, begin) ||
		    unwind_begin_of(t->s->space, after - 1) == begin)
			continue;
		unwind_put_frame(t->s->space, after, true, &f);
		if (!find_name(t, &f, &sym) || (ret->is_known && sym.start != ret_sym->start))
			return false;
		*ret = f;
		*ret_sym = sym;
	}
	return true;
}

/* Where the only function of that file is that refers to the one that begins there; 0: none. */
static uint64_t find_reference(struct thread *t, const struct unwind_map *m, uint64_t begin)
{
	struct unwind_frame found = {.is_known = false};
	struct usersym sym = {.name = NULL};
	size_t n;

	if (m->end - m->start > CODE_MOST)
		return 0;
	/* Each step has the last bytes of the one before. */
	for (uint64_t at = m->start; at < m->end; at += n - (REFERS_SIZE - 1)) {
		n = m->end - at < CODE_STEP ? (size_t)(m->end - at) : CODE_STEP;
		if (n < REFERS_SIZE)
			break;
		if (!t->read(t->arg, at, t->s->code, n) ||
		    !add_references(t, at, n, begin, &found, &sym))
			return 0;
	}
	return found.is_known ? found.file_offset : 0;
}

/* The same for the part that has @f and begins at @begin, searched once. */
static uint64_t known_reference(struct thread *t, const struct unwind_frame *f, uint64_t begin)
{
	uint64_t key = hash_u64(f->file_offset - (f->at - begin)) + f->object;
	const uint32_t *known = map64_get(&t->s->parts, key);

	if (known)
		return *known;
	uint64_t at = find_reference(t, unwind_find_map(t->s->space, f->at), begin);
	/* Without memory it is searched again. */
	if (!t->pending && at <= UINT32_MAX)
		map64_put(&t->s->parts, key, (uint32_t)at);
	return at;
}

/*
 * The frame is in a part of a function that has no name of its own: of the function that jumped to
 * it, which the call shows that returns to @outer.
 */
static void name_part(struct thread *t, const struct unwind_frame *f, uint64_t outer,
		      struct sleepstack_frame *ret)
{
	struct unwind_frame whole = *f;
	struct usersym sym;

	if (!futexclass_is_c_library(ret->object))
		return;
	uint64_t begin = unwind_begin_of(t->s->space, f->at), to = begin ? called(t, outer) : 0;
	if (!begin)
		return;
	if (to && to != begin && jumps(t, to, begin))
		unwind_put_frame(t->s->space, to, false, &whole);
	else
		whole.file_offset = known_reference(t, f, begin);
	if (!whole.file_offset || !find_name(t, &whole, &sym))
		return;
	ret->function = sym.name;
	ret->into = f->at - begin;
}

static struct sleepstack_frame name_frame(struct thread *t, const struct unwind_frame *f,
					  uint64_t outer)
{
	struct sleepstack_frame ret = {.ip = f->ip, .object = ""};
	struct usersym sym;

	if (!f->is_known || f->object == UNWIND_NO_OBJECT)
		return ret;
	ret.object = t->s->files->objects[f->object]->path;
	ret.file_offset = f->file_offset;
	switch (usersyms_lookup(t->s->files, f->object, f->file_offset, &sym)) {
	case USERSYM_OK:
		ret.function = sym.name;
		ret.into = f->file_offset - sym.start;
		break;
	case USERSYM_PENDING:
		t->pending = true;
		break;
	case USERSYM_NO_SYMBOL:
		name_part(t, f, outer, &ret);
		break;
	default:
		break;
	}
	return ret;
}

static size_t find_frames(struct thread *t, const struct sleepstack_registers *regs,
			  struct unwind_frame *frames, enum unwind_end *ret_end)
{
	*ret_end = UNWIND_BAD;
	size_t n = read_stack(t, STACK_FIRST) ? walk(t, regs, frames, ret_end) : 0;

	if (*ret_end == UNWIND_CUT && t->len == STACK_FIRST && read_stack(t, STACK_MOST))
		n = walk(t, regs, frames, ret_end);
	return n;
}

size_t sleepstack_take(struct sleepstack *s, const struct sleepstack_registers *regs,
		       sleepstack_read *read, void *arg,
		       struct sleepstack_frame ret[SLEEPSTACK_MOST], bool *ret_pending)
{
	struct thread t = {
		.s = s, .read = read, .arg = arg, .sp = regs->sp, .most = SLEEPSTACK_MOST};
	struct unwind_frame frames[SLEEPSTACK_MOST];
	enum unwind_end end;
	size_t n = find_frames(&t, regs, frames, &end);

	for (size_t i = 0; i < n; i++)
		ret[i] = name_frame(&t, &frames[i], i + 1 < n ? frames[i + 1].ip : 0);
	*ret_pending = t.pending;
	return n;
}

/* Are they of that very place? */
static bool has_place(const struct sleepstack *s, const struct sleepstack_registers *r)
{
	const struct unwind_machine *m = s->unwind->machine;
	const uint64_t sp = 1ull << m->perf_sp, ip = 1ull << m->perf_ip;

	return r->mask & sp && r->mask & ip &&
	       r->of[__builtin_popcountll(r->mask & (sp - 1))] == r->sp &&
	       r->of[__builtin_popcountll(r->mask & (ip - 1))] == r->ip;
}

void sleepstack_chain(struct sleepstack *s, const struct sleepstack_registers *regs,
		      sleepstack_read *read, void *arg, struct sleepstack_chain *ret)
{
	struct thread t = {
		.s = s, .read = read, .arg = arg, .sp = regs->sp, .most = SLEEPSTACK_DEEP};
	struct unwind_frame frames[SLEEPSTACK_DEEP];
	enum unwind_end end;

	if (has_place(s, regs)) {
		t.mask = regs->mask;
		t.regs = regs->of;
	}
	ret->n = find_frames(&t, regs, frames, &end);
	for (size_t i = 0; i < ret->n; i++)
		ret->ips[i] = frames[i].ip;
	ret->end = end;
	ret->pending = t.pending;
}

bool sleepstack_load(struct sleepstack *s, uint64_t budget_ns)
{
	bool changed;

	return usersyms_load_some(s->files, budget_ns, &changed);
}

int sleepstack_rule(struct sleepstack *s, uint64_t addr, struct unwind_rule *ret)
{
	return unwind_rule_of(s->space, addr, ret);
}
