// SPDX-License-Identifier: GPL-2.0-only
/*
 * Places probes. One event is enough, of the process or of a CPU: a BPF program counts the hits of
 * all threads of the process, and the kernel those of all CPUs, which BPF reads. The kernel would
 * go through each further event at each hit. If that count cannot be read there is an event for
 * each thread of the process, or for each CPU, since an event counts no other ones.
 *
 * Events are not inherited: the kernel would read the path of the binary again, in the memory of
 * the task that forks.
 *
 * The place comes from the user's text. A path is one of the process's own root, which may differ
 * from ours. A name without a slash is that of a file which the process has mapped, or of a
 * command. A place inside of a function must be where an instruction begins: the kernel would write
 * into the middle of one.
 */
#include "kontend/binary.h"
#include "kontend/cpulist.h"
#include "kontend/mem.h"
#include "kontend/perf-event.h"
#include "kontend/procfs.h"
#include "kontend/sysinfo.h"
#include "kontend/uprobe-attach.h"
#include "kontend/uprobe.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FUNCTION_MAX = 1 << 14,
	LINE_SIZE = PATH_MAX + 128,
};

struct event {
	size_t probe;
	int fd;
};

struct uprobe_attach {
	struct uprobe_attach_probe *probes;
	struct event *events;
	size_t n_probes, cap_probes, n_events, cap_events;
	bool count;
	int type; /* of the PMU */
};

static int read_type(struct error *err)
{
	int type = (int)sysinfo_number("/sys/bus/event_source/devices/uprobe/type", -1);

	return type < 0 ? error_set(err, -ENOTSUP,
				    "This kernel has no PMU uprobe (CONFIG_UPROBE_EVENTS)")
			: type;
}

static int explain(const struct uprobe_attach_probe *p, pid_t task, int code, struct error *err)
{
	switch (-code) {
	case EACCES:
	case EPERM:
		return error_set(err, code,
				 "The kernel refuses to place a probe (%s): run as root, or with "
				 "CAP_PERFMON; kernel.perf_event_paranoid may forbid it, too",
				 strerror(-code));
	case ESRCH:
		return error_set(err, code, "There is no task %d any more", task);
	case EINVAL:
	case EIO:
	case KERNEL_ENOTSUPP:
		return error_set(
			err, code == -KERNEL_ENOTSUPP ? -ENOTSUP : code,
			"The kernel refuses a probe at offset 0x%llx of %s: it cannot execute the "
			"instruction there out of line, or that file system is mounted noexec",
			(unsigned long long)p->offset, p->path);
	default:
		return error_errno(err, code, "Cannot place a probe in %s", p->path);
	}
}

/* An event of probe @i for @task, or, if that is -1, for all on @cpu. */
static int add_event(struct uprobe_attach *l, size_t i, pid_t task, int cpu, struct error *err)
{
	const struct uprobe_attach_probe *p = &l->probes[i];
	struct perf_event_attr attr = {
		.type = (uint32_t)l->type,
		.size = sizeof(attr),
		.config = p->is_return,
		.config1 = (uintptr_t)p->path,
		.config2 = p->offset,
	};

	if (mem_grow(&l->events, &l->cap_events, l->n_events, sizeof(*l->events)) < 0)
		return error_enomem(err, "probes");
	int fd = perf_event_open(&attr, task, cpu, 0);
	if (fd < 0)
		return explain(p, task, fd, err);
	l->events[l->n_events++] = (struct event){i, fd};
	return 0;
}

/* A thread that has ended since the list was read is no error. */
static int add_threads(struct uprobe_attach *l, size_t i, pid_t pid, struct error *err)
{
	size_t n = 0, cap = 0, before = l->n_events;
	pid_t *tids = NULL;
	int code = procfs_tids("/proc", pid, &tids, &n, &cap);

	if (code < 0)
		explain(&l->probes[i], pid, code, err);
	for (size_t k = 0; code == 0 && k < n; k++) {
		struct error why = {0};
		code = add_event(l, i, tids[k], -1, &why);
		if (code == -ESRCH && (k + 1 < n || l->n_events > before))
			code = 0;
		if (code < 0)
			error_set(err, code, "%s", why.text);
	}
	mem_free(tids);
	return code;
}

static int add_cpus(struct uprobe_attach *l, size_t i, struct error *err)
{
	uint32_t *cpus;
	size_t n;
	int code = cpulist_read("online", &cpus, &n);

	if (code < 0)
		return error_errno(err, code, "Cannot read which CPUs are online");
	for (size_t k = 0; code == 0 && k < n && (l->count || k == 0); k++)
		code = add_event(l, i, -1, (int)cpus[k], err);
	mem_free(cpus);
	return code;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * The path by which kontend opens the file that the process knows as @path: the same, if that is
 * the same file.
 */
static bool as_seen_by(pid_t pid, const char *path, char *ret, size_t size)
{
	char whole[PATH_MAX], theirs[PATH_MAX + 32];

	if (pid && *path == '/') {
		snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", pid, path);
		if (access(theirs, F_OK) == 0 && !is_same_file(theirs, path))
			return snprintf(ret, size, "%s", theirs) < (int)size;
	}
	return realpath(path, whole) && snprintf(ret, size, "%s", whole) < (int)size;
}

/* Has the process a file of this name mapped? */
static bool find_mapped(pid_t pid, const char *name, char *ret, size_t size)
{
	char path[64], line[LINE_SIZE];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = pid ? fopen(path, "re") : NULL;
	while (f && !found && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, '/'), *base = at ? strrchr(at, '/') + 1 : NULL;
		line[strcspn(line, "\n")] = '\0';
		found = base && !strcmp(base, name) && as_seen_by(pid, at, ret, size);
	}
	if (f)
		fclose(f);
	return found;
}

/* As a shell would find it. */
static bool find_command(const char *name, char *ret, size_t size)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	for (size_t n; path && *path; path += n + (path[n] == ':')) {
		n = strcspn(path, ":");
		if (snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name) <
			    (int)sizeof(file) &&
		    access(file, X_OK) == 0)
			return as_seen_by(0, file, ret, size);
	}
	return false;
}

static int find_binary(const struct uprobe_spec *s, pid_t pid, const char *command, char *ret,
		       size_t size, struct error *err)
{
	const char *name = s->binary;

	if (strchr(name, '/'))
		return as_seen_by(pid, name, ret, size)
			       ? 0
			       : error_errno(err, -errno, "Cannot find %s", name);
	if ((!command && find_mapped(pid, name, ret, size)) || find_command(name, ret, size))
		return 0;
	if (pid && !command)
		return error_set(
			err, -ENOENT,
			"Process %d has mapped no file '%s', and there is no such command: "
			"give its path; see /proc/%d/maps",
			pid, name, pid);
	return error_set(err, -ENOENT, "There is no command '%s': give the path of the binary",
			 name);
}

/* The start of the instruction that contains the byte @into of @code, and its length. */
static uint64_t begin_of(enum uprobe_machine m, const uint8_t *code, size_t n, uint64_t into,
			 size_t *ret_len)
{
	uint64_t at = 0;

	while ((*ret_len = uprobe_length(m, code + at, n - at < 16 ? n - at : 16)) &&
	       at + *ret_len <= into)
		at += *ret_len;
	return at;
}

/* Instructions that cannot be decoded are left to the kernel. */
static int check_begin(struct binary *b, const struct uprobe_spec *s, uint64_t offset,
		       struct error *err)
{
	uint8_t code[FUNCTION_MAX];
	size_t len;

	if (!*s->function || s->offset >= FUNCTION_MAX - 16)
		return 0;
	size_t n = binary_read(b, offset - s->offset, code, s->offset + 16);
	uint64_t at = begin_of(binary_machine(b), code, n, s->offset, &len);
	if (!len || at == s->offset)
		return 0;
	return error_set(err, -EINVAL,
			 "%s+0x%" PRIx64 " is inside of an instruction: one begins at +0x%" PRIx64
			 ", the next at +0x%" PRIx64,
			 s->function, s->offset, at, at + len);
}

static int find_place(const struct uprobe_spec *s, struct uprobe_attach_probe *ret,
		      struct error *err)
{
	struct binary *b;
	int code = binary_open(&b, ret->path, err);

	if (code < 0)
		return code;
	ret->offset = s->offset;
	if (*s->function)
		code = binary_locate(b, ret->path, s->function, s->offset, &ret->offset, err);
	else if (!binary_is_code(b, s->offset))
		code = error_set(err, -EINVAL, "%s: nothing is executed at offset 0x%" PRIx64,
				 ret->path, s->offset);
	code = code < 0 ? code : check_begin(b, s, ret->offset, err);
	binary_close(b);
	return code;
}

/* Looks up @text for process @pid (0: all), which will run @command (NULL: nothing). */
static int resolve(const char *text, pid_t pid, const char *command,
		   struct uprobe_attach_probe *ret, struct error *err)
{
	struct uprobe_spec s;
	int code = uprobe_spec_parse(text, &s, err);

	*ret = (struct uprobe_attach_probe){.is_return = s.is_return, .pid = pid};
	code = code < 0 ? code : find_binary(&s, pid, command, ret->path, sizeof(ret->path), err);
	return code < 0 ? code : find_place(&s, ret, err);
}

static int place(struct uprobe_attach *l, const char *spec, pid_t pid, const char *command,
		 struct error *err)
{
	size_t i = l->n_probes;

	if (mem_grow(&l->probes, &l->cap_probes, i, sizeof(*l->probes)) < 0)
		return error_enomem(err, "probes");
	int code = resolve(spec, pid, command, &l->probes[i], err);
	if (code < 0)
		return code;
	l->n_probes++;
	if (!pid)
		return add_cpus(l, i, err);
	return l->count ? add_threads(l, i, pid, err) : add_event(l, i, pid, -1, err);
}

int uprobe_attach_new(struct uprobe_attach **ret, const struct uprobe_attach_options *o,
		      struct error *err)
{
	struct uprobe_attach *l = mem_calloc(1, sizeof(*l));

	if (!l)
		return error_enomem(err, "probes");
	l->count = o->count;
	int code = l->type = read_type(err);
	for (size_t i = 0; code >= 0 && i < o->n_specs; i++) {
		if (!o->n_pids)
			code = place(l, o->specs[i], 0, NULL, err);
		for (size_t k = 0; code >= 0 && k < o->n_pids; k++)
			code = place(l, o->specs[i], o->pids[k], o->command, err);
	}
	if (code < 0) {
		uprobe_attach_free(l);
		return code;
	}
	*ret = l;
	return 0;
}

const struct uprobe_attach_probe *uprobe_attach_get(const struct uprobe_attach *p, size_t i)
{
	return p && i < p->n_probes ? &p->probes[i] : NULL;
}

int uprobe_attach_fd(const struct uprobe_attach *p, size_t i)
{
	for (size_t k = 0; k < p->n_events; k++)
		if (p->events[k].probe == i)
			return p->events[k].fd;
	return -1;
}

bool uprobe_attach_hits(const struct uprobe_attach *p, size_t i, uint64_t *ret)
{
	uint64_t n;

	*ret = 0;
	for (size_t k = 0; p->count && k < p->n_events; k++) {
		if (p->events[k].probe != i)
			continue;
		if (read(p->events[k].fd, &n, sizeof(n)) != (ssize_t)sizeof(n))
			return false;
		*ret += n;
	}
	return p->count;
}

void uprobe_attach_free(struct uprobe_attach *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n_events; i++)
		close(p->events[i].fd);
	mem_free(p->probes);
	mem_free(p->events);
	mem_free(p);
}
