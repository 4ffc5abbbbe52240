// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of files' positions, uprobes, disks, perf events and what BPF programs store: see
 * object-names.c. All that it makes goes when the program ends.
 */
#include "object-names.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { PAGE = 4096, SPAN = 64 };

static int fd = -1, map, target;
static char path[600], self[600];

static int failed(const char *what)
{
	fprintf(stderr, "object-names: %s: %s\n", what, strerror(errno));
	return 1;
}

static int open_file(const char *name, int flags)
{
	snprintf(path, sizeof(path), "%s/%s", object_names_folder(), name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0600);
	return fd < 0 ? failed(path) : 0;
}

/* The position of a file that has two descriptors is read with a lock. */
static int begin_position(void)
{
	if (open_file("position", 0) || dup(fd) < 0)
		return 1;
	printf("(f_pos_lock|f_pos_lock\\.wait_lock) %s\n", object_names_quoted(path));
	return 0;
}

static void move_position(int i)
{
	char byte = 0;

	if (i & 1 ? write(fd, &byte, 1) < 0 : lseek(fd, 0, SEEK_SET) < 0)
		exit(failed("position"));
}

/* In the program's own file: nothing calls it. */
__attribute__((noinline, used)) static void probed(void)
{
	__asm__ volatile("");
}

/* Where the function is in the file; 0: not known. */
static uint64_t place_of(uintptr_t function)
{
	unsigned long start, end, offset;
	uint64_t at = 0;
	char line[600];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && !at && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 &&
		    function >= start && function < end)
			at = function - start + offset;
	if (f)
		fclose(f);
	return at;
}

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* Since 6.6: a program for several uprobes, which are attached without the lock of all events. */
enum { UPROBE_MULTI = 48 };

static struct {
	uint32_t program, target, attach_type, flags;
	uint64_t path, offsets, counters, cookies;
	uint32_t n, uprobe_flags, pid, pad;
	char rest[64];
} link_of = {.attach_type = UPROBE_MULTI, .n = 1};
static uint64_t place;

static int load_program(void)
{
	static const struct bpf_insn code[] = {{.code = BPF_ALU64 | BPF_MOV | BPF_K},
					       {.code = BPF_JMP | BPF_EXIT}};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_KPROBE,
			       .expected_attach_type = UPROBE_MULTI,
			       .insns = (uintptr_t)code,
			       .insn_cnt = 2,
			       .license = (uintptr_t) "GPL"};

	return (int)bpf(BPF_PROG_LOAD, &attr);
}

static int attach_uprobe(void)
{
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link_of, sizeof(link_of));
}

/* One stays. */
static int begin_uprobe(void)
{
	int program = load_program();
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = 0;
	place = place_of((uintptr_t)probed);
	link_of.program = (uint32_t)program;
	link_of.path = (uintptr_t)self;
	link_of.offsets = (uintptr_t)&place;
	link_of.pid = (uint32_t)getpid();
	if (program < 0 || attach_uprobe() < 0)
		return object_names_skip("no uprobes of BPF programs: %s", strerror(errno));
	printf("(register|consumer)_rwsem(\\.wait_lock)? %s:0x%llx\n", object_names_quoted(self),
	       (unsigned long long)place);
	return 0;
}

static void use_uprobe(int i)
{
	int e = attach_uprobe();

	(void)i;
	if (e < 0)
		exit(failed("uprobe"));
	close(e);
}

/* Of the disk that the folder is on. */
static int begin_disk(void)
{
	char link[256], *at;
	struct stat st;

	if (open_file("disk", O_DIRECT) || ftruncate(fd, (off_t)SPAN * PAGE) < 0)
		return object_names_skip("no direct writes: %s", strerror(errno));
	if (fstat(fd, &st) < 0)
		return failed("stat");
	snprintf(self, sizeof(self), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
	ssize_t n = readlink(self, link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = 0;
	at = strstr(link, "/block/");
	if (!at)
		return object_names_skip("%s is on no disk", path);
	at += strlen("/block/");
	at[strcspn(at, "/")] = 0;
	printf("(vq->lock|mq-deadline->lock|bfq->lock|hctx->lock|mq_flush_lock|queue->.*) %s\n",
	       object_names_quoted(at));
	return 0;
}

static void use_disk(int i)
{
	static _Alignas(PAGE) char pages[16][PAGE];

	if (pwrite(fd, pages[i & 15], PAGE, (off_t)(i % SPAN) * PAGE) < 0)
		exit(failed("write"));
	if (i & 1)
		fdatasync(fd);
}

static long open_event(struct perf_event_attr *attr, int pid, int cpu)
{
	return syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Events of one thread, which others open and close. */
static int begin_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};

	target = getpid();
	if (open_event(&attr, target, -1) < 0)
		return object_names_skip("no perf events: %s", strerror(errno));
	printf("ctx->(lock|mutex|mutex\\.wait_lock) object-names/%d\n", target);
	return 0;
}

static void use_events(int i)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	int e = (int)open_event(&attr, target, -1);

	(void)i;
	if (e < 0)
		exit(failed("event"));
	close(e);
}

/* Types of a map whose keys and values are an int. */
static int load_types(void)
{
	static const struct {
		struct btf_header head;
		struct btf_type type;
		uint32_t bits;
		char names[8];
	} types = {
		.head = {.magic = BTF_MAGIC,
			 .version = BTF_VERSION,
			 .hdr_len = sizeof(struct btf_header),
			 .type_len = sizeof(struct btf_type) + sizeof(uint32_t),
			 .str_off = sizeof(struct btf_type) + sizeof(uint32_t),
			 .str_len = 8},
		.type = {.name_off = 1, .info = BTF_KIND_INT << 24, .size = 4},
		.bits = BTF_INT_SIGNED << 24 | 32,
		.names = "\0int",
	};
	union bpf_attr attr = {.btf = (uintptr_t)&types, .btf_size = sizeof(types)};

	return (int)bpf(BPF_BTF_LOAD, &attr);
}

/* The values of a task are in a list of the task, and in one of the map. */
static int begin_storage(void)
{
	int types = load_types();
	struct bpf_map_info info = {0};
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_TASK_STORAGE,
			       .key_size = 4,
			       .value_size = 4,
			       .map_flags = BPF_F_NO_PREALLOC,
			       .map_name = "object_names",
			       .btf_fd = (uint32_t)types,
			       .btf_key_type_id = 1,
			       .btf_value_type_id = 1};

	map = types < 0 ? -1 : (int)bpf(BPF_MAP_CREATE, &attr);
	union bpf_attr ask = {.info = {.bpf_fd = (uint32_t)map,
				       .info_len = sizeof(info),
				       .info = (uint64_t)(uintptr_t)&info}};
	if (map < 0 || bpf(BPF_OBJ_GET_INFO_BY_FD, &ask) < 0)
		return object_names_skip("no storage of tasks: %s", strerror(errno));
	fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0)
		return object_names_skip("no descriptors of processes: %s", strerror(errno));
	printf("(BPF map object_names \\(id %u\\) bucket [0-9]+|BPF storage->lock "
	       "object-names/%d)\n",
	       info.id, getpid());
	return 0;
}

static void use_storage(int i)
{
	int value = i;
	union bpf_attr attr = {
		.map_fd = (uint32_t)map, .key = (uintptr_t)&fd, .value = (uintptr_t)&value};

	bpf(i & 1 ? BPF_MAP_UPDATE_ELEM : BPF_MAP_DELETE_ELEM, &attr);
}

static const struct object_names_kind kinds[] = {
	{"position", begin_position, move_position, false},
	{"uprobe", begin_uprobe, use_uprobe, false},
	{"disk", begin_disk, use_disk, false},
	{"events", begin_events, use_events, false},
	{"storage", begin_storage, use_storage, false},
};

const struct object_names_kind *object_names_kernel(size_t *ret_n)
{
	*ret_n = sizeof(kinds) / sizeof(kinds[0]);
	return kinds;
}
