// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of networks, cgroups, virtual machines, BPF maps and work queues: see object-names.c. All
 * that it makes is in a network namespace of its own, or goes when the program ends.
 */
#include "object-names.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/if_packet.h>
#include <linux/kvm.h>
#include <linux/net_namespace.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	SLOT = 64 * PAGE,
	MAP_SIZE = 32768, /* copied with the lock */
};

static int fd = -1, map;
static char path[600], *memory;
static uint32_t word;
static struct sockaddr_ll link_to;

static int failed(const char *what)
{
	fprintf(stderr, "object-names: %s: %s\n", what, strerror(errno));
	return 1;
}

/* A message for rtnetlink. */
struct message {
	struct nlmsghdr head;
	union {
		struct ifinfomsg link;
		struct rtgenmsg any;
	};
	char rest[256];
};

static void *put(struct message *m, unsigned short type, const void *data, size_t n)
{
	struct rtattr *a = (void *)((char *)m + NLMSG_ALIGN(m->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(n);
	if (n)
		memcpy(RTA_DATA(a), data, n);
	m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

/* 0, or the error of the kernel's answer. */
static int say(int s, struct message *m)
{
	char answer[4096];

	m->head.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (send(s, m, m->head.nlmsg_len, 0) < 0)
		return errno;
	ssize_t n = recv(s, answer, sizeof(answer), 0);
	struct nlmsghdr *h = (void *)answer;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(struct nlmsgerr)) || h->nlmsg_type != NLMSG_ERROR)
		return EIO;
	return -((const struct nlmsgerr *)NLMSG_DATA(h))->error;
}

static int own_network(void)
{
	if (unshare(CLONE_NEWNET) < 0)
		return object_names_skip("no network namespaces: %s", strerror(errno));
	return 0;
}

static int route_socket(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

static int begin_netlink(void)
{
	int code = own_network();

	if (code == 0)
		printf("rtnl_mutex\n");
	return code;
}

/* Makes the device ifb7 or so, which takes packets one at a time, as it has no queue. 0, or the
 * error. */
static int make_device(int s, const char *name)
{
	struct message m = {.head = {.nlmsg_type = RTM_NEWLINK,
				     .nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL,
				     .nlmsg_len = NLMSG_LENGTH(sizeof(m.link))},
			    .link = {.ifi_flags = IFF_UP, .ifi_change = IFF_UP}};
	uint32_t none = 0;

	put(&m, IFLA_IFNAME, name, strlen(name) + 1);
	put(&m, IFLA_TXQLEN, &none, sizeof(none));
	struct rtattr *info = put(&m, IFLA_LINKINFO, NULL, 0);
	put(&m, IFLA_INFO_KIND, "ifb", 3);
	info->rta_len = (unsigned short)((char *)&m + m.head.nlmsg_len - (char *)info);
	return say(s, &m);
}

/* The kernel waits for all users of a device, with the lock. */
static void delete_device(int s, const char *name)
{
	struct message m = {
		.head = {.nlmsg_type = RTM_DELLINK, .nlmsg_len = NLMSG_LENGTH(sizeof(m.link))}};

	put(&m, IFLA_IFNAME, name, strlen(name) + 1);
	say(s, &m);
}

static void change_links(int i)
{
	static _Thread_local int s = -1;
	struct message m = {
		.head = {.nlmsg_type = RTM_NEWLINK, .nlmsg_len = NLMSG_LENGTH(sizeof(m.link))},
		.link = {.ifi_index = 1}};
	uint32_t mtu = 1500 + (uint32_t)i;

	if (s < 0)
		s = route_socket();
	if (i < 2 && make_device(s, i ? "ifb8" : "ifb9") == 0)
		delete_device(s, i ? "ifb8" : "ifb9");
	put(&m, IFLA_MTU, &mtu, sizeof(mtu));
	if (say(s, &m))
		exit(failed("RTM_NEWLINK"));
}

static int begin_network(void)
{
	struct stat st;
	int code = own_network();

	if (code)
		return code;
	if (stat("/proc/thread-self/ns/net", &st) < 0)
		return failed("/proc/thread-self/ns/net");
	printf("nsid_lock netns %lu\n", (unsigned long)st.st_ino);
	return 0;
}

/* There is such an id after the first time: the answer is EEXIST. */
static void name_network(int i)
{
	static _Thread_local int s = -1;
	struct message m = {
		.head = {.nlmsg_type = RTM_NEWNSID, .nlmsg_len = NLMSG_LENGTH(sizeof(m.any))}};
	int id = 7, pid = getpid();

	(void)i;
	if (s < 0)
		s = route_socket();
	put(&m, NETNSA_PID, &pid, sizeof(pid));
	put(&m, NETNSA_NSID, &id, sizeof(id));
	int code = say(s, &m);
	if (code && code != EEXIST)
		exit(failed("RTM_NEWNSID"));
}

static int begin_device(void)
{
	int code = own_network(), s = code ? -1 : route_socket();

	if (code)
		return code;
	code = make_device(s, "ifb7");
	if (code)
		return object_names_skip("no ifb: %s", strerror(code));
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(0x88b5));
	link_to = (struct sockaddr_ll){.sll_family = AF_PACKET,
				       .sll_protocol = htons(0x88b5),
				       .sll_ifindex = (int)if_nametoindex("ifb7"),
				       .sll_halen = 6};
	printf("(_xmit_lock|seqlock|busylock|qdisc->.*) ifb7\n");
	return fd < 0 ? failed("packet socket") : 0;
}

static void send_packet(int i)
{
	char packet[64] = {0};

	(void)i;
	sendto(fd, packet, sizeof(packet), MSG_DONTWAIT, (struct sockaddr *)&link_to,
	       sizeof(link_to));
}

static int begin_unix(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	snprintf(to.sun_path + 1, sizeof(to.sun_path) - 1, "object-names-%d", getpid());
	if (fd < 0 ||
	    bind(fd, (struct sockaddr *)&to,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     strlen(to.sun_path + 1))) < 0 ||
	    connect(fd, (struct sockaddr *)&to,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				strlen(to.sun_path + 1))) < 0)
		return failed("unix socket");
	printf("[a-z_>.-]+ unix @%s\n", to.sun_path + 1);
	return 0;
}

static void use_socket(int i)
{
	char byte = 0;

	if (i & 1)
		send(fd, &byte, 1, MSG_DONTWAIT);
	else
		recv(fd, &byte, 1, MSG_DONTWAIT);
}

static int begin_udp(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof(to);

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&to, n) < 0 ||
	    getsockname(fd, (struct sockaddr *)&to, &n) < 0 ||
	    connect(fd, (struct sockaddr *)&to, n) < 0)
		return failed("udp socket");
	printf("[a-z_>.-]+ udp 127\\.0\\.0\\.1:%u > 127\\.0\\.0\\.1:%u\n", ntohs(to.sin_port),
	       ntohs(to.sin_port));
	return 0;
}

/* The first of these that is there, and may be written. */
static int begin_kernfs(void)
{
	static const char *const at[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup",
					 "/sys/fs/cgroup/memory", NULL};

	for (int i = 0; at[i]; i++) {
		snprintf(path, sizeof(path), "%s/object-names-%d", at[i], getpid());
		if (mkdir(path, 0700) == 0 && rmdir(path) == 0) {
			*strrchr(path, '/') = 0;
			printf("kernfs_[a-z_]+(\\.wait_lock)? cgroup2? %s\n", path);
			return 0;
		}
	}
	return object_names_skip("no cgroup can be made");
}

static void use_kernfs(int i)
{
	char name[640];
	struct stat st;

	snprintf(name, sizeof(name), "%s/object-names-%d-%d", path, getpid(), i);
	mkdir(name, 0700);
	stat(name, &st);
	rmdir(name);
}

static int begin_cgroup(void)
{
	static const char *const at[] = {"cpu", "memory", "pids", "freezer", NULL};

	for (int i = 0; at[i]; i++) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup/%s/tasks", at[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			printf("pidlist_mutex(\\.wait_lock)? /\n");
			return 0;
		}
	}
	return object_names_skip("no hierarchy of version 1, whose cgroups have lists of tasks");
}

static void read_tasks(int i)
{
	char text[PAGE];

	(void)i;
	int f = open(path, O_RDONLY | O_CLOEXEC);
	while (read(f, text, sizeof(text)) > 0)
		;
	close(f);
}

static int begin_machine(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	fd = kvm < 0 ? -1 : ioctl(kvm, KVM_CREATE_VM, 0);
	memory = mmap(NULL, SLOT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region r = {.memory_size = SLOT,
						.userspace_addr = (uintptr_t)memory};
	if (fd < 0 || memory == MAP_FAILED || ioctl(fd, KVM_SET_USER_MEMORY_REGION, &r) < 0)
		return object_names_skip("no virtual machines: %s", strerror(errno));
	printf("mmu_lock object-names/%d\n", getpid());
	return 0;
}

static void drop_memory(int i)
{
	memory[i * PAGE] = 1;
	madvise(memory + i * PAGE, PAGE, MADV_DONTNEED);
	mprotect(memory + i * PAGE, PAGE, PROT_READ);
	mprotect(memory + i * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int begin_map(void)
{
	struct bpf_map_info info = {0};
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_HASH,
			       .key_size = sizeof(uint32_t),
			       .value_size = MAP_SIZE,
			       .max_entries = 8,
			       .map_name = "object_names"};

	/* Since 6.15 these locks are resilient ones: the first that waits is in no queue, and the
	   kernel reports those in queues. */
	if (sysconf(_SC_NPROCESSORS_ONLN) < 3)
		return object_names_skip("on two CPUs no wait for a lock of a BPF map is reported");
	map = (int)bpf(BPF_MAP_CREATE, &attr);
	union bpf_attr ask = {.info = {.bpf_fd = (uint32_t)map,
				       .info_len = sizeof(info),
				       .info = (uint64_t)(uintptr_t)&info}};
	if (map < 0 || bpf(BPF_OBJ_GET_INFO_BY_FD, &ask) < 0)
		return object_names_skip("no BPF maps: %s", strerror(errno));
	printf("BPF map object_names \\(id %u\\) bucket [0-9]+\n", info.id);
	return 0;
}

static void change_map(int i)
{
	static const char value[MAP_SIZE];
	static const uint32_t key = 7;
	union bpf_attr attr = {
		.map_fd = (uint32_t)map, .key = (uintptr_t)&key, .value = (uintptr_t)value};

	(void)i;
	bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

/* A byte that is written to a terminal is passed on by a work. */
static int begin_works(void)
{
	printf("pool->lock (unbound|cpu) [0-9]+( highpri)?\n");
	return 0;
}

static void queue_work(int i)
{
	static _Thread_local int master = -1, slave = -1;
	char name[64], byte = 'x';

	(void)i;
	if (master < 0) {
		master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
		if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 ||
		    ptsname_r(master, name, sizeof(name)))
			exit(failed("terminal"));
		slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	}
	if (write(slave, &byte, 1) == 1)
		(void)!read(master, &byte, 1);
}

static int begin_futex(void)
{
	printf("futex bucket->lock object-names/%d\n", getpid());
	return 0;
}

static void wake_futex(int i)
{
	static const struct timespec none;

	if (i & 1)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &none, NULL, 0);
	else
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static const struct object_names_kind kinds[] = {
	{"netlink", begin_netlink, change_links, false},
	{"network", begin_network, name_network, false},
	{"device", begin_device, send_packet, false},
	{"unix", begin_unix, use_socket, false},
	{"udp", begin_udp, use_socket, false},
	{"kernfs", begin_kernfs, use_kernfs, false},
	{"cgroup", begin_cgroup, read_tasks, false},
	{"machine", begin_machine, drop_memory, false},
	{"map", begin_map, change_map, false},
	{"works", begin_works, queue_work, false},
	{"futex", begin_futex, wake_futex, false},
};

const struct object_names_kind *object_names_more(size_t *ret_n)
{
	*ret_n = sizeof(kinds) / sizeof(kinds[0]);
	return kinds;
}
