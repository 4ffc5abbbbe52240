// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks of Java in made-up memory of a HotSpot: with the tables of its structures, two threads, a
 * monitor, objects and their classes, as versions 17 and 25 have them, and as none has them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../src/inspect/runtimes/internal.h"

#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

enum { FROM = 0x100000, SIZE = 1 << 16 };
/* Places in the memory. */
enum {
	VARIABLES = FROM + 64,
	TABLE = FROM + 0x1000,
	TYPES = FROM + 0x3000,
	FLAGS = FROM + 0x3800,
	TEXTS = FROM + 0x4000,
	LIST = FROM + 0x6000,
	THREADS = FROM + 0x7000,
	STACKS = FROM + 0xc000,
	MONITOR = FROM + 0x8000,
	OBJECTS = FROM + 0x9000,
	KLASSES = FROM + 0xa000,
	SYMBOLS = FROM + 0xb000,
	HANDLES = FROM + 0xd000,
};
enum { WAITER = 700, OWNER = 701, STEP = 48 };
/* In a thread, a monitor, a class. */
enum {
	OSTHREAD = 0,
	NUMBER = 512,
	OBJECT = 16,
	PENDING = 24,
	BASE = 32,
	STACK_SIZE = 40,
	ID = 48,
	LOCKS = 56,
	TOP = 0,
	LOCK = 8,
	M_OBJECT = 8,
	M_OWNER = 64
};
enum {
	K_NAME = 8,
	K_SUPER = 16,
	K_MIRROR = 24,
	K_CONSTANTS = 32,
	K_FIELDS = 40,
	K_COUNT = 48,
	K_STREAM = 56,
	MIRROR_KLASS = 24,
	POOL = 24
};
/* Objects, and their classes in the same order. */
enum { THREAD_0, THREAD_1, PLAIN, BLOCKER, OWNABLE, MIRRORS };

static uint8_t memory[SIZE];
static uint64_t texts, symbols, handles, members;
static bool is_new; /* like 25 */

static bool read_memory(void *arg, uint64_t addr, void *ret, size_t n)
{
	(void)arg;
	if (addr < FROM || addr - FROM > SIZE || n > SIZE - (addr - FROM))
		return false;
	memcpy(ret, memory + (addr - FROM), n);
	return true;
}

static void put(uint64_t addr, const void *bytes, size_t n)
{
	assert_in_range(addr, FROM, FROM + SIZE - n);
	memcpy(memory + (addr - FROM), bytes, n);
}

static void put_u64(uint64_t addr, uint64_t v)
{
	put(addr, &v, sizeof(v));
}

static void put_u32(uint64_t addr, uint32_t v)
{
	put(addr, &v, sizeof(v));
}

static void put_u16(uint64_t addr, uint16_t v)
{
	put(addr, &v, sizeof(v));
}

static uint64_t text(const char *t)
{
	uint64_t at = texts;

	put(at, t, strlen(t) + 1);
	texts += strlen(t) + 1;
	return at;
}

/* A symbol of the machine: its length, and no NUL after it. */
static uint64_t symbol(const char *t)
{
	uint64_t at = symbols;

	put_u16(at + 4, (uint16_t)strlen(t));
	put(at + 6, t, strlen(t));
	symbols = (at + 6 + strlen(t) + 7) & ~7ull;
	return at;
}

/* A word outside of the heap that has @addr. */
static uint64_t handle(uint64_t addr)
{
	put_u64(handles, addr);
	handles += 8;
	return handles - 8;
}

static void member(const char *type, const char *name, const char *of, uint64_t offset,
		   uint64_t address)
{
	const uint64_t at = TABLE + members++ * STEP;

	put_u64(at, text(type));
	put_u64(at + 8, text(name));
	put_u64(at + 16, of ? text(of) : 0);
	put_u64(at + 32, offset);
	put_u64(at + 40, address);
}

static void put_members(void)
{
	member("ThreadsSMRSupport", "_java_thread_list", "ThreadsList*", 0, handle(LIST));
	member("ThreadsList", "_length", "const uint", 4, 0);
	member("ThreadsList", "_threads", "JavaThread *const *const", 16, 0);
	member(is_new ? "Thread" : "JavaThread", "_osthread", "OSThread*", OSTHREAD, 0);
	member("OSThread", "_thread_id", "pid_t", NUMBER, 0);
	member("JavaThread", "_threadObj", "OopHandle", OBJECT, 0);
	member("JavaThread", "_current_pending_monitor", "ObjectMonitor*", PENDING, 0);
	member("JavaThread", "_stack_base", "address", BASE, 0);
	member("JavaThread", "_stack_size", "size_t", STACK_SIZE, 0);
	if (is_new)
		member("JavaThread", "_monitor_owner_id", "int64_t", ID, 0);
	member("JavaThread", "_lock_stack", "LockStack", LOCKS, 0);
	member("LockStack", "_top", "uint32_t", TOP, 0);
	member("LockStack", "_base[0]", "oop", LOCK, 0);
	member("ObjectMonitor", "_object", NULL, M_OBJECT, 0);
	member("ObjectMonitor", "_owner", is_new ? "int64_t" : NULL, M_OWNER, 0);
	member("Klass", "_name", "Symbol*", K_NAME, 0);
	member("Klass", "_super", "Klass*", K_SUPER, 0);
	member("Klass", "_java_mirror", "OopHandle", K_MIRROR, 0);
	put_u32(handles, MIRROR_KLASS);
	member("java_lang_Class", "_klass_offset", "int", 0, handles);
	handles += 8;
	member("Symbol", "_length", "u2", 4, 0);
	member("Symbol", "_body[0]", "u1", 6, 0);
	member("InstanceKlass", "_constants", "ConstantPool*", K_CONSTANTS, 0);
	if (is_new) {
		member("InstanceKlass", "_fieldinfo_stream", "Array<u1>*", K_STREAM, 0);
	} else {
		member("InstanceKlass", "_fields", "Array<u2>*", K_FIELDS, 0);
		member("InstanceKlass", "_java_fields_count", "u2", K_COUNT, 0);
	}
	member("JVMFlag", "flags", "JVMFlag*", 0, handle(FLAGS));
	member("JVMFlag", "numFlags", "size_t", 0, handle(2));
	member("JVMFlag", "_name", "const char*", 8, 0);
	member("JVMFlag", "_addr", NULL, 0, 0);
	member("CompressedKlassPointers", "_base", "address", 0, handle(0));
	member("CompressedKlassPointers", "_shift", "int", 0, handle(3));
}

static void put_types(void)
{
	put_u64(TYPES, text("ConstantPool"));
	put_u64(TYPES + 8, POOL);
	put_u64(TYPES + 16, text("JVMFlag"));
	put_u64(TYPES + 24, 24);
	/* A setting, and the end. */
	put_u64(FLAGS, handle(1));
	put_u64(FLAGS + 8, text("UseCompressedClassPointers"));
}

static uint64_t object(unsigned i)
{
	return OBJECTS + i * 128;
}

static uint64_t klass(unsigned i)
{
	return KLASSES + i * 256;
}

static uint64_t thread(unsigned i)
{
	return THREADS + i * 1024;
}

/* An object of a class of its own, and the circle of that class. */
static void put_object(unsigned i, const char *class)
{
	const uint64_t k = klass(i), mirror = object(MIRRORS + i);

	put_u32(object(i) + 8, (uint32_t)(k >> 3));
	put_u64(k + K_NAME, symbol(class));
	put_u64(k + K_MIRROR, handle(mirror));
	put_u64(mirror + MIRROR_KLASS, k);
}

/* A class has two fields. */
static void put_fields(unsigned of, const char *first, uint8_t at, const char *second, uint8_t at_2)
{
	const uint64_t k = klass(of), pool = k + 64, fields = k + 128;
	/* How many, and of each: name, type, place, access, flags; the first has a value, too. */
	const uint8_t stream[] = {
		3, 1, 2, 200, 5, (uint8_t)(at + 1), 1, 2, 250, 3, 3, 9, (uint8_t)(at_2 + 1), 1, 1};
	const uint16_t words[] = {0, 1, 0, 0, (uint16_t)(at << 2 | 1),	 0,
				  0, 2, 0, 0, (uint16_t)(at_2 << 2 | 1), 0};

	put_u64(k + K_CONSTANTS, pool);
	put_u64(pool + POOL + 8, symbol(first));
	put_u64(pool + POOL + 16, symbol(second));
	put_u64(k + K_FIELDS, fields);
	put_u64(k + K_STREAM, fields);
	put_u16(k + K_COUNT, 2);
	put_u32(fields, is_new ? sizeof(stream) : 2);
	if (is_new)
		put(fields + 4, stream, sizeof(stream));
	else
		put(fields + 4, words, sizeof(words));
}

static void put_thread(unsigned i, uint32_t number)
{
	const uint64_t at = thread(i);

	put_u64(LIST + 256 + i * 8, at);
	put_u64(at + OSTHREAD, at);
	put_u32(at + NUMBER, number);
	put_u64(at + OBJECT, handle(object(i)));
	put_u64(at + BASE, STACKS + (i + 1) * 1024);
	put_u64(at + STACK_SIZE, 1024);
	put_u64(at + ID, 30 + i);
	put_object(i, "java/lang/Thread");
	/* Its thread of the machine, and what has parked it. */
	put_fields(i, "eetop", 24, "parkBlocker", 32);
	put_u64(object(i) + 24, at);
}

static void make(bool as_new)
{
	is_new = as_new;
	memset(memory, 0, sizeof(memory));
	texts = TEXTS;
	symbols = SYMBOLS;
	handles = HANDLES;
	members = 0;
	put_members();
	put_types();
	put_u32(LIST + 4, 2);
	put_u64(LIST + 16, LIST + 256);
	put_thread(0, WAITER);
	put_thread(1, OWNER);
	put_object(PLAIN, "org/example/Account");
	put_u64(thread(0) + PENDING, MONITOR);
	put_u64(MONITOR + M_OBJECT, handle(object(PLAIN)));
	put_u64(MONITOR + M_OWNER, as_new ? 31 : thread(1));
}

static const uint64_t layout[] = {TABLE, 0, 8, 16, 32, 40, STEP, TYPES, 0, 8, 16};

static void put_layout(struct runtime *t)
{
	*t = (struct runtime){.type = &runtime_java};
	for (unsigned i = 0; i < JAVA_SYMBOLS; i++) {
		t->symbols[i] = VARIABLES + i * 8;
		put_u64(t->symbols[i], layout[i]);
	}
}

static uint32_t number_of(void *arg, int32_t tid)
{
	(void)arg;
	return (uint32_t)tid;
}

static const struct runtime_process process = {
	.pid = WAITER, .space = 1, .read = read_memory, .number = number_of};

/* A thread in futex(2), about which its functions say @what. */
static bool find_of(const char *what, struct runtime_lock *ret)
{
	const struct userlock_call call = {FROM, FUTEX_WAIT_BITSET_PRIVATE, 0};
	const struct futexclass_found found = {
		.what = what, .by_condition = true, .can_lock_too = *what == 'c'};
	const struct runtime_thread waits = {WAITER, &call, &found};
	struct runtimes *r = runtimes_new();
	struct runtime t;

	assert_non_null(r);
	put_layout(&t);
	*ret = (struct runtime_lock){.class = FUTEXCLASS_LOCK};
	bool ok =
		runtime_java.open(&process, &t) && runtime_java.find(r, &process, &t, &waits, ret);
	/* Again, with what was kept. */
	struct runtime_lock again = {.class = FUTEXCLASS_LOCK};
	if (ok) {
		assert_true(runtime_java.find(r, &process, &t, &waits, &again));
		assert_memory_equal(&again, ret, sizeof(again));
	}
	runtimes_unref(r);
	return ok;
}

static void check(const char *name, uint32_t owner)
{
	struct runtime_lock l;

	assert_true(find_of("Java monitor", &l));
	assert_string_equal(l.name, name);
	assert_int_equal(l.class, FUTEXCLASS_LOCK);
	assert_int_equal(l.owner, owner);
}

#define NAME "org.example.Account monitor"

static void a_monitor_has_the_class_of_its_object(void **state)
{
	struct runtime_lock l;

	(void)state;
	make(false);
	check(NAME, OWNER);
	/* Without functions of the machine: stripped, it is a condition variable; without any. */
	assert_true(find_of("condition variable", &l));
	assert_int_equal(l.at, MONITOR);
	assert_true(find_of("", &l));
	/* It waits for something else of the machine. */
	assert_false(find_of("JVM work", &l));
	assert_false(find_of("Java wait", &l));
}

static void the_owner_is_a_thread_or_a_place_in_its_stack(void **state)
{
	(void)state;
	make(false);
	put_u64(MONITOR + M_OWNER, STACKS + 1024 + 512);
	check(NAME, OWNER);
	put_u64(MONITOR + M_OWNER, STACKS + 2048);
	check(NAME, 0);
	put_u64(MONITOR + M_OWNER, 0);
	check(NAME, 0);
	put_u64(MONITOR + M_OWNER, UINT64_MAX - 7);
	check(NAME, 0);
	put_u64(MONITOR + M_OWNER, thread(1));
	put_u32(thread(1) + NUMBER, 0);
	check(NAME, 0);
}

static void newer_versions_number_the_owner(void **state)
{
	(void)state;
	make(true);
	check(NAME, OWNER);
	put_u64(MONITOR + M_OWNER, 32);
	check(NAME, 0);
	/* An address is none there. */
	put_u64(MONITOR + M_OWNER, thread(1));
	check(NAME, 0);
}

/* The list ends at a distance from the thread. */
static void an_owner_without_a_name_has_the_object_in_its_list(void **state)
{
	(void)state;
	for (int as_new = 0; as_new < 2; as_new++) {
		make(as_new);
		put_u64(MONITOR + M_OWNER, 1);
		check(NAME, 0);
		put_u64(thread(1) + LOCKS + LOCK + 8, object(PLAIN));
		put_u32(thread(1) + LOCKS + TOP, LOCKS + LOCK + 16);
		check(NAME, OWNER);
		put_u32(thread(1) + LOCKS + TOP, LOCKS + LOCK + 8);
		check(NAME, 0);
		put_u32(thread(1) + LOCKS + TOP, UINT32_MAX);
		check(NAME, 0);
	}
}

#define LOCKS_OF "java/util/concurrent/locks/"

/* The waiter is parked by an object of that class. */
static void park(bool as_new, const char *class)
{
	make(as_new);
	put_u64(thread(0) + PENDING, 0);
	put_object(BLOCKER, class);
	put_u64(object(THREAD_0) + 32, object(BLOCKER));
}

/* Which one thread may have for itself. */
static void park_for_owner(bool as_new, const char *class)
{
	park(as_new, class);
	put_object(OWNABLE, LOCKS_OF "AbstractOwnableSynchronizer");
	put_fields(OWNABLE, "other", 12, "exclusiveOwnerThread", 16);
	put_u64(klass(BLOCKER) + K_SUPER, klass(OWNABLE));
	put_fields(BLOCKER, "state", 12, "head", 40);
	put_u64(object(BLOCKER) + 16, object(THREAD_1));
}

static void check_parked(enum futexclass class, const char *name, uint32_t owner)
{
	struct runtime_lock l;

	assert_true(find_of("Java park", &l));
	assert_string_equal(l.name, name);
	assert_int_equal(l.class, class);
	assert_int_equal(l.owner, owner);
	assert_int_equal(l.at, object(BLOCKER));
}

static void a_class_that_parks_says_whether_it_is_a_lock(void **state)
{
	static const struct {
		const char *class, *name;
		enum futexclass is;
	} classes[] = {
		{LOCKS_OF "ReentrantLock$FairSync", "ReentrantLock", FUTEXCLASS_LOCK},
		{LOCKS_OF "StampedLock", "StampedLock", FUTEXCLASS_LOCK},
		{LOCKS_OF "AbstractQueuedSynchronizer$ConditionObject", "Java condition",
		 FUTEXCLASS_WAIT},
		{"java/util/concurrent/CountDownLatch$Sync", "Java park on CountDownLatch$Sync",
		 FUTEXCLASS_WAIT},
		{"java/util/concurrent/Semaphore$NonfairSync", "Java semaphore",
		 FUTEXCLASS_UNKNOWN},
		{"org/example/Gate", "Java park on Gate", FUTEXCLASS_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(classes) / sizeof(*classes); i++) {
		park(i & 1, classes[i / 2].class);
		check_parked(classes[i / 2].is, classes[i / 2].name, 0);
	}
}

static void a_lock_of_one_thread_has_it_as_owner(void **state)
{
	(void)state;
	for (int as_new = 0; as_new < 2; as_new++) {
		park_for_owner(as_new, LOCKS_OF "ReentrantLock$NonfairSync");
		check_parked(FUTEXCLASS_LOCK, "ReentrantLock", OWNER);
		park_for_owner(as_new, "org/example/OwnLock");
		check_parked(FUTEXCLASS_LOCK, "org.example.OwnLock", OWNER);
		/* It is free just now; or the object is that of no thread. */
		put_u64(object(BLOCKER) + 16, 0);
		check_parked(FUTEXCLASS_UNKNOWN, "Java park on OwnLock", 0);
		put_u64(object(BLOCKER) + 16, object(PLAIN));
		check_parked(FUTEXCLASS_UNKNOWN, "Java park on OwnLock", 0);
		put_u64(object(BLOCKER) + 16, object(THREAD_1));
		put_u64(object(THREAD_1) + 24, thread(0));
		check_parked(FUTEXCLASS_UNKNOWN, "Java park on OwnLock", 0);
	}
}

static void without_a_blocker_nothing_is_known(void **state)
{
	struct runtime_lock l;

	(void)state;
	park(true, "org/example/Gate");
	put_u64(object(THREAD_0) + 32, 0);
	assert_false(find_of("Java park", &l));
	/* A number in the list of fields that never ends. */
	park(true, "org/example/Gate");
	put_u32(klass(THREAD_0) + 128, 3);
	assert_false(find_of("Java park", &l));
	/* The class has no end of classes above it. */
	park(true, "org/example/Gate");
	put_u64(klass(BLOCKER) + K_SUPER, klass(BLOCKER));
	check_parked(FUTEXCLASS_UNKNOWN, "Java park on Gate", 0);
}

/* Opens with one variable as it is not. */
static bool opens_with(enum java_symbol s, uint64_t value)
{
	struct runtime t;

	make(false);
	put_layout(&t);
	put_u64(t.symbols[s], value);
	return runtime_java.open(&process, &t);
}

static void tables_that_are_none_are_refused(void **state)
{
	struct runtime t;

	(void)state;
	assert_true(opens_with(JAVA_MEMBERS, TABLE));
	assert_false(opens_with(JAVA_MEMBERS, UINT64_MAX - 7));
	assert_false(opens_with(JAVA_MEMBER_STEP, 0));
	assert_false(opens_with(JAVA_MEMBER_STEP, 257));
	assert_false(opens_with(JAVA_MEMBER_NAME, 41));
	assert_false(opens_with(JAVA_MEMBER_TYPE, UINT64_MAX - 3));
	assert_false(opens_with(JAVA_TYPE_SIZE, 15));
	assert_false(opens_with(JAVA_TYPES, 8));
	/* A table without an end, a place far out, and none for the number of a thread. */
	make(false);
	put_layout(&t);
	for (uint64_t at = TABLE; at < FROM + SIZE; at += STEP)
		if (at + STEP <= FROM + SIZE)
			put_u64(at, TEXTS);
	assert_false(runtime_java.open(&process, &t));
	make(false);
	put_layout(&t);
	put_u64(TABLE + 4 * STEP + 32, 1 << 20);
	assert_false(runtime_java.open(&process, &t));
	make(false);
	put_layout(&t);
	put_u64(TABLE + 4 * STEP + 8, TEXTS);
	assert_false(runtime_java.open(&process, &t));
}

static void what_does_not_prove_itself_is_not_believed(void **state)
{
	struct runtime_lock l;

	(void)state;
	make(false);
	/* The class does not lead back to itself. */
	put_u64(object(MIRRORS + PLAIN) + MIRROR_KLASS, klass(PLAIN) + 8);
	check("Java monitor", OWNER);
	make(false);
	put_u64(klass(PLAIN) + K_NAME, FROM + SIZE - 16);
	put_u16(FROM + SIZE - 12, UINT16_MAX);
	check("Java monitor", OWNER);
	make(false);
	put_u64(MONITOR + M_OBJECT, UINT64_MAX);
	check("Java monitor", OWNER);
	/* No thread has that number; or the list does not end. */
	put_u32(thread(0) + NUMBER, 702);
	assert_false(find_of("Java monitor", &l));
	make(false);
	put_u32(LIST + 4, UINT32_MAX);
	assert_false(find_of("Java monitor", &l));
	make(false);
	put_u64(thread(0) + PENDING, UINT64_MAX - 7);
	assert_true(find_of("Java monitor", &l));
	assert_string_equal(l.name, "Java monitor");
	assert_int_equal(l.owner, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_monitor_has_the_class_of_its_object),
		cmocka_unit_test(the_owner_is_a_thread_or_a_place_in_its_stack),
		cmocka_unit_test(newer_versions_number_the_owner),
		cmocka_unit_test(an_owner_without_a_name_has_the_object_in_its_list),
		cmocka_unit_test(a_class_that_parks_says_whether_it_is_a_lock),
		cmocka_unit_test(a_lock_of_one_thread_has_it_as_owner),
		cmocka_unit_test(without_a_blocker_nothing_is_known),
		cmocka_unit_test(tables_that_are_none_are_refused),
		cmocka_unit_test(what_does_not_prove_itself_is_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
