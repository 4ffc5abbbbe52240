// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process that is read for the locks of its threads: their calls, its memory and mappings, and
 * the numbers of its threads as it has them, which are others in another PID namespace.
 */
#include "users-process.h"
#include "files.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/number.h"
#include "kontend/procfs.h"
#include "kontend/sysinfo.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SMALL = USERS_LINE };

bool users_process_read(void *arg, uint64_t addr, void *ret, size_t n)
{
	struct users_process *p = arg;
	char path[PATH_MAX];

	if (!p->tried) {
		snprintf(path, sizeof(path), "%s/%d/mem", p->proc, p->pid);
		p->mem = open(path, O_RDONLY | O_CLOEXEC);
		p->tried = true;
	}
	return p->mem >= 0 && addr <= INT64_MAX && fdio_read_at(p->mem, addr, ret, n);
}

/* The class in the head of its ELF file. */
bool users_process_is_32bit(struct users_process *p)
{
	char path[PATH_MAX];
	unsigned char head[EI_CLASS + 1];

	if (p->class_known)
		return p->is_32bit;
	snprintf(path, sizeof(path), "%s/%d/exe", p->proc, p->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	p->is_32bit =
		fd >= 0 && fdio_read_at(fd, 0, head, sizeof(head)) && head[EI_CLASS] == ELFCLASS32;
	if (fd >= 0)
		close(fd);
	p->class_known = true;
	return p->is_32bit;
}

static bool read_call(const struct users_process *p, int32_t tid, char ret[USERS_LINE])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/task/%d/syscall", p->proc, p->pid, tid);
	return sysinfo_read(path, ret, USERS_LINE) > 0;
}

bool users_process_place(const struct users_process *p, int32_t tid, char ret[USERS_LINE],
			 uint64_t *ret_sp, uint64_t *ret_ip)
{
	return read_call(p, tid, ret) && users_line_place(ret, ret_sp, ret_ip);
}

bool users_process_thread(struct users_process *p, int32_t tid, struct users_thread *ret)
{
	char text[USERS_LINE];
	struct users_line l;

	if (!read_call(p, tid, text) || !users_line_parse(text, &l))
		return false;
	enum users_caller caller = users_line_caller(&l);
	if (caller == USERS_EITHER)
		caller = users_process_is_32bit(p) ? USERS_32BIT : USERS_64BIT;
	*ret = (struct users_thread){.sp = l.sp, .ip = l.ip, .is_32bit = caller == USERS_32BIT};
	return caller != USERS_NO_SLEEP &&
	       (ret->is_32bit || users_line_call(&l, users_process_read, p, &ret->call));
}

/* The number of a thread in the innermost namespace, by its status; 0: not known. */
static uint32_t inner_number(const struct users_process *p, int32_t tid)
{
	char path[PATH_MAX], *text;
	uint64_t number = 0;
	size_t len;

	snprintf(path, sizeof(path), "%s/%d/task/%d/status", p->proc, p->pid, tid);
	if (fdio_read_file(path, &text, &len) < 0)
		return 0;
	const char *at = strstr(text, "\nNSpid:");
	for (at = at ? at + 7 : NULL; at && *at == '\t';) {
		at++;
		if (number_take(&at, INT_MAX, &number) < 0)
			break;
	}
	mem_free(text);
	return (uint32_t)number;
}

void users_process_list(struct users_process *p)
{
	p->n_tids = 0;
	(void)procfs_tids(p->proc, p->pid, &p->tids, &p->n_tids, &p->cap_tids);
}

/* Does it number its threads in another PID namespace? */
bool users_process_has_other_ns(struct users_process *p)
{
	char path[PATH_MAX], ours[SMALL] = "", theirs[SMALL] = "";

	if (p->ns_known)
		return p->other_ns;
	snprintf(path, sizeof(path), "%s/self/ns/pid", p->proc);
	bool is_read = readlink(path, ours, sizeof(ours) - 1) > 0;
	snprintf(path, sizeof(path), "%s/%d/ns/pid", p->proc, p->pid);
	is_read = is_read && readlink(path, theirs, sizeof(theirs) - 1) > 0;
	p->other_ns = is_read && strcmp(ours, theirs) != 0;
	p->ns_known = true;
	return p->other_ns;
}

/* The thread of the process that has the number @owner there. */
bool users_process_find(struct users_process *p, uint32_t owner, int32_t *ret)
{
	char path[PATH_MAX];

	if (!users_process_has_other_ns(p)) {
		snprintf(path, sizeof(path), "%s/%d/task/%" PRIu32, p->proc, p->pid, owner);
		*ret = (int32_t)owner;
		return access(path, F_OK) == 0;
	}
	if (!p->n_tids)
		users_process_list(p);
	for (size_t i = 0; i < p->n_tids; i++) {
		if (inner_number(p, p->tids[i]) != owner)
			continue;
		*ret = p->tids[i];
		return true;
	}
	return false;
}

uint32_t users_process_number(void *arg, int32_t tid)
{
	struct users_process *p = arg;

	return users_process_has_other_ns(p) ? inner_number(p, tid) : (uint32_t)tid;
}

uint64_t users_process_space(struct users_process *p)
{
	if (p->space)
		return p->space;
	const struct files_process known = files_process(p->proc, p->pid);
	p->space = userlock_space(p->pid, known.ticks, known.stack);
	return p->space;
}

bool users_mapping_take(const char *at, struct users_mapping *ret)
{
	if (number_take_hex(&at, &ret->from) < 0 || *at++ != '-' ||
	    number_take_hex(&at, &ret->to) < 0 || *at++ != ' ' || strlen(at) < 5)
		return false;
	ret->executable = at[2] == 'x';
	ret->shared = at[3] == 's';
	at += 5;
	if (number_take_hex(&at, &ret->offset) < 0 || *at++ != ' ' ||
	    number_take_hex(&at, &ret->major) < 0 || *at++ != ':' ||
	    number_take_hex(&at, &ret->minor) < 0 || *at++ != ' ' ||
	    number_take(&at, UINT64_MAX, &ret->ino) < 0)
		return false;
	ret->path = at + strspn(at, " ");
	return true;
}

/* Variables without a value in the file are in memory right after those that have one. */
static void set_object(struct users_mapping *m, const struct users_mapping *before)
{
	bool goes_on =
		*m->path ? !strcmp(m->path, before->object) && m->offset : before->to == m->from;

	m->object = goes_on ? before->object : strchr(m->path, '/') ? m->path : "";
	m->base = goes_on ? before->base : m->from;
	m->object_ino = goes_on ? before->object_ino : m->ino;
	m->object_dev = goes_on ? before->object_dev : (uint32_t)(m->major << 20 | m->minor);
}

static void read_maps(struct users_process *p)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%d/maps", p->proc, p->pid);
	if (p->maps || fdio_read_file(path, &p->maps, &p->maps_len) < 0)
		return;
	for (size_t i = 0; i < p->maps_len; i++)
		if (p->maps[i] == '\n')
			p->maps[i] = '\0';
}

bool users_process_mapping(struct users_process *p, uint64_t addr, struct users_mapping *ret)
{
	struct users_mapping before = {.object = ""};

	read_maps(p);
	for (size_t at = 0; p->maps && at < p->maps_len; at += strlen(p->maps + at) + 1) {
		if (!users_mapping_take(p->maps + at, ret))
			continue;
		set_object(ret, &before);
		if (addr >= ret->from && addr < ret->to)
			return true;
		before = *ret;
	}
	return false;
}

const char *users_process_maps(void *arg, size_t *ret_len)
{
	struct users_process *p = arg;

	read_maps(p);
	*ret_len = p->maps_len;
	return p->maps;
}

void users_process_open(struct users_process *p, const char *proc, int32_t pid)
{
	*p = (struct users_process){.proc = proc, .pid = pid, .mem = -1};
}

void users_process_close(struct users_process *p)
{
	if (p->mem >= 0)
		close(p->mem);
	mem_free(p->tids);
	mem_free(p->maps);
}
