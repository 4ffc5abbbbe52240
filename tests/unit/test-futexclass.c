// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks of real programs and their classes: glibc 2.36 with its symbols and without, libstdc++ 12,
 * Rust, Go 1.2x, CPython 3.11, OpenJDK 17, PostgreSQL 15, MariaDB 10.11.
 */
#include "kontend/futexclass.h"

#include <linux/futex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 12, TEXT = 512 };
enum { MUTEX_OP = FUTEX_WAIT_PRIVATE, BITSET_OP = FUTEX_WAIT_BITSET_PRIVATE };

struct example {
	const char *frames; /* "FUNCTION FILE, ..."; "?": without a name */
	uint32_t op, value;
	enum futexclass class;
	const char *what, *site; /* the program's call; NULL: there is none */
};

#define LOCK FUTEXCLASS_LOCK
#define WAIT FUTEXCLASS_WAIT
#define EITHER FUTEXCLASS_UNKNOWN
#define THREAD ", start_thread libc.so.6, clone3 libc.so.6"
#define STRIPPED ", ? libc.so.6, ? libc.so.6"
#define PYTHON                                                                                     \
	", _PyEval_EvalFrameDefault libpython3.11.so.1.0, thread_run libpython3.11.so.1.0" THREAD
#define FUTEX "__futex_abstimed_wait_common libc.so.6, "
#define JVM ", ? , JavaCalls::call_helper libjvm.so, Thread::call_run libjvm.so" THREAD

static const struct example glibc[] = {
	{"__GI___lll_lock_wait libc.so.6, pthread_mutex_lock@@GLIBC_2.2.5 libc.so.6, work "
	 "app" THREAD,
	 MUTEX_OP, 2, LOCK, "mutex", "work"},
	{"? libc.so.6, pthread_mutex_lock libc.so.6, work app" STRIPPED, MUTEX_OP, 2, LOCK, "mutex",
	 "work"},
	{"__pthread_mutex_lock_full libc.so.6, work app" THREAD, FUTEX_WAIT, 0x800023f6, LOCK,
	 "mutex", "work"},
	{FUTEX "__pthread_mutex_clocklock_common libc.so.6, work app", BITSET_OP, 2, LOCK, "mutex",
	 "work"},
	{FUTEX "pthread_rwlock_wrlock@@GLIBC_2.34 libc.so.6, work app", BITSET_OP, 3, LOCK,
	 "rwlock", "work"},
	{"? libc.so.6, pthread_rwlock_rdlock libc.so.6, work app" STRIPPED, BITSET_OP, 3, LOCK,
	 "rwlock", "work"},
	{FUTEX "pthread_cond_wait@@GLIBC_2.3.2 libc.so.6, work app" THREAD, BITSET_OP, 0, WAIT,
	 "condition variable", "work"},
	{"? libc.so.6, pthread_cond_timedwait libc.so.6, work app" STRIPPED, BITSET_OP, 2, WAIT,
	 "condition variable", "work"},
	{FUTEX "___pthread_cond_clockwait64 libc.so.6, work app", BITSET_OP, 0, WAIT,
	 "condition variable", "work"},
	/* It has been woken, and waits for the mutex that it had before. */
	{"__GI___lll_lock_wait libc.so.6, __pthread_mutex_cond_lock libc.so.6, "
	 "pthread_cond_wait@@GLIBC_2.3.2 libc.so.6, work app",
	 MUTEX_OP, 2, LOCK, "mutex", "work"},
	{FUTEX "__pthread_clockjoin_ex libc.so.6, std::thread::join libstdc++.so.6.0.30, work app",
	 FUTEX_WAIT_BITSET, 4711, WAIT, "join", "work"},
	{"pthread_barrier_wait@@GLIBC_2.34 libc.so.6, work app" THREAD, MUTEX_OP, 2, WAIT,
	 "barrier", "work"},
	{"__pthread_once_slow libc.so.6, work app" THREAD, MUTEX_OP, 1, WAIT, "once", "work"},
	{FUTEX "__new_sem_wait_slow64.constprop.0 libc.so.6, work app" THREAD, BITSET_OP, 0, EITHER,
	 "semaphore", "work"},
	{"? libc.so.6, ? libc.so.6, work app" STRIPPED, BITSET_OP, 0, EITHER, "", "work"},
	{"__lll_lock_wait_private libc.so.6, malloc libc.so.6, work app" THREAD, MUTEX_OP, 2, LOCK,
	 "malloc", "work"},
	{"? libc.so.6, ? libc.so.6, __libc_free libc.so.6, work app" STRIPPED, MUTEX_OP, 2, LOCK,
	 "malloc", "work"},
	{"? libc.so.6, _IO_puts libc.so.6, work app" STRIPPED, MUTEX_OP, 2, LOCK, "stdio", "work"},
	{"? libc.so.6, ? libc.so.6, localtime_r libc.so.6, work app", MUTEX_OP, 2, LOCK,
	 "lock of the C library", "work"},
	/* The program sleeps itself, in what a function of the library has called. */
	{"syscall libc.so.6, own_wait app, begin app, __pthread_once_slow libc.so.6, work app",
	 MUTEX_OP, 2, EITHER, "", "own_wait"},
	{"syscall libc.so.6, own_lock app" THREAD, MUTEX_OP, 2, EITHER, "", "own_lock"},
	{"? app, ? app", MUTEX_OP, 2, EITHER, "", "?"},
	{"", MUTEX_OP, 2, EITHER, "", NULL},
	/* Even where a function says that it is a lock. */
	{"syscall libc.so.6, __lll_lock_wait libc.so.6, work app", FUTEXCLASS_WAITV | 128, 2, WAIT,
	 "several words", "work"},
};

static const struct example languages[] = {
	{"syscall libc.so.6, std::__atomic_futex_unsigned_base::_M_futex_wait_until "
	 "libstdc++.so.6.0.30, work app",
	 FUTEX_WAIT, 0x80000000, WAIT, "future", "work"},
	{"syscall libc.so.6, std::__detail::__platform_wait<int> app, work app", FUTEX_WAIT, 0,
	 EITHER, "atomic wait", "work"},
	{"syscall libc.so.6, std::__detail::__platform_wait<int> app, "
	 "std::__atomic_wait_address<std::latch::wait()::{lambda()#1}> app, work app",
	 FUTEX_WAIT, 2, WAIT, "latch", "work"},
	{"syscall libc.so.6, std::sys::sync::mutex::futex::Mutex::lock_contended app, work app",
	 BITSET_OP, 2, LOCK, "Rust mutex", "work"},
	{"syscall libc.so.6, std::sys::pal::unix::futex::futex_wait app, "
	 "std::sys::sync::rwlock::futex::RwLock::write_contended app, work app",
	 BITSET_OP, 2, LOCK, "Rust rwlock", "work"},
	{"syscall libc.so.6, <std::sys::sync::mutex::futex::Mutex>::lock_contended app, work app",
	 BITSET_OP, 2, LOCK, "Rust mutex", "work"},
	{"syscall libc.so.6, <std::thread::thread::Thread>::park app, work app", BITSET_OP,
	 0xffffffff, WAIT, "park", "work"},
	{"syscall libc.so.6, <std::sync::barrier::Barrier>::wait app, work app", BITSET_OP, 0, WAIT,
	 "barrier", "work"},
	{"syscall libc.so.6, std::sys::sync::condvar::futex::Condvar::wait app, work app",
	 BITSET_OP, 2, WAIT, "condition variable", "work"},
	{"syscall libc.so.6, std::sys::sync::once::futex::Once::call app, work app", BITSET_OP, 2,
	 WAIT, "once", "work"},
	{"syscall libc.so.6, std::sys::sync::thread_parking::futex::Parker::park app, work app",
	 BITSET_OP, 0xffffffff, WAIT, "park", "work"},
	{"syscall libc.so.6, parking_lot::raw_mutex::RawMutex::lock_slow app, work app", MUTEX_OP,
	 1, LOCK, "parking_lot mutex", "work"},
	{"syscall libc.so.6, parking_lot::condvar::Condvar::wait_until_internal app, work app",
	 MUTEX_OP, 1, WAIT, "condition variable", "work"},
	{"runtime.futex.abi0 go, runtime.futexsleep go, runtime.lock2 go, work go", MUTEX_OP, 2,
	 LOCK, "Go runtime", "work"},
	{"runtime.futex.abi0 go, runtime.futexsleep go, runtime.notesleep go, runtime.stopm go",
	 MUTEX_OP, 0, WAIT, "Go scheduler", "runtime.stopm"},
	{"runtime.futex.abi0 go, runtime.futexsleep go, runtime.semasleep go, runtime.lock2 go, "
	 "work go",
	 MUTEX_OP, 0, LOCK, "Go runtime", "work"},
	{FUTEX "pthread_cond_timedwait@@GLIBC_2.3.2 libc.so.6, take_gil "
	       "libpython3.11.so.1.0" PYTHON,
	 BITSET_OP, 0, LOCK, "GIL", "_PyEval_EvalFrameDefault"},
	{"? libc.so.6, pthread_cond_timedwait libc.so.6, ? python3.11, PyEval_RestoreThread "
	 "python3.11, work python3.11",
	 BITSET_OP, 0, LOCK, "GIL", "work"},
	/* A module for Python that waits for a condition of its own. */
	{"? libc.so.6, pthread_cond_wait libc.so.6, get module.so, _PyEval_EvalFrameDefault "
	 "python3.11",
	 BITSET_OP, 0, WAIT, "condition variable", "get"},
	{FUTEX "__new_sem_wait_slow64.constprop.0 libc.so.6, PyThread_acquire_lock_timed "
	       "libpython3.11.so.1.0, acquire_timed libpython3.11.so.1.0, "
	       "lock_PyThread_acquire_lock libpython3.11.so.1.0, work libpython3.11.so.1.0",
	 BITSET_OP, 0, EITHER, "Python lock", "work"},
	{"? libc.so.6, ? libc.so.6, PyThread_acquire_lock_timed python3.11, "
	 "_queue_SimpleQueue_get_impl _queue.so, work python3.11",
	 BITSET_OP, 0, WAIT, "Python queue", "work"},
	{FUTEX "pthread_cond_timedwait@@GLIBC_2.3.2 libc.so.6, os::PlatformEvent::park libjvm.so, "
	       "ObjectMonitor::EnterI libjvm.so, ObjectMonitor::enter libjvm.so" JVM,
	 BITSET_OP, 0, LOCK, "Java monitor", "ObjectMonitor::enter"},
	{FUTEX "pthread_cond_wait@@GLIBC_2.3.2 libc.so.6, os::PlatformEvent::park libjvm.so, "
	       "ObjectMonitor::wait libjvm.so, JVM_MonitorWait libjvm.so" JVM,
	 BITSET_OP, 0, WAIT, "Java wait", "JVM_MonitorWait"},
	{"? libc.so.6, pthread_cond_wait libc.so.6, ? libjvm.so, ? libjvm.so, JVM_MonitorWait "
	 "libjvm.so" JVM,
	 BITSET_OP, 0, WAIT, "Java wait", "?"},
	{FUTEX "pthread_cond_wait@@GLIBC_2.3.2 libc.so.6, Parker::park libjvm.so, Unsafe_Park "
	       "libjvm.so" JVM,
	 BITSET_OP, 0, EITHER, "Java park", "Unsafe_Park"},
	{FUTEX "__new_sem_wait_slow64.constprop.0 libc.so.6, PosixSemaphore::wait libjvm.so, "
	       "GangWorker::loop libjvm.so" THREAD,
	 BITSET_OP, 0, WAIT, "JVM work", "GangWorker::loop"},
	{FUTEX "pthread_cond_wait@@GLIBC_2.3.2 libc.so.6, os::PlatformMonitor::wait libjvm.so, "
	       "Monitor::wait_without_safepoint_check libjvm.so, WatcherThread::sleep libjvm.so",
	 BITSET_OP, 0, WAIT, "JVM work", "WatcherThread::sleep"},
};

static const struct example databases[] = {
	{FUTEX "__new_sem_wait_slow64.constprop.0 libc.so.6, PGSemaphoreLock postgres, "
	       "LWLockAcquire postgres, XLogFlush postgres",
	 FUTEX_WAIT_BITSET, 0, LOCK, "LWLock", "XLogFlush"},
	{"? libc.so.6, ? libc.so.6, PGSemaphoreLock postgres, LWLockAcquire postgres, XLogFlush "
	 "postgres",
	 FUTEX_WAIT_BITSET, 0, LOCK, "LWLock", "XLogFlush"},
	{"syscall libc.so.6, ssux_lock_impl<true>::wr_wait mariadbd, work mariadbd", MUTEX_OP, 7,
	 LOCK, "InnoDB latch", "work"},
	/* Without names of InnoDB: a row, if the wait ends in time. */
	{FUTEX "pthread_cond_timedwait@@GLIBC_2.3.2 libc.so.6, ? mariadbd, ? mariadbd, "
	       "handler::ha_index_read_map mariadbd, mysql_update mariadbd",
	 BITSET_OP, 0, LOCK, "row lock", "mysql_update"},
	{FUTEX "pthread_cond_wait@@GLIBC_2.3.2 libc.so.6, ? mariadbd, ? mariadbd, "
	       "handler::ha_index_read_map mariadbd, mysql_update mariadbd",
	 BITSET_OP, 0, WAIT, "condition variable", "?"},
	{FUTEX
	 "pthread_cond_timedwait@@GLIBC_2.3.2 libc.so.6, ? mariadbd, Interruptible_wait::wait "
	 "mariadbd, handler::ha_index_read_map mariadbd",
	 BITSET_OP, 0, WAIT, "condition variable", "?"},
	/* Threads of Redis for I/O have nothing to do; its other mutexes are locks. */
	{FUTEX "pthread_mutex_lock@@GLIBC_2.2.5 libc.so.6, IOThreadMain redis-check-rdb, "
	       "start_thread libc.so.6",
	 MUTEX_OP, 2, WAIT, "work", "IOThreadMain"},
	{FUTEX "pthread_mutex_lock@@GLIBC_2.2.5 libc.so.6, moduleAcquireGIL redis-check-rdb",
	 MUTEX_OP, 2, LOCK, "mutex", "moduleAcquireGIL"},
	{FUTEX "pthread_cond_timedwait@@GLIBC_2.3.2 libc.so.6, safe_cond_timedwait mariadbd, "
	       "lock_wait mariadbd, row_mysql_handle_errors mariadbd",
	 BITSET_OP, 0, LOCK, "InnoDB row lock", "row_mysql_handle_errors"},
	{FUTEX "pthread_cond_timedwait@@GLIBC_2.3.2 libc.so.6, "
	       "tpool::thread_pool_generic::wait_for_tasks mariadbd, work mariadbd",
	 BITSET_OP, 0, WAIT, "condition variable", "tpool::thread_pool_generic::wait_for_tasks"},
};

static size_t take(char *text, struct futexclass_frame frames[MOST])
{
	size_t n = 0;

	for (char *rest, *at = strtok_r(text, ",", &rest); at; at = strtok_r(NULL, ",", &rest)) {
		at += strspn(at, " ");
		char *object = strchr(at, ' ');
		assert_true(object && n < MOST);
		*object++ = '\0';
		frames[n++] = (struct futexclass_frame){strcmp(at, "?") ? at : NULL, object};
	}
	return n;
}

static unsigned wrong(const struct example *e)
{
	struct futexclass_frame frames[MOST];
	char text[TEXT];

	snprintf(text, sizeof(text), "%s", e->frames);
	size_t n = take(text, frames);
	struct futexclass_found f = futexclass_find(e->op, e->value, frames, n);
	const char *site = f.depth >= n ? NULL : frames[f.depth].function;
	site = f.depth < n && !site ? "?" : site;
	if (f.class == e->class && !strcmp(f.what, e->what) && !site == !e->site &&
	    (!site || !strcmp(site, e->site)))
		return 0;
	printf("%s\n\t%s \"%s\" of %s, not %s \"%s\" of %s\n", e->frames, futexclass_name(f.class),
	       f.what, site ? site : "-", futexclass_name(e->class), e->what,
	       e->site ? e->site : "-");
	return 1;
}

#define CHECK(NAME)                                                                                \
	static void test_##NAME(void **state)                                                      \
	{                                                                                          \
		unsigned n = 0;                                                                    \
                                                                                                   \
		(void)state;                                                                       \
		for (size_t i = 0; i < sizeof(NAME) / sizeof(*(NAME)); i++)                        \
			n += wrong(&(NAME)[i]);                                                    \
		assert_int_equal(n, 0);                                                            \
	}

CHECK(glibc)
CHECK(languages)
CHECK(databases)

/* Semaphores have a type of their own; a condition variable's wait may be one for a mutex. */
static void test_kinds(void **state)
{
	struct futexclass_frame frames[] = {{NULL, "/lib/libc.so.6"},
					    {"sem_wait@@GLIBC_2.34", "/lib/libc.so.6"},
					    {"PGSemaphoreLock", "postgres"},
					    {"LWLockAcquire", "postgres"}};

	(void)state;
	assert_int_equal(futexclass_find(BITSET_OP, 0, frames, 4).kind, FUTEXCLASS_SEM);
	frames[1].function = NULL;
	assert_int_equal(futexclass_find(BITSET_OP, 0, frames, 4).kind, FUTEXCLASS_SEM);
	frames[1].function = "pthread_cond_wait";
	assert_true(futexclass_find(BITSET_OP, 0, frames, 2).can_lock_too);
	assert_int_equal(futexclass_find(BITSET_OP, 0, frames, 2).kind, FUTEXCLASS_OTHER);
	frames[1].function = "pthread_mutex_lock";
	assert_int_equal(futexclass_find(MUTEX_OP, 2, frames, 2).kind, FUTEXCLASS_MUTEX);
	frames[1].function = "pthread_rwlock_rdlock";
	assert_int_equal(futexclass_find(BITSET_OP, 2, frames, 2).kind, FUTEXCLASS_RWLOCK);
	frames[1].function = "pthread_cond_timedwait";
	frames[2].function = "PyEval_RestoreThread";
	assert_true(futexclass_find(BITSET_OP, 0, frames, 3).by_condition);
	assert_false(futexclass_find(BITSET_OP, 0, frames, 3).own_word);
	frames[2].function = "ObjectMonitor::enter";
	assert_true(futexclass_find(BITSET_OP, 0, frames, 3).own_word);
	assert_false(futexclass_find(BITSET_OP, 0, frames, 3).of_library);
	/* The library's own: by the function that needs it, or where none has a name. */
	frames[1].function = "fputs";
	assert_true(futexclass_find(MUTEX_OP, 2, frames, 2).of_library);
	frames[1].function = "malloc";
	assert_true(futexclass_find(MUTEX_OP, 2, frames, 2).of_library);
	frames[1].function = NULL;
	assert_true(futexclass_find(MUTEX_OP, 2, frames, 2).of_library);
	frames[1].function = "pthread_mutex_lock";
	assert_false(futexclass_find(MUTEX_OP, 2, frames, 2).of_library);
	frames[1].function = "pthread_join";
	assert_false(futexclass_find(BITSET_OP, 0, frames, 2).can_lock_too);
	assert_string_equal(futexclass_name(FUTEXCLASSES), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_glibc),
		cmocka_unit_test(test_languages),
		cmocka_unit_test(test_databases),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
