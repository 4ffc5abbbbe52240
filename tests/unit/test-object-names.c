// SPDX-License-Identifier: GPL-2.0-only
/* Which objects a lock may be in, and names of locks by what a BPF program found there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "btf/types.h"
#include "kontend/lockname.h"
#include "kontend/mem.h"
#include "locks/fields-shared.h"
#include "locks/fields.h"
#include "locks/internal.h"
#include "locks/left.h"

#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static struct kerntypes *types; /* of the running kernel; NULL: it has none */
static struct field_members members;

static const struct field_member *member(const char *type, const char *name)
{
	for (size_t i = 0; i < members.n; i++)
		if (!strcmp(members.members[i].type->type, type) &&
		    !strcmp(members.members[i].name, name))
			return &members.members[i];
	return NULL;
}

static void need_types(void)
{
	if (!types) {
		print_message("no types of the kernel here\n");
		skip();
	}
}

static void locks_have_the_names_of_their_members(void **state)
{
	static const char *const known[][2] = {
		{"task_struct", "pi_lock"},
		{"task_struct", "alloc_lock"},
		{"sighand_struct", "siglock"},
		{"files_struct", "file_lock"},
		{"inode", "i_rwsem"},
		{"inode", "i_mmap_rwsem"},
		{"inode", "xa_lock"},
		{"inode", "i_lock"},
		{"dentry", "d_lock"},
		{"super_block", "s_umount"},
		{"super_block", "s_inode_list_lock"},
		{"zone", "zone->lock"},
		{"lruvec", "lru_lock"},
		{"anon_vma", "anon_vma->rwsem"},
		{"kmem_cache_node", "list_lock"},
		{"worker_pool", "pool->lock"},
		{"eventpoll", "epoll->mtx"},
		{"pipe_inode_info", "pipe->mutex"},
		{"file", "f_pos_lock"},
		{"uprobe", "register_rwsem"},
		{"perf_event_context", "ctx->lock"},
		{"bpf_local_storage", "BPF storage->lock"},
		{"blk_flush_queue", "mq_flush_lock"},
	};

	(void)state;
	need_types();
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!member(known[i][0], known[i][1]))
			fail_msg("no %s in %s", known[i][1], known[i][0]);
	for (size_t i = 0; i < members.n; i++)
		assert_true(*members.members[i].name);
}

/* Sleeping locks have a spinlock for their waiters, where this is no kernel for real time. */
static void the_lock_in_a_lock_has_both_names(void **state)
{
	(void)state;
	need_types();
	if (kerntypes_offset(types, "rw_semaphore", "wait_lock") < 0)
		skip();
	assert_non_null(member("inode", "i_rwsem.wait_lock"));
	assert_int_equal(member("inode", "i_rwsem.wait_lock")->offset -
				 member("inode", "i_rwsem")->offset,
			 kerntypes_offset(types, "rw_semaphore", "wait_lock"));
}

static void a_type_that_is_not_there_has_no_locks(void **state)
{
	struct kerntypes_lock *locks;
	size_t n;

	(void)state;
	need_types();
	assert_int_equal(kerntypes_locks(types, "no_such_struct", NULL, &locks, &n), 0);
	assert_int_equal(n, 0);
	assert_null(locks);
	assert_true(kerntypes_offset(types, "task_struct", "no_such_member") < 0);
	assert_true(kerntypes_size(types, "no_such_struct") < 0);
}

static bool has(const struct raw_candidate *c, size_t n, uint32_t type, uint64_t base)
{
	for (size_t i = 0; i < n; i++)
		if (c[i].type == type && c[i].base == base)
			return true;
	return false;
}

static void the_cache_says_which_objects_are_tried(void **state)
{
	const uint64_t task = 0xffff888012345680;
	static struct raw_candidate c[RAW_CANDIDATES];
	struct raw_lock l = {.slab = "task_struct"};

	(void)state;
	need_types();
	l.addr = task + member("task_struct", "pi_lock")->offset;
	size_t n = field_candidates(&members, &l, true, false, c, RAW_CANDIDATES);
	assert_true(has(c, n, RAW_F_TASK, task));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(c[i].type, RAW_F_TASK);
	/* A merged cache, or none known: any type. */
	l.merged = 1;
	size_t merged = field_candidates(&members, &l, true, false, c, RAW_CANDIDATES);
	assert_true(has(c, merged, RAW_F_TASK, task) && merged > n);
	l.merged = 0;
	assert_int_equal(field_candidates(&members, &l, false, false, c, RAW_CANDIDATES), merged);
	/* No more than there is room for. */
	assert_int_equal(field_candidates(&members, &l, false, false, c, 3), 3);
	/* The first walk is for those that others do not lead to. */
	l.addr = task;
	assert_true(field_candidates(&members, &l, false, true, c, RAW_CANDIDATES) > 0);
	assert_true(field_is_walked(c[0].type));
	/* Processes are searched for their mmap_locks. */
	l.addr = task + member("mm_struct", "mmap_lock")->offset;
	n = field_candidates(&members, &l, false, false, c, RAW_CANDIDATES);
	assert_false(has(c, n, RAW_F_MM, task));
	l.addr = task + member("task_struct", "pi_lock")->offset;
	/* In no slab: what has a cache of its own is not there. */
	*l.slab = 0;
	n = field_candidates(&members, &l, true, false, c, RAW_CANDIDATES);
	assert_false(has(c, n, RAW_F_TASK, task));
}

/* Objects of kmalloc() begin where their memory does. */
static void a_size_leaves_few_places(void **state)
{
	const uint64_t root = 0xffff888012345600;
	static struct raw_candidate c[RAW_CANDIDATES];
	struct raw_lock l = {.slab = "kmalloc-256"};

	(void)state;
	need_types();
	const struct field_member *m = member("kernfs_root", "kernfs_rwsem");
	if (!m)
		skip();
	l.addr = root + m->offset;
	size_t n = field_candidates(&members, &l, true, false, c, RAW_CANDIDATES);
	assert_true(has(c, n, RAW_F_KERNFS, root));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(c[i].base / 256, l.addr / 256);
}

static void a_place_in_a_slab_says_which_lock_it_is(void **state)
{
	struct raw_lock l = {.slab = "dentry", .object_size = 192, .order = 1};
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE),
		       slab = 0xffff888000000000 + 2 * page * 7;

	(void)state;
	need_types();
	const struct field_member *m = member("dentry", "d_lock");
	l.addr = slab + 192 * 3 + m->offset;
	assert_ptr_equal(field_by_cache(&members, &l), m);
	l.addr++;
	assert_null(field_by_cache(&members, &l));
	l.addr--;
	l.merged = 1;
	assert_null(field_by_cache(&members, &l));
	l.merged = 0;
	l.object_size = 0;
	assert_null(field_by_cache(&members, &l));
}

/* Names of what was found, without a kernel. */
struct place {
	char mountinfo[64];
	struct field_names names;
	struct locksnap snap;
	struct field_type type;
	struct field_member member;
	struct raw_field field;
	struct raw_candidate candidate;
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	snprintf(p->mountinfo, sizeof(p->mountinfo), "/tmp/object-names-XXXXXX");
	int fd = mkstemp(p->mountinfo);
	static const char text[] = "21 1 254:0 / / rw - ext4 /dev/vda rw\n"
				   "22 21 254:1 /sub /srv rw - ext4 /dev/vdb rw\n"
				   "23 21 0:30 / /sys rw - sysfs sysfs rw\n";
	assert_true(fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	close(fd);
	p->names = (struct field_names){.mountinfo = p->mountinfo, .sys = "/nowhere"};
	p->candidate = (struct raw_candidate){.addr = 64, .id = {.ino = 5, .dev = 7}};
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	unlink(p->mountinfo);
	mounts_deinit(&p->names.mounts);
	locksnap_deinit(&p->snap);
	free(p);
	return 0;
}

static const struct locksnap_name *name_of(struct place *p, uint32_t proof, const char *name)
{
	p->type = (struct field_type){.type = "a_type", .proof = proof};
	p->member = (struct field_member){.type = &p->type};
	snprintf(p->member.name, sizeof(p->member.name), "%s", name);
	locksnap_clear(&p->snap);
	assert_int_equal(field_fill(&p->member, &p->candidate, &p->field, &p->names, &p->snap), 0);
	assert_int_equal(p->snap.n_names, 1);
	const struct locksnap_name *n = &p->snap.names[0];
	assert_int_equal(n->addr, 64);
	assert_int_equal(n->ino, 5);
	assert_int_equal(n->dev, 7);
	assert_string_equal(locksnap_text(&p->snap, n->what), name);
	return n;
}

static void expect_text(struct place *p, uint32_t proof, const char *text)
{
	const struct locksnap_name *n = name_of(p, proof, "lock");

	assert_string_equal(locksnap_text(&p->snap, n->text), text);
}

static void put_path(struct place *p, const char *names, size_t bytes)
{
	memcpy(p->field.path.names, names, bytes);
	p->field.path.bytes = (unsigned)bytes;
	p->field.path.whole = 1;
}

static void tasks_have_their_names_and_begins(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.pid = 8, .tid = 9, .comm = "sh", .since_ns = 77};
	const struct locksnap_name *n = name_of(p, RAW_F_TASK, "pi_lock");
	assert_int_equal(n->kind, LOCKSNAP_OBJECT);
	assert_int_equal(n->pid, 9);
	assert_int_equal(n->since_ns, 77);
	assert_string_equal(locksnap_text(&p->snap, n->comm), "sh");
	assert_int_equal(name_of(p, RAW_F_SIGNAL, "stats_lock")->pid, 8);
	/* As descriptors name it. */
	assert_int_equal(name_of(p, RAW_F_PIPE, "pipe->mutex")->kind, LOCKSNAP_PIPE);
}

static void names_outlast_their_snapshot(void **state)
{
	struct place *p = *state;
	struct lockname_set *s = lockname_set_new(0);

	assert_non_null(s);
	p->field = (struct raw_field){.pid = 8, .tid = 9, .comm = "sh"};
	name_of(p, RAW_F_TASK, "pi_lock");
	p->snap.names[0].site = 0; /* the type of the object is not known */
	assert_int_equal(lockname_take_names(s, &p->snap, 1, NULL), 0);
	name_of(p, RAW_F_TASK, "stats_lock"); /* in the same memory */
	assert_string_equal(lockname_get(s, 64)->what, "pi_lock");
	lockname_set_unref(s);
}

static void files_have_the_path_of_their_mount(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.dev = 254 << 20 | 1, .fs = "ext4", .number = 12};
	put_path(p, "x\0sub", 6);
	expect_text(p, RAW_F_DENTRY, "/srv/x");
	expect_text(p, RAW_F_INODE, "/srv/x");
	assert_int_equal(name_of(p, RAW_F_INODE, "i_rwsem")->kind, LOCKSNAP_INODE);
	assert_int_equal(name_of(p, RAW_F_INODE, "i_mmap_rwsem")->kind, LOCKSNAP_IMMAP);
	p->field.dev = 254 << 20 | 9;
	expect_text(p, RAW_F_DENTRY, "/sub/x (ext4 254:9)");
	p->field.dev = 254 << 20;
	put_path(p, "", 0);
	expect_text(p, RAW_F_DENTRY, "/");
	p->field.path = (struct raw_path){0};
	expect_text(p, RAW_F_INODE, "inode 12 (ext4 254:0)");
	put_path(p, "memfd:a\001", 9);
	p->field.alone = 1;
	expect_text(p, RAW_F_DENTRY, "/memfd:a? (deleted)");
}

static void files_within_others_have_the_path(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.dev = 254 << 20 | 1, .fs = "ext4", .place = 0x4c30};
	put_path(p, "x\0sub", 6);
	expect_text(p, RAW_F_FILE, "/srv/x");
	assert_int_equal(name_of(p, RAW_F_FILE, "f_pos_lock")->kind, LOCKSNAP_POS);
	assert_int_equal(name_of(p, RAW_F_FILE, "f_lock")->kind, LOCKSNAP_OBJECT);
	/* As the kernel writes uprobes. */
	expect_text(p, RAW_F_UPROBE, "/srv/x:0x4c30");
}

static void disks_and_caches_have_their_names(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.name = "vda"};
	expect_text(p, RAW_F_VIRTQ, "vda");
	expect_text(p, RAW_F_FLUSH, "vda");
	expect_text(p, RAW_F_SCHEDULER, "vda");
	p->field = (struct raw_field){.name = "kmalloc-64"};
	expect_text(p, RAW_F_BARN, "kmalloc-64");
	p->field = (struct raw_field){.pid = 8, .tid = 8, .comm = "sh"};
	assert_int_equal(name_of(p, RAW_F_CONTEXT, "ctx->mutex")->pid, 8);
	assert_int_equal(name_of(p, RAW_F_STORAGE, "BPF storage->lock")->pid, 8);
}

static void systems_have_devices_or_places(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.dev = 254 << 20, .fs = "ext4", .name = "vda"};
	expect_text(p, RAW_F_SUPER, "vda");
	p->field = (struct raw_field){.dev = 30, .fs = "sysfs", .name = "sysfs"};
	expect_text(p, RAW_F_KERNFS, "sysfs /sys");
	p->field.dev = 31;
	expect_text(p, RAW_F_SUPER, "sysfs");
	p->field = (struct raw_field){.comm = "jbd2/vda-8"};
	expect_text(p, RAW_F_JOURNAL, "jbd2/vda-8");
}

static void memory_has_nodes_and_cgroups(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.node = 1, .name = "Normal"};
	expect_text(p, RAW_F_ZONE, "node 1 Normal");
	expect_text(p, RAW_F_LRUVEC, "node 1");
	p->field.number = 40;
	put_path(p, "db\0system", 10);
	expect_text(p, RAW_F_LRUVEC, "node 1 /system/db");
	expect_text(p, RAW_F_MEMCG, "/system/db");
	put_path(p, "", 0);
	expect_text(p, RAW_F_CGROUP, "/");
}

static void sockets_have_addresses(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.family = AF_INET, .proto = 6, .port = 80};
	expect_text(p, RAW_F_SOCK, "tcp *:80");
	memcpy(p->field.at, "\x7f\0\0\1", 4);
	memcpy(p->field.other, "\x7f\0\0\2", 4);
	p->field.other_port = 0x3500; /* as on the wire */
	p->field.proto = 17;
	expect_text(p, RAW_F_SOCK, "udp 127.0.0.1:80 > 127.0.0.2:53");
	p->field.family = AF_INET6;
	p->field.other_port = 0;
	memset(p->field.at, 0, 16);
	p->field.at[15] = 1;
	expect_text(p, RAW_F_SOCK, "udp [::1]:80");
	p->field = (struct raw_field){.family = AF_UNIX, .name = "/run/x", .cpu = 6, .number = 3};
	expect_text(p, RAW_F_SOCK, "unix /run/x");
	memcpy(p->field.name, "\0abs", 5);
	expect_text(p, RAW_F_SOCK, "unix @abs");
	p->field.cpu = -1;
	expect_text(p, RAW_F_SOCK, "unix socket:[3]");
}

static void pools_have_cpus(void **state)
{
	struct place *p = *state;

	p->field = (struct raw_field){.cpu = 3, .number = 6};
	expect_text(p, RAW_F_POOL, "cpu 3");
	p->field.node = -20;
	expect_text(p, RAW_F_POOL, "cpu 3 highpri");
	p->field.cpu = -1;
	expect_text(p, RAW_F_POOL, "unbound 6 highpri");
}

static void messages_have_the_names_of_rtnetlink(void **state)
{
	static const struct {
		uint32_t type;
		const char *name;
	} known[] = {{RTM_NEWLINK, "RTM_NEWLINK"},   {RTM_DELLINK, "RTM_DELLINK"},
		     {RTM_SETLINK, "RTM_SETLINK"},   {RTM_GETADDR, "RTM_GETADDR"},
		     {RTM_NEWQDISC, "RTM_NEWQDISC"}, {RTM_NEWNEIGHTBL, "RTM_NEWNEIGHTBL"},
		     {RTM_GETDCB, "RTM_GETDCB"},     {RTM_NEWNSID, "RTM_NEWNSID"},
		     {RTM_DELCHAIN, "RTM_DELCHAIN"}, {RTM_NEWNEXTHOP, "RTM_NEWNEXTHOP"}};
	char name[32];

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		assert_true(calls_message_name(known[i].type, name, sizeof(name)));
		assert_string_equal(name, known[i].name);
	}
	assert_false(calls_message_name(0, name, sizeof(name)));
	assert_false(calls_message_name(RTM_BASE - 1, name, sizeof(name)));
	assert_false(calls_message_name(4096, name, sizeof(name)));
	assert_false(calls_message_name(UINT32_MAX, name, sizeof(name)));
}

/* It is read in the memory of the task, of a socket alone. */
static void the_message_of_a_call_is_read(void **state)
{
	struct place *p = *state;
	struct nlmsghdr head = {.nlmsg_type = RTM_DELLINK, .nlmsg_len = sizeof(head)};
	struct iovec v = {&head, sizeof(head)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	struct raw_call c = {.number = SYS_sendmsg, .args = {3, (uintptr_t)&m}};
	struct left left = {0};

	snprintf(c.files[0].fs, sizeof(c.files[0].fs), "sockfs");
	c.files[0].known = 1;
	assert_int_equal(snapshot_locks_fill_message(&left, &c, gettid(), &p->snap), 0);
	assert_int_equal(p->snap.n_sleeps, 1);
	assert_int_equal(p->snap.sleeps[0].doing, LOCKSNAP_SENDS);
	assert_string_equal(locksnap_text(&p->snap, p->snap.sleeps[0].file), "RTM_DELLINK");
	c.number = SYS_sendto;
	c.args[1] = (uintptr_t)&head;
	assert_int_equal(snapshot_locks_fill_message(&left, &c, gettid(), &p->snap), 0);
	assert_int_equal(p->snap.n_sleeps, 2);
	/* Memory that is not there, another call, another file, a message that is too short. */
	c.args[1] = 8;
	assert_int_equal(snapshot_locks_fill_message(&left, &c, gettid(), &p->snap), 0);
	c.args[1] = (uintptr_t)&head;
	c.number = SYS_read;
	assert_int_equal(snapshot_locks_fill_message(&left, &c, gettid(), &p->snap), 0);
	c.number = SYS_sendto;
	head.nlmsg_len = 4;
	assert_int_equal(snapshot_locks_fill_message(&left, &c, gettid(), &p->snap), 0);
	head.nlmsg_len = sizeof(head);
	snprintf(c.files[0].fs, sizeof(c.files[0].fs), "ext4");
	assert_int_equal(snapshot_locks_fill_message(&left, &c, gettid(), &p->snap), 0);
	assert_int_equal(p->snap.n_sleeps, 2);
	left_deinit(&left);
}

/* The structure around an inode depends on its file system, that around a socket on its family. */
static void another_kind_of_object_does_not_fit(void **state)
{
	struct place *p = *state;
	struct field_type t = {.proof = RAW_F_INODE, .within = "vfs_inode", .fs = "xfs"};
	struct field_member m = {.type = &t};

	snprintf(p->field.fs, sizeof(p->field.fs), "ext4");
	assert_false(field_fits(&m, &p->field));
	t.fs = "ext4";
	assert_true(field_fits(&m, &p->field));
	t = (struct field_type){.proof = RAW_F_SOCK, .within = "sk", .family = AF_UNIX};
	p->field.family = AF_INET;
	assert_false(field_fits(&m, &p->field));
	p->field.family = AF_UNIX;
	assert_true(field_fits(&m, &p->field));
}

#define TEXT(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_have_the_names_of_their_members),
		cmocka_unit_test(the_lock_in_a_lock_has_both_names),
		cmocka_unit_test(a_type_that_is_not_there_has_no_locks),
		cmocka_unit_test(the_cache_says_which_objects_are_tried),
		cmocka_unit_test(a_size_leaves_few_places),
		cmocka_unit_test(a_place_in_a_slab_says_which_lock_it_is),
		TEXT(tasks_have_their_names_and_begins),
		TEXT(names_outlast_their_snapshot),
		TEXT(files_have_the_path_of_their_mount),
		TEXT(files_within_others_have_the_path),
		TEXT(disks_and_caches_have_their_names),
		TEXT(systems_have_devices_or_places),
		TEXT(memory_has_nodes_and_cgroups),
		TEXT(sockets_have_addresses),
		TEXT(pools_have_cpus),
		TEXT(another_kind_of_object_does_not_fit),
		TEXT(the_message_of_a_call_is_read),
		cmocka_unit_test(messages_have_the_names_of_rtnetlink),
	};
	struct error err;

	if (kerntypes_new(&types, &err) == 0 && !kerntypes_btf(types, &err)) {
		kerntypes_free(types);
		types = NULL;
	}
	if (types && field_members_read(&members, types) < 0)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	field_members_deinit(&members);
	kerntypes_free(types);
	return failed;
}
