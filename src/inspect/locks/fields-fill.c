// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of locks by the object that they are in: the task, the path of the file, the device, the
 * memory cgroup, the addresses of the socket. Nothing here asks a file system.
 */
#include "fields-shared.h"
#include "fields.h"
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { TEXT = 512, TCP = 6, UDP = 17 };

static const struct mount_point *mount_of(struct field_names *n, uint32_t dev, const char *path)
{
	if (!n->mounts_known)
		(void)mounts_read(&n->mounts, n->mountinfo); /* none are known then */
	n->mounts_known = true;
	return mounts_find(&n->mounts, dev, path);
}

/* "/srv/x", or, of a file system that is mounted elsewhere alone, "/x (ext4 254:0)". */
static void put_path(struct field_names *names, const struct raw_field *r, char *ret, size_t size)
{
	char path[TEXT];

	because_path(&r->path, path, sizeof(path));
	const struct mount_point *m = mount_of(names, r->dev, path);
	if (r->alone)
		snprintf(ret, size, "%s (deleted)", path);
	else if (!r->path.whole)
		snprintf(ret, size, "%s", path);
	else if (m)
		snprintf(ret, size, "%s%s", m->at[1] || !*path ? m->at : "",
			 path + (m->root[1] ? strlen(m->root) : 0));
	else
		snprintf(ret, size, "%s (%.*s %u:%u)", *path ? path : "/", (int)sizeof(r->fs),
			 r->fs, r->dev >> 20, r->dev & 0xfffff);
}

static void put_inode(struct field_names *names, const struct raw_field *r, char *ret, size_t size)
{
	char device[32];

	if (r->rdev && *calls_device(names->sys, r->rdev, device, sizeof(device)))
		snprintf(ret, size, "/dev/%s", device);
	else if (!strncmp(r->fs, "sockfs", sizeof(r->fs)) ||
		 !strncmp(r->fs, "pipefs", sizeof(r->fs)))
		snprintf(ret, size, "%.*s:[%llu]", *r->fs == 's' ? 6 : 4,
			 *r->fs == 's' ? "socket" : "pipe", r->number);
	else if (!strncmp(r->fs, "anon_inodefs", sizeof(r->fs)))
		snprintf(ret, size, "anon_inode");
	else if (r->path.bytes || r->path.whole)
		put_path(names, r, ret, size);
	else
		snprintf(ret, size, "inode %llu (%.*s %u:%u)", r->number, (int)sizeof(r->fs), r->fs,
			 r->dev >> 20, r->dev & 0xfffff);
}

/* "vda1" of a disk; else the type and where it is mounted: "sysfs /sys". */
static void put_super(struct field_names *names, const struct raw_field *r, char *ret, size_t size)
{
	const struct mount_point *m = mount_of(names, r->dev, "/");

	if (r->dev >> 20)
		snprintf(ret, size, "%.*s", (int)sizeof(r->name), r->name);
	else
		snprintf(ret, size, "%.*s%s%s", (int)sizeof(r->fs), r->fs, m ? " " : "",
			 m ? m->at : "");
}

static void put_cgroup(const struct raw_field *r, char *ret, size_t size)
{
	char path[TEXT];

	because_path(&r->path, path, sizeof(path));
	snprintf(ret, size, "%s", *path ? path : "/");
}

static void put_end(int family, const unsigned char *at, unsigned port, char *ret, size_t size)
{
	static const unsigned char any[16];
	char text[INET6_ADDRSTRLEN];

	if (!memcmp(at, any, family == AF_INET ? 4 : 16))
		snprintf(text, sizeof(text), "*");
	else if (!inet_ntop(family, at, text, sizeof(text)))
		*text = 0;
	snprintf(ret, size, family == AF_INET6 && *text != '*' ? "[%s]:%u" : "%s:%u", text, port);
}

/* "tcp 10.0.0.1:80", "udp 10.0.0.1:5353 > 10.0.0.2:53", "unix /run/x", "netlink route". */
static void put_sock(const struct raw_field *r, char *ret, size_t size)
{
	const char *proto = r->proto == TCP ? "tcp" : r->proto == UDP ? "udp" : "ip";
	char own[64], other[64];
	bool abstract = !*r->name;

	if (r->family == AF_INET || r->family == AF_INET6) {
		put_end((int)r->family, r->at, r->port, own, sizeof(own));
		put_end((int)r->family, r->other, ntohs((uint16_t)r->other_port), other,
			sizeof(other));
		snprintf(ret, size, r->other_port ? "%s %s > %s" : "%s %s", proto, own, other);
	} else if (r->family == AF_UNIX && r->cpu > 0) {
		snprintf(ret, size, "unix %s%.*s", abstract ? "@" : "",
			 (int)sizeof(r->name) - abstract, r->name + abstract);
	} else if (r->family == AF_UNIX) {
		snprintf(ret, size, "unix socket:[%llu]", r->number);
	} else if (r->family == AF_NETLINK) {
		snprintf(ret, size, "netlink:%u socket:[%llu]", r->proto, r->number);
	} else {
		snprintf(ret, size, "socket:[%llu]", r->number);
	}
}

static void put_memory(const struct field_member *m, const struct raw_field *r, char *ret,
		       size_t size)
{
	char path[TEXT];

	switch (m->type->proof) {
	case RAW_F_ZONE:
		snprintf(ret, size, "node %d %.*s", r->node, (int)sizeof(r->name), r->name);
		return;
	case RAW_F_LRUVEC:
		put_cgroup(r, path, sizeof(path));
		if (r->number)
			snprintf(ret, size, "node %d %s", r->node, path);
		else
			snprintf(ret, size, "node %d", r->node);
		return;
	case RAW_F_NODE:
		snprintf(ret, size, "node %d", r->node);
		return;
	case RAW_F_CACHE_NODE:
	case RAW_F_BARN:
		snprintf(ret, size, "%.*s", (int)sizeof(r->name), r->name);
		return;
	case RAW_F_CFS_RQ:
		put_cgroup(r, path, sizeof(path));
		snprintf(ret, size, "cpu %d %s", r->cpu, path);
		return;
	default:
		put_cgroup(r, ret, size);
	}
}

/* "254:0" of a disk; else what the file system calls it. */
static void put_bdi(const struct raw_field *r, const char *sys, char *ret, size_t size)
{
	unsigned major, minor;
	char device[32];
	int n = 0;

	if (sscanf(r->name, "%u:%u%n", &major, &minor, &n) == 2 && !r->name[n] && major < 1 << 12 &&
	    *calls_device(sys, major << 20 | minor, device, sizeof(device)))
		snprintf(ret, size, "%s", device);
	else
		snprintf(ret, size, "%.*s", (int)sizeof(r->name), r->name);
}

static void put_other(const struct field_member *m, const struct raw_field *r,
		      const struct field_names *names, char *ret, size_t size)
{
	switch (m->type->proof) {
	case RAW_F_BDI:
		put_bdi(r, names->sys, ret, size);
		return;
	case RAW_F_SOCK:
		put_sock(r, ret, size);
		return;
	case RAW_F_NET:
		snprintf(ret, size, "netns %llu", r->number);
		return;
	case RAW_F_POOL:
		if (r->cpu >= 0)
			snprintf(ret, size, "cpu %d%s", r->cpu, r->node < 0 ? " highpri" : "");
		else
			snprintf(ret, size, "unbound %llu%s", r->number,
				 r->node < 0 ? " highpri" : "");
		return;
	default:
		snprintf(ret, size, "%.*s", (int)sizeof(r->name), r->name);
	}
}

static void put_text(const struct field_member *m, const struct raw_field *r,
		     struct field_names *names, char *ret, size_t size)
{
	char path[TEXT];

	switch (m->type->proof) {
	case RAW_F_JOURNAL:
		snprintf(ret, size, "%.*s", (int)sizeof(r->comm), r->comm);
		return;
	case RAW_F_INODE:
	case RAW_F_FILE:
	case RAW_F_FLOCKS:
		put_inode(names, r, ret, size);
		return;
	case RAW_F_DENTRY:
		put_path(names, r, ret, size);
		return;
	case RAW_F_UPROBE:
		put_inode(names, r, path, sizeof(path));
		snprintf(ret, size, "%s:0x%llx", path, r->place);
		return;
	case RAW_F_SUPER:
	case RAW_F_EXT4:
	case RAW_F_GROUPS:
	case RAW_F_KERNFS:
		put_super(names, r, ret, size);
		return;
	}
	if (m->type->proof < RAW_F_SOCK)
		put_memory(m, r, ret, size);
	else
		put_other(m, r, names, ret, size);
}

/* Locks of inodes that events and descriptors name as well have the kinds of these. */
static uint32_t kind_of(const struct field_member *m)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} known[] = {{"i_rwsem", LOCKSNAP_INODE},
		     {"i_mmap_rwsem", LOCKSNAP_IMMAP},
		     {"invalidate_lock", LOCKSNAP_INVALIDATE},
		     {"i_data_sem", LOCKSNAP_EXT4},
		     {"i_lock", LOCKSNAP_XFS}};

	if (m->type->proof == RAW_F_FILE && !strcmp(m->name, "f_pos_lock"))
		return LOCKSNAP_POS;
	if (m->type->proof == RAW_F_PIPE && !strcmp(m->name, "pipe->mutex"))
		return LOCKSNAP_PIPE;
	if (m->type->proof == RAW_F_INODE)
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (!strcmp(m->name, known[i].name) &&
			    (known[i].kind != LOCKSNAP_XFS || !strcmp(m->type->type, "xfs_inode")))
				return known[i].kind;
	return LOCKSNAP_OBJECT;
}

static bool is_of_task(uint32_t proof)
{
	return proof <= RAW_F_MM || proof == RAW_F_PIPE || proof == RAW_F_EPOLL ||
	       proof == RAW_F_ANON_VMA || proof == RAW_F_FUTEX || proof == RAW_F_KVM ||
	       proof == RAW_F_EVENT || proof == RAW_F_CONTEXT || proof == RAW_F_STORAGE;
}

bool field_fits(const struct field_member *m, const struct raw_field *r)
{
	const struct field_type *t = m->type;

	if (t->proof == RAW_F_SOCK && t->within)
		return r->family == t->family;
	return !t->fs || !strncmp(t->fs, r->fs, sizeof(r->fs)) ||
	       (!strcmp(t->fs, "ext4") && !strncmp(r->fs, "ext", 3)) ||
	       (!strcmp(t->fs, "tmpfs") && !strncmp(r->fs, "devtmpfs", sizeof(r->fs)));
}

int field_fill(const struct field_member *m, const struct raw_candidate *c,
	       const struct raw_field *r, struct field_names *names, struct locksnap *s)
{
	struct locksnap_name n = {.addr = c->addr,
				  .kind = kind_of(m),
				  .cpu = -1,
				  .ino = c->id.ino,
				  .generation = c->id.generation,
				  .dev = c->id.dev};
	char text[2 * TEXT];

	n.what = snapshot_locks_add_text(s, m->name, sizeof(m->name));
	n.site = snapshot_locks_add_text(s, m->type->type, strlen(m->type->type));
	if (is_of_task(m->type->proof)) {
		n.pid = m->type->proof == RAW_F_TASK ? r->tid : r->pid;
		n.comm = snapshot_locks_add_text(s, r->comm, sizeof(r->comm));
		n.since_ns = r->since_ns;
	} else {
		put_text(m, r, names, text, sizeof(text));
		n.text = snapshot_locks_add_long(s, text);
	}
	return locksnap_add_name(s, &n);
}
