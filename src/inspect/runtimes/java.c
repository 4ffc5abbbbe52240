// SPDX-License-Identifier: GPL-2.0-only
/*
 * Java: OpenJDK's HotSpot, 11 and later. A thread that waits for a monitor, or that a class of
 * java.util.concurrent has parked, sleeps on a condition variable of its own; so its call says
 * nothing of the lock. But it stores for which monitor it waits, and in its object of
 * java.lang.Thread which object has parked it. The class of that object says whether it is a lock.
 *
 * Most classes of java.util.concurrent wait for work, or for a result. A class that is not known is
 * a lock if it is made like those of java.util.concurrent.locks and a thread has it for itself.
 */
#include "internal.h"
#include "kontend/mem.h"
#include "kontend/text.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

static bool open_machine(const struct runtime_process *p, struct runtime *t)
{
	return java_read_places(p, t, &t->java);
}

/* May it be parked, or wait for a monitor? All do that by condition variables. */
static bool may_wait(const struct runtime_thread *t)
{
	const char *what = t->found ? t->found->what : "";

	if (!t->call || (t->call->op & FUTEX_CMD_MASK) != FUTEX_WAIT_BITSET)
		return false;
	return !*what || !strcmp(what, "Java monitor") || !strcmp(what, "Java park") ||
	       (t->found->by_condition && t->found->can_lock_too);
}

/* "java/lang/Object" as "java.lang.Object". */
static void show_class(const char *name, char ret[RUNTIME_NAME])
{
	text_clean(ret, RUNTIME_NAME, name);
	for (char *at = ret; *at; at++)
		if (*at == '/')
			*at = '.';
}

static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* A process and its threads. */
struct machine {
	const struct runtime_process *p;
	const struct java_places *j;
	struct java_threads *threads;
};

static bool is_pending(const struct machine *m, const struct java_thread *t, uint64_t *ret)
{
	return runtime_read_u64(m->p, t->at + m->j->at[JAVA_PENDING], ret) && *ret;
}

/* *ret_of: the object that is locked, if it is known. */
static void name_monitor(const struct machine *m, uint64_t monitor, struct java_object *ret_of,
			 struct runtime_lock *ret)
{
	char name[RUNTIME_NAME], shown[RUNTIME_NAME];
	struct java_object of = {.at = 0};

	ret->at = ret->where = monitor;
	bool has_name =
		java_has(m->j, JAVA_MONITOR_OBJECT) &&
		java_object_from(m->p, m->j, monitor + m->j->at[JAVA_MONITOR_OBJECT], &of) &&
		java_class_name(&of, name, sizeof(name) - sizeof(" monitor"));
	if (has_name) {
		show_class(name, shown);
		snprintf(ret->name, sizeof(ret->name), "%.*s monitor",
			 (int)(sizeof(ret->name) - sizeof(" monitor")), shown);
	} else {
		memcpy(ret->name, "Java monitor", sizeof("Java monitor"));
	}
	*ret_of = of;
}

static bool find_monitor(struct machine *m, const struct java_thread *t, uint64_t monitor,
			 struct runtime_lock *ret)
{
	struct java_object of;
	uint64_t again;

	name_monitor(m, monitor, &of, ret);
	ret->owner = java_threads_owner(&m->threads, m->p, m->j, monitor, of.at);
	/* Else it may have got the lock while that was read. */
	return is_pending(m, t, &again) && again == monitor;
}

/* A class by which threads are parked, or the begin of its name: the first that fits counts. */
struct parker {
	const char *class;
	enum futexclass is;
	const char *name; /* NULL: its own */
};

#define CONCURRENT "java/util/concurrent/"

static const struct parker parkers[] = {
	{CONCURRENT "locks/ReentrantLock$", FUTEXCLASS_LOCK, "ReentrantLock"},
	{CONCURRENT "locks/ReentrantReadWriteLock$", FUTEXCLASS_LOCK, "ReentrantReadWriteLock"},
	{CONCURRENT "locks/StampedLock", FUTEXCLASS_LOCK, "StampedLock"},
	{CONCURRENT "locks/AbstractQueuedSynchronizer$ConditionObject", FUTEXCLASS_WAIT,
	 "Java condition"},
	{CONCURRENT "locks/AbstractQueuedLongSynchronizer$ConditionObject", FUTEXCLASS_WAIT,
	 "Java condition"},
	{CONCURRENT "ConcurrentHashMap$TreeBin", FUTEXCLASS_LOCK, "ConcurrentHashMap"},
	{CONCURRENT "Semaphore$", FUTEXCLASS_UNKNOWN, "Java semaphore"},
	{CONCURRENT "locks/", FUTEXCLASS_UNKNOWN, NULL},
	{CONCURRENT, FUTEXCLASS_WAIT, NULL},
};

static const struct parker *find_parker(const char *class)
{
	for (size_t i = 0; i < sizeof(parkers) / sizeof(*parkers); i++)
		if (!strncmp(class, parkers[i].class, strlen(parkers[i].class)))
			return &parkers[i];
	return NULL;
}

/* The thread whose object that is: both know each other. */
static uint32_t number_of(struct machine *m, const struct java_object *thread)
{
	struct java_object back;
	struct java_thread t;
	uint64_t at;

	if (!java_word_field(thread, "eetop", &m->threads->machine_at, &at) ||
	    !java_threads_at(m->p, m->j, at, &t) ||
	    !java_object_from(m->p, m->j, at + m->j->at[JAVA_THREAD_OBJECT], &back) ||
	    back.at != thread->at)
		return 0;
	return t.number;
}

/* Of a lock that one thread has for itself. */
static uint32_t owner_of(struct machine *m, const struct java_object *lock)
{
	struct java_object thread;

	if (!java_is_a(lock, CONCURRENT "locks/AbstractOwnableSynchronizer") ||
	    !java_object_field(lock, "exclusiveOwnerThread", &m->threads->owner_at, &thread))
		return 0;
	return number_of(m, &thread);
}

static void name_park(const char *class, const struct parker *k, struct runtime_lock *ret)
{
	char shown[RUNTIME_NAME];

	if (k && k->name) {
		snprintf(ret->name, sizeof(ret->name), "%s", k->name);
		return;
	}
	if (ret->class == FUTEXCLASS_LOCK) {
		show_class(class, ret->name);
		return;
	}
	show_class(last_part(class), shown);
	snprintf(ret->name, sizeof(ret->name), "Java park on %.*s",
		 (int)(sizeof(ret->name) - sizeof("Java park on ")), shown);
}

static bool find_parked(struct machine *m, const struct java_thread *t, struct runtime_lock *ret)
{
	struct java_object thread, blocker, again;
	char class[RUNTIME_NAME - sizeof("Java park on ")];
	uint64_t slot = t->at + m->j->at[JAVA_THREAD_OBJECT];

	if (!java_has(m->j, JAVA_THREAD_OBJECT) || !java_object_from(m->p, m->j, slot, &thread) ||
	    number_of(m, &thread) != t->number ||
	    !java_object_field(&thread, "parkBlocker", &m->threads->blocker_at, &blocker) ||
	    !java_class_name(&blocker, class, sizeof(class)))
		return false;
	const struct parker *k = find_parker(class);
	ret->at = ret->where = blocker.at;
	ret->owner = owner_of(m, &blocker);
	ret->class = ret->owner ? FUTEXCLASS_LOCK : k ? k->is : FUTEXCLASS_UNKNOWN;
	name_park(class, k, ret);
	return java_object_field(&thread, "parkBlocker", &m->threads->blocker_at, &again) &&
	       again.at == blocker.at;
}

/* True: m->threads are to be given back. */
static bool find_self(struct runtimes *r, struct machine *m, const struct runtime_thread *thread,
		      struct java_thread *ret)
{
	const struct runtime_process *p = m->p;

	m->threads = java_threads_take(r, p, m->j);
	if (!m->threads)
		return false;
	if (java_threads_find(&m->threads, p, m->j, p->number(p->arg, thread->tid), ret))
		return true;
	runtimes_give_kept(r, p, m->threads);
	return false;
}

static bool find_wait(struct runtimes *r, const struct runtime_process *p, const struct runtime *t,
		      const struct runtime_thread *thread, struct runtime_lock *ret)
{
	struct machine m = {p, &t->java, NULL};
	struct java_thread self;
	uint64_t monitor;

	if (!may_wait(thread) || !find_self(r, &m, thread, &self))
		return false;
	bool found = is_pending(&m, &self, &monitor) ? find_monitor(&m, &self, monitor, ret)
						     : find_parked(&m, &self, ret);
	runtimes_give_kept(r, p, m.threads);
	return found;
}

/* A thread has a word of its own to sleep on, and stores for which monitor it waits. */
static bool find_slot(struct runtimes *r, const struct runtime_process *p, const struct runtime *t,
		      const struct runtime_thread *thread, struct runtime_info *ret)
{
	struct machine m = {p, &t->java, NULL};
	struct java_thread self;

	if (!thread->found || strcmp(thread->found->what, "Java monitor") != 0 ||
	    !find_self(r, &m, thread, &self))
		return false;
	runtimes_give_kept(r, p, m.threads);
	*ret = (struct runtime_info){
		.at = self.at + m.j->at[JAVA_PENDING], .where = self.at, .bits = UINT64_MAX};
	return true;
}

static bool name_number(struct runtimes *r, const struct runtime_process *p,
			const struct runtime *t, uint64_t number, struct runtime_lock *ret)
{
	const struct machine m = {p, &t->java, NULL};
	struct java_object of;

	(void)r;
	name_monitor(&m, number, &of, ret);
	return true;
}

const struct runtime_type runtime_java = {
	.library = "libjvm",
	.symbols = {[JAVA_MEMBERS] = "gHotSpotVMStructs",
		    [JAVA_MEMBER_TYPE] = "gHotSpotVMStructEntryTypeNameOffset",
		    [JAVA_MEMBER_NAME] = "gHotSpotVMStructEntryFieldNameOffset",
		    [JAVA_MEMBER_TYPE_OF] = "gHotSpotVMStructEntryTypeStringOffset",
		    [JAVA_MEMBER_OFFSET] = "gHotSpotVMStructEntryOffsetOffset",
		    [JAVA_MEMBER_ADDRESS] = "gHotSpotVMStructEntryAddressOffset",
		    [JAVA_MEMBER_STEP] = "gHotSpotVMStructEntryArrayStride",
		    [JAVA_TYPES] = "gHotSpotVMTypes",
		    [JAVA_TYPE_NAME] = "gHotSpotVMTypeEntryTypeNameOffset",
		    [JAVA_TYPE_SIZE] = "gHotSpotVMTypeEntrySizeOffset",
		    [JAVA_TYPE_STEP] = "gHotSpotVMTypeEntryArrayStride"},
	.needed = JAVA_SYMBOLS,
	.open = open_machine,
	.find = find_wait,
	.info = find_slot,
	.by_number = name_number,
};
