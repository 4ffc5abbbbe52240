// SPDX-License-Identifier: GPL-2.0-only
/*
 * The message that the holder of a lock sends to rtnetlink: for most holders of the rtnl_mutex that
 * is the reason why they have it. It is in the memory of the task, and only that of a task that
 * sends to a netlink socket is read.
 */
#include "internal.h"
#include "kontend/mem.h"
#include "left.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static bool read_memory(int pid, uint64_t from, void *to, size_t n)
{
	const struct iovec own = {to, n}, other = {(void *)(uintptr_t)from, n};

	return process_vm_readv(pid, &own, 1, &other, 1, 0) == (ssize_t)n;
}

/* Where the first bytes of what it sends are; 0: it sends nothing. */
static uint64_t sent(const struct raw_call *c, int pid)
{
	struct msghdr m;
	struct iovec v;

	if (c->number == SYS_sendto || c->number == SYS_write)
		return c->args[1];
	if (c->number != SYS_sendmsg || !read_memory(pid, c->args[1], &m, sizeof(m)) ||
	    !m.msg_iov || !m.msg_iovlen ||
	    !read_memory(pid, (uint64_t)(uintptr_t)m.msg_iov, &v, sizeof(v)))
		return 0;
	return (uint64_t)(uintptr_t)v.iov_base;
}

/* By groups of four, from RTM_BASE on: new, del, get, set. */
static const char *const groups[] = {
	"LINK",	     "ADDR",	"ROUTE",    "NEIGH",	 "RULE",	  "QDISC",    "TCLASS",
	"TFILTER",   "ACTION",	"PREFIX",   "MULTICAST", "ANYCAST",	  "NEIGHTBL", "NDUSEROPT",
	"ADDRLABEL", "DCB",	"NETCONF",  "MDB",	 "NSID",	  "STATS",    "CACHEREPORT",
	"CHAIN",     "NEXTHOP", "LINKPROP", "VLAN",	 "NEXTHOPBUCKET", "TUNNEL"};

bool calls_message_name(uint32_t type, char *ret, size_t size)
{
	static const char *const verbs[] = {"NEW", "DEL", "GET", "SET"};
	uint32_t at = type - RTM_BASE;

	if (type < RTM_BASE || at / 4 >= sizeof(groups) / sizeof(groups[0]))
		return false;
	snprintf(ret, size, "RTM_%s%s", verbs[at % 4], groups[at / 4]);
	return true;
}

/* The memory of a process may keep its reader waiting for ever: so a thread reads it. */
struct message {
	struct left_work work;
	struct raw_call call;
	char name[32]; /* "": none that is known */
};

static void read_message(struct left_work *work)
{
	struct message *m = (struct message *)work;
	struct nlmsghdr h;
	uint64_t at = sent(&m->call, work->pid);

	if (at && read_memory(work->pid, at, &h, sizeof(h)) && h.nlmsg_len >= sizeof(h))
		calls_message_name(h.nlmsg_type, m->name, sizeof(m->name));
}

static void free_message(struct left_work *work)
{
	mem_free(work);
}

/* Of a socket of another family they may look like a message: they are of a holder of a mutex. */
static bool may_send(const struct raw_call *c)
{
	return (c->number == SYS_sendmsg || c->number == SYS_sendto || c->number == SYS_write) &&
	       c->files[0].known && !strncmp(c->files[0].fs, "sockfs", sizeof(c->files[0].fs));
}

int snapshot_locks_fill_message(struct left *left, const struct raw_call *c, int tid,
				struct locksnap *s)
{
	struct locksnap_sleep at = {.tid = tid, .doing = LOCKSNAP_SENDS, .fd = -1};
	int code = 0;

	if (!left || tid <= 0 || !may_send(c))
		return 0;
	left_forget_back(left);
	if (left->n >= LEFT_MOST || left_has(left, tid))
		return 0;
	struct message *m = mem_calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->call = *c;
	left_begin(&m->work, read_message, free_message);
	m->work.pid = tid;
	if (left_run(left, &m->work) < 0)
		return 0;
	if (*m->name) {
		at.file = locksnap_add_text(s, m->name);
		code = locksnap_add_sleep(s, &at);
	}
	left_unref(&m->work);
	return code;
}
