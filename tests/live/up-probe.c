// SPDX-License-Identifier: GPL-2.0-only
/* Speaks with workloads/up-work.c, and places uprobes in each way that there is. */
#include "up-probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRACE_UPROBE_MULTI = 48 }; /* enum bpf_attach_type of 6.6 */

int up_work_start(struct up_work *w, const char *path)
{
	int to[2], from[2];

	*w = (struct up_work){.from = -1};
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return -errno;
	fflush(stdout);
	w->pid = fork();
	if (w->pid == 0) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execl(path, path, (char *)NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	w->to = fdopen(to[1], "we");
	w->from = from[0];
	return w->pid < 0 || !w->to ? -errno : 0;
}

void up_work_tell(struct up_work *w, const char *text)
{
	fprintf(w->to, "%s\n", text);
	fflush(w->to);
}

bool up_work_line(struct up_work *w, char *ret, size_t size)
{
	struct pollfd p = {.fd = w->from, .events = POLLIN};
	char *end = memchr(w->line, '\n', w->n);

	if (!end && w->n < sizeof(w->line) && poll(&p, 1, 0) > 0) {
		ssize_t n = read(w->from, w->line + w->n, sizeof(w->line) - w->n);
		w->n += n > 0 ? (size_t)n : 0;
		end = memchr(w->line, '\n', w->n);
	}
	if (!end)
		return false;
	*end = '\0';
	snprintf(ret, size, "%s", w->line);
	w->n -= (size_t)(end + 1 - w->line);
	memmove(w->line, end + 1, w->n);
	return true;
}

void up_work_stop(struct up_work *w)
{
	if (w->to)
		fclose(w->to);
	while (w->pid > 0 && waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (w->from >= 0)
		close(w->from);
	*w = (struct up_work){.from = -1};
}

static long read_number(const char *path)
{
	FILE *f = fopen(path, "re");
	long n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

static int open_event(struct perf_event_attr *attr, pid_t pid)
{
	attr->size = sizeof(*attr);
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int up_probe_perf(const char *path, uint64_t offset, bool back, pid_t pid)
{
	long type = read_number("/sys/bus/event_source/devices/uprobe/type");
	struct perf_event_attr attr = {
		.type = (uint32_t)type,
		.config = back,
		.config1 = (uintptr_t)path,
		.config2 = offset,
	};

	return type < 0 ? -ENOENT : open_event(&attr, pid);
}

int up_probe_write(const char *tracefs, const char *line)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/uprobe_events", tracefs);
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, line, strlen(line));
	int code = n < 0 ? -errno : 0;
	close(fd);
	return code;
}

int up_probe_open(const char *tracefs, const char *group, const char *event, pid_t pid)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", tracefs, group, event);
	long id = read_number(path);
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .config = (uint64_t)id};

	return id < 0 ? -ENOENT : open_event(&attr, pid);
}

static int load_program(void)
{
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K}, /* r0 = 0 */
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_KPROBE,
			       .insns = (uintptr_t)insns,
			       .insn_cnt = 2,
			       .license = (uintptr_t) "GPL",
			       .prog_name = "kontend_test",
			       .expected_attach_type = TRACE_UPROBE_MULTI};

	int fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

int up_probe_link(const char *path, uint64_t offset, pid_t pid)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t count, multi_flags, pid, rest[32];
	} attr = {.attach_type = TRACE_UPROBE_MULTI,
		  .path = (uintptr_t)path,
		  .offsets = (uintptr_t)&offset,
		  .count = 1,
		  .pid = (uint32_t)pid};
	int prog = load_program();

	if (prog < 0)
		return prog;
	attr.prog_fd = (uint32_t)prog;
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	int code = fd < 0 ? -errno : fd;
	close(prog);
	return code;
}
