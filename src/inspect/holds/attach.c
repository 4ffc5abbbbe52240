// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs at functions of the kernel that take and release locks. Some kernels lack some of
 * them. Programs at releases are placed first: what is held then has no begin, and no hold begins
 * whose end could be missed.
 */
#include "../btf/types.h"
#include "internal.h"
#include "kontend/text.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { M = 1 << RAW_HOLDS_MUTEX, WR = 1 << RAW_HOLDS_WRITE, RD = 1 << RAW_HOLDS_READ };

const struct holds_function holds_functions[HOLDS_FUNCTIONS] = {
	{"mutex_unlock", M, .releases = true, .needed = true},
	{"up_write", WR, .releases = true, .needed = true},
	{"up_read", RD, .releases = true, .needed = true},
	{"up_read_non_owner", RD, .releases = true},
	{"downgrade_write", WR | RD, .releases = true, .needed = true},
	{"mutex_lock", M, .needed = true},
	{"mutex_lock_interruptible", M, .needed = true},
	{"mutex_lock_killable", M, .needed = true},
	{"mutex_lock_io", M, .needed = true},
	{"mutex_trylock", M, .needed = true},
	{"ww_mutex_lock", M},
	{"ww_mutex_lock_interruptible", M},
	{"atomic_dec_and_mutex_lock", M},
	{"down_write", WR, .needed = true},
	{"down_write_killable", WR, .needed = true},
	{"down_write_trylock", WR, .needed = true},
	{"down_read", RD, .needed = true},
	{"down_read_interruptible", RD, .needed = true},
	{"down_read_killable", RD, .needed = true},
	{"down_read_trylock", RD, .needed = true},
};

static struct bpf_program *program_of(struct bpf_object *o, size_t i)
{
	char name[64];

	snprintf(name, sizeof(name), "at_%s", holds_functions[i].name);
	return bpf_object__find_program_by_name(o, name);
}

int holds_leave_out(struct bpf_object *o, const void *types)
{
	struct kerntypes *t = *(struct kerntypes *const *)types;
	int code = 0;

	for (size_t i = 0; code == 0 && i < HOLDS_FUNCTIONS; i++) {
		struct bpf_program *p = program_of(o, i);
		if (!p)
			return -ENOENT;
		if (kerntypes_find(t, holds_functions[i].name, BTF_KIND_FUNC) < 0)
			code = bpf_program__set_autoload(p, false);
	}
	return code;
}

void holds_programs_init(struct holds_programs *p, struct bpf_object *o)
{
	for (size_t i = 0; i < HOLDS_FUNCTIONS; i++) {
		struct bpf_program *program = o ? program_of(o, i) : NULL;
		p->programs[i] = program ? bpf_program__fd(program) : -1;
		p->links[i] = -1;
	}
}

int holds_programs_attach(struct holds_programs *p, uint32_t kinds)
{
	int code = 0;

	for (size_t i = 0; i < HOLDS_FUNCTIONS; i++) {
		bool wanted = holds_functions[i].kinds & kinds && p->programs[i] >= 0;
		if (!wanted && p->links[i] >= 0) {
			close(p->links[i]);
			p->links[i] = -1;
		}
		if (!wanted || p->links[i] >= 0)
			continue;
		p->links[i] = bpf_raw_tracepoint_open(NULL, p->programs[i]);
		if (p->links[i] < 0 && holds_functions[i].needed && code == 0)
			code = -errno;
	}
	return code;
}

struct holds_runs holds_programs_runs(const struct holds_programs *p)
{
	struct holds_runs ret = {0};

	for (size_t i = 0; i < HOLDS_FUNCTIONS; i++) {
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);
		if (p->programs[i] < 0 || bpf_obj_get_info_by_fd(p->programs[i], &info, &len) < 0)
			continue;
		ret.runs += info.run_cnt;
		ret.run_ns += info.run_time_ns;
		ret.missed += info.recursion_misses;
	}
	return ret;
}

size_t holds_programs_code(const struct holds_programs *p, struct holds_code ret[HOLDS_CODE])
{
	size_t n = 0;

	for (size_t i = 0; i < HOLDS_FUNCTIONS; i++) {
		uint64_t at[HOLDS_CODE_EACH] = {0};
		uint32_t len[HOLDS_CODE_EACH] = {0}, size = sizeof(struct bpf_prog_info);
		struct bpf_prog_info info = {
			.jited_ksyms = (uintptr_t)at,
			.nr_jited_ksyms = HOLDS_CODE_EACH,
			.jited_func_lens = (uintptr_t)len,
			.nr_jited_func_lens = HOLDS_CODE_EACH,
		};
		if (p->programs[i] < 0 || bpf_obj_get_info_by_fd(p->programs[i], &info, &size) < 0)
			continue;
		for (size_t k = 0; k < HOLDS_CODE_EACH && at[k]; k++)
			ret[n++] = (struct holds_code){at[k], len[k]};
	}
	return n;
}

void holds_programs_lack(const struct holds_programs *p, uint32_t kinds, char *buf, size_t size)
{
	size_t n = 0;

	*buf = '\0';
	for (size_t i = 0; i < HOLDS_FUNCTIONS; i++) {
		const struct holds_function *f = &holds_functions[i];
		if (!(f->kinds & kinds) || !f->needed || p->links[i] >= 0 || n >= size)
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "", f->name);
	}
}
