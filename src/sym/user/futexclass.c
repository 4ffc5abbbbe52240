// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions of libraries and runtimes in which threads sleep, from the innermost call outwards. One
 * that says it all ends the search; after others, as that of a condition variable, the functions of
 * a runtime around it may say more: a Java monitor is one within. A function of the C library
 * counts only if all further in are of the same file: a program that sleeps by itself, in what a
 * function of the library has called, does not sleep for that.
 *
 * A semaphore may be a lock or a queue, and so may Java's park or the locks of Python, which its
 * condition variables are made of. These are unknown where no function around them says more.
 */
#include "kontend/futexclass.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <string.h>

/* How a rule compares, and what follows from it. */
enum {
	PART = 1,    /* anywhere in the name; else it is all of it */
	BEGIN = 2,   /* the name begins so */
	LIBC = 4,    /* of the C library */
	ON = 8,	     /* functions around it may say more */
	AROUND = 16, /* only around one that says "more" */
	NEXT = 32,   /* only right around a condition variable */
	RELOCKS = 64,
	SEMAPHORE = 128,
	MUTEX = 256,
	RWLOCK = 512,
	OWN = 1024,   /* each thread sleeps on a word of its own */
	INNER = 2048, /* of the C library: its own */
	TIMED = 4096, /* only where the wait for the condition ends in time */
};

enum {
	NAME_MOST = 256,
	FRAMES_MOST = 14,
	LIBC_LAST = 2 /* in the library, calls within its interface */
};

struct rule {
	const char *name;
	unsigned flags;
	enum futexclass class;
	const char *what;
};

#define LOCK FUTEXCLASS_LOCK
#define WAIT FUTEXCLASS_WAIT
#define EITHER FUTEXCLASS_UNKNOWN

static const char condition[] = "condition variable";

/* The first that fits counts. Names have no "__GI_" or underscores before, and no "@VERSION". */
static const struct rule rules[] = {
	/* glibc and musl; the functions inside are there if the library has symbols. */
	{"lll_lock_wait", LIBC | BEGIN | ON | INNER, LOCK, "lock of the C library"},
	{"pthread_mutex_cond_lock", LIBC | BEGIN | MUTEX, LOCK, "mutex"},
	{"pthread_mutex_", LIBC | BEGIN | MUTEX, LOCK, "mutex"},
	{"mtx_lock", LIBC | MUTEX, LOCK, "mutex"},
	{"mtx_timedlock", LIBC | MUTEX, LOCK, "mutex"},
	{"pthread_rwlock_", LIBC | BEGIN | RWLOCK, LOCK, "rwlock"},
	{"pthread_spin_lock", LIBC, LOCK, "spinlock"},
	{"pthread_cond_", LIBC | BEGIN | ON | RELOCKS, WAIT, condition},
	{"cnd_wait", LIBC | ON | RELOCKS, WAIT, condition},
	{"cnd_timedwait", LIBC | ON | RELOCKS, WAIT, condition},
	{"new_sem_wait", LIBC | BEGIN | ON | SEMAPHORE, EITHER, "semaphore"},
	{"new_sem_timedwait", LIBC | BEGIN | ON | SEMAPHORE, EITHER, "semaphore"},
	{"sem_wait", LIBC | ON | SEMAPHORE, EITHER, "semaphore"},
	{"sem_timedwait", LIBC | ON | SEMAPHORE, EITHER, "semaphore"},
	{"sem_clockwait", LIBC | ON | SEMAPHORE, EITHER, "semaphore"},
	{"pthread_join", LIBC, WAIT, "join"},
	{"pthread_timedjoin", LIBC | BEGIN, WAIT, "join"},
	{"pthread_clockjoin", LIBC | BEGIN, WAIT, "join"},
	{"thrd_join", LIBC, WAIT, "join"},
	{"pthread_barrier_", LIBC | BEGIN, WAIT, "barrier"},
	{"pthread_once", LIBC | BEGIN, WAIT, "once"},
	{"call_once", LIBC, WAIT, "once"},
	{"aio_suspend", LIBC | BEGIN, WAIT, "I/O"},
	{"lio_listio", LIBC | BEGIN, WAIT, "I/O"},
	{"handle_fildes_io", LIBC, WAIT, "work"},
	{"malloc", LIBC | INNER, LOCK, "malloc"},
	{"calloc", LIBC | INNER, LOCK, "malloc"},
	{"realloc", LIBC | INNER, LOCK, "malloc"},
	{"free", LIBC | INNER, LOCK, "malloc"},
	{"cfree", LIBC | INNER, LOCK, "malloc"},
	{"memalign", LIBC | PART | INNER, LOCK, "malloc"},
	{"aligned_alloc", LIBC | INNER, LOCK, "malloc"},
	{"libc_malloc", LIBC | INNER, LOCK, "malloc"},
	{"libc_free", LIBC | INNER, LOCK, "malloc"},
	{"libc_calloc", LIBC | INNER, LOCK, "malloc"},
	{"libc_realloc", LIBC | INNER, LOCK, "malloc"},
	{"arena_get", LIBC | BEGIN | INNER, LOCK, "malloc"},
	{"int_free", LIBC | BEGIN | INNER, LOCK, "malloc"},
	{"int_malloc", LIBC | BEGIN | INNER, LOCK, "malloc"},
	{"tcache_init", LIBC | BEGIN | INNER, LOCK, "malloc"},
	{"mallinfo", LIBC | BEGIN | INNER, LOCK, "malloc"},
	{"malloc_trim", LIBC | INNER, LOCK, "malloc"},
	{"flockfile", LIBC | INNER, LOCK, "stdio"},
	{"printf", LIBC | PART | INNER, LOCK, "stdio"},
	{"IO_", LIBC | BEGIN | INNER, LOCK, "stdio"},
	{"fputs", LIBC | PART | INNER, LOCK, "stdio"},
	{"fgets", LIBC | PART | INNER, LOCK, "stdio"},
	{"fputc", LIBC | PART | INNER, LOCK, "stdio"},
	{"fgetc", LIBC | PART | INNER, LOCK, "stdio"},
	{"fwrite", LIBC | PART | INNER, LOCK, "stdio"},
	{"fread", LIBC | PART | INNER, LOCK, "stdio"},
	{"puts", LIBC | INNER, LOCK, "stdio"},
	{"putc", LIBC | INNER, LOCK, "stdio"},
	{"getc", LIBC | INNER, LOCK, "stdio"},
	{"putchar", LIBC | INNER, LOCK, "stdio"},
	{"getline", LIBC | INNER, LOCK, "stdio"},
	{"fflush", LIBC | BEGIN | INNER, LOCK, "stdio"},
	{"fclose", LIBC | PART | INNER, LOCK, "stdio"},
	/* C++: what does not end in the functions above. */
	{"std::__atomic_futex_unsigned_base::", BEGIN, WAIT, "future"},
	{"std::latch", PART | AROUND, WAIT, "latch"},
	{"std::__detail::__platform_wait", BEGIN | ON, EITHER, "atomic wait"},
	{"std::barrier", PART | AROUND, WAIT, "barrier"},
	{"std::__tree_barrier", PART | AROUND, WAIT, "barrier"},
	{"__atomic_semaphore", PART | AROUND | SEMAPHORE, EITHER, "semaphore"},
	{"std::__1::__libcpp_atomic_wait", BEGIN | ON, EITHER, "atomic wait"},
	/* Rust: std, and the crate parking_lot. */
	{"futex::Mutex::lock_contended", PART, LOCK, "Rust mutex"},
	{"futex::RwLock::read_contended", PART, LOCK, "Rust rwlock"},
	{"futex::RwLock::write_contended", PART, LOCK, "Rust rwlock"},
	{"futex::Condvar::wait", PART, WAIT, condition},
	{"std::sync::condvar::Condvar::wait", PART, WAIT, condition},
	{"std::sync::poison::condvar::Condvar::wait", PART, WAIT, condition},
	{"futex::Once::call", PART, WAIT, "once"},
	{"futex::Once::wait", PART, WAIT, "once"},
	{"futex::Parker::park", PART, WAIT, "park"},
	{"std::sync::barrier::Barrier::wait", PART, WAIT, "barrier"},
	{"std::thread::park", BEGIN, WAIT, "park"},
	{"std::thread::functions::park", BEGIN, WAIT, "park"},
	{"std::thread::thread::Thread::park", PART, WAIT, "park"},
	{"std::thread::current::park", BEGIN, WAIT, "park"},
	{"std::thread::Thread::park", PART, WAIT, "park"},
	{"parking_lot::raw_mutex::RawMutex::lock", PART | OWN, LOCK, "parking_lot mutex"},
	{"parking_lot::raw_rwlock::RawRwLock::lock", PART | OWN, LOCK, "parking_lot rwlock"},
	{"parking_lot::condvar::Condvar::wait", PART, WAIT, condition},
	{"parking_lot::once::Once::call_once", PART, WAIT, "once"},
	{"parking_lot_core::parking_lot::park", PART | ON, EITHER, "parking lot"},
	/* Go: its runtime's own. Goroutines sleep without a system call. */
	{"runtime.semasleep", ON | OWN, WAIT, "Go scheduler"},
	{"runtime.lock", 0, LOCK, "Go runtime"},
	{"runtime.lock2", 0, LOCK, "Go runtime"},
	{"runtime.lockWithRank", 0, LOCK, "Go runtime"},
	{"runtime.notesleep", 0, WAIT, "Go scheduler"},
	{"runtime.notetsleep", BEGIN, WAIT, "Go scheduler"},
	/* CPython. It takes the GIL in functions without an exported name. */
	{"take_gil", AROUND, LOCK, "GIL"},
	{"PyEval_RestoreThread", AROUND | NEXT, LOCK, "GIL"},
	{"PyEval_Acquire", AROUND | NEXT | BEGIN, LOCK, "GIL"},
	{"PyGILState_Ensure", AROUND | NEXT, LOCK, "GIL"},
	{"PyEval_EvalFrame", AROUND | NEXT | BEGIN, LOCK, "GIL"},
	{"PyThreadState_Attach", AROUND | NEXT, LOCK, "GIL"},
	{"PyThreadState_Swap", AROUND | NEXT, LOCK, "GIL"},
	{"Py_HandlePending", AROUND | NEXT, LOCK, "GIL"},
	{"PyThread_acquire_lock", AROUND | BEGIN | ON | SEMAPHORE, EITHER, "Python lock"},
	{"PyMutex_Lock", AROUND | BEGIN | ON | OWN, LOCK, "Python mutex"},
	{"PyRawMutex_Lock", AROUND | BEGIN | OWN, LOCK, "Python mutex"},
	{"PyRWMutex_", AROUND | BEGIN | OWN, LOCK, "Python mutex"},
	{"PyEvent_Wait", AROUND | BEGIN, WAIT, "Python event"},
	{"lock_PyThread_acquire_lock", AROUND, EITHER, "Python lock"},
	{"thread_lock_acquire", AROUND | PART, EITHER, "Python lock"},
	{"queue_SimpleQueue_get", AROUND | PART, WAIT, "Python queue"},
	{"enter_buffered_busy", AROUND, LOCK, "Python file"},
	{"PyImport_AcquireLock", AROUND, LOCK, "Python import"},
	{"ThreadHandle_join", AROUND, WAIT, "join"},
	/* Java: HotSpot. */
	{"ObjectMonitor::EnterI", AROUND | OWN, LOCK, "Java monitor"},
	{"ObjectMonitor::ReenterI", AROUND | OWN, LOCK, "Java monitor"},
	{"ObjectMonitor::enter", AROUND | BEGIN | OWN, LOCK, "Java monitor"},
	{"ObjectMonitor::wait", AROUND, WAIT, "Java wait"},
	{"JVM_MonitorWait", AROUND, WAIT, "Java wait"},
	{"Parker::park", AROUND, EITHER, "Java park"},
	{"Unsafe_Park", AROUND, EITHER, "Java park"},
	{"JavaThread::sleep", AROUND, WAIT, "sleep"},
	{"JVM_Sleep", AROUND, WAIT, "sleep"},
	{"PosixSemaphore::", AROUND | BEGIN, WAIT, "JVM work"},
	{"Monitor::wait", AROUND | BEGIN, WAIT, "JVM work"},
	/* PostgreSQL, MariaDB and MySQL. */
	{"PGSemaphoreLock", AROUND | ON | SEMAPHORE, EITHER, "PostgreSQL semaphore"},
	{"LWLock", AROUND | BEGIN | OWN, LOCK, "LWLock"},
	{"ProcSleep", AROUND | OWN, LOCK, "PostgreSQL lock"},
	{"ProcArrayEndTransaction", AROUND | OWN, LOCK, "LWLock"},
	{"ProcArrayGroupClearXid", AROUND | OWN, LOCK, "LWLock"},
	{"TransactionIdSetPageStatus", AROUND | OWN, LOCK, "LWLock"},
	{"TransactionGroupUpdateXidStatus", AROUND | OWN, LOCK, "LWLock"},
	{"srw_mutex_impl", PART, LOCK, "InnoDB latch"},
	{"ssux_lock_impl", PART, LOCK, "InnoDB latch"},
	{"sux_lock", PART, LOCK, "InnoDB latch"},
	{"sync_array_wait_event", AROUND, LOCK, "InnoDB latch"},
	{"lock_wait", AROUND | OWN, LOCK, "InnoDB row lock"},
	{"lock_wait_suspend_thread", AROUND | OWN, LOCK, "InnoDB row lock"},
	/* Where the engine exports no names: for a row it waits in time, for a latch without libc.
	 */
	{"handler::ha_", AROUND | NEXT | TIMED | BEGIN | OWN, LOCK, "row lock"},
	{"MDL_wait::timed_wait", AROUND | OWN, LOCK, "metadata lock"},
	{"MDL_context::acquire_lock", AROUND | OWN, LOCK, "metadata lock"},
	{"thr_lock", AROUND | OWN, LOCK, "table lock"},
	/* Others that have futexes of their own. */
	{"g_mutex_lock", BEGIN, LOCK, "GLib mutex"},
	{"g_cond_wait", BEGIN, WAIT, condition},
	{"QBasicMutex::lockInternal", 0, LOCK, "Qt mutex"},
	{"QMutex::", BEGIN, LOCK, "Qt mutex"},
	{"QReadWriteLock::", BEGIN, LOCK, "Qt rwlock"},
	{"QSemaphore::", BEGIN | SEMAPHORE, EITHER, "semaphore"},
	{"Mutex::LockSlowLoop", PART | AROUND | ON, EITHER, "Abseil mutex"},
	{"Mutex::LockSlow", PART | AROUND | OWN, LOCK, "Abseil mutex"},
	{"Mutex::AwaitCommon", PART | AROUND, WAIT, condition},
	{"CondVar::Wait", PART | AROUND, WAIT, condition},
	{"absl::", BEGIN | ON, EITHER, "Abseil mutex"},
	{"SpinLock::SlowLock", PART, LOCK, "spinlock"},
	{"WTF::ParkingLot::", BEGIN | ON, EITHER, "parking lot"},
	{"WTF::Lock::lockSlow", AROUND | BEGIN | OWN, LOCK, "WebKit lock"},
	{"WTF::Condition", AROUND | BEGIN, WAIT, condition},
	{"gomp_mutex_lock", BEGIN, LOCK, "OpenMP mutex"},
	{"GOMP_critical", BEGIN, LOCK, "OpenMP mutex"},
	{"gomp_barrier_wait", BEGIN, WAIT, "barrier"},
	{"gomp_team_barrier_wait", BEGIN, WAIT, "barrier"},
	{"GOMP_barrier", BEGIN, WAIT, "barrier"},
	{"gomp_thread_start", 0, WAIT, "OpenMP work"},
	{"qemu_event_wait", 0, WAIT, "event"},
};

/* Of the C library: "__GI___pthread_mutex_lock" is pthread_mutex_lock, too. */
static const char *plain(const char *name)
{
	name += strncmp(name, "__GI_", 5) ? 0 : 5;
	return name + strspn(name, "_");
}

/* Compilers add ".part.0", linkers "@@GLIBC_2.2.5". */
static bool ends(const char *at)
{
	return !*at || strchr("@.<(", *at);
}

/* Is it in the name? Newer compilers of Rust write "<std::Mutex>::lock" for "std::Mutex::lock". */
static bool has_part(const char *name, const char *part)
{
	char bare[NAME_MOST];
	size_t n = 0;

	for (; *name && n < sizeof(bare) - 1; name++)
		if (*name != '<' && *name != '>')
			bare[n++] = *name;
	bare[n] = '\0';
	return strstr(bare, part);
}

static bool fits(const struct rule *r, const char *name)
{
	const char *bare = plain(name);
	size_t len = strlen(r->name);

	if (r->flags & PART)
		return has_part(name, r->name);
	if (strncmp(bare, r->name, len) && strncmp(name, r->name, len))
		return false;
	const char *at = strncmp(bare, r->name, len) ? name : bare;
	return r->flags & BEGIN || ends(at + len);
}

/* The search of a class through the calls of a thread. */
struct search {
	const struct futexclass_frame *frames;
	size_t at;
	size_t named; /* index of the last frame that said something, + 1 */
	bool relocks;
};

static bool has_same_object(const struct search *s)
{
	for (size_t i = 0; i < s->at; i++)
		if (strcmp(s->frames[i].object, s->frames[s->at].object) != 0)
			return false;
	return true;
}

/* Are all between the last that said something and this one without a name? */
static bool is_next(const struct search *s)
{
	for (size_t i = s->named; i < s->at; i++)
		if (s->frames[i].function)
			return false;
	return true;
}

static const char *file_of(const char *path)
{
	const char *name = strrchr(path, '/');

	return name ? name + 1 : path;
}

bool futexclass_is_c_library(const char *object)
{
	const char *name = file_of(object);

	return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) ||
	       !strncmp(name, "libpthread", 10) || !strncmp(name, "ld-", 3);
}

/* Functions of the C library that are not exported have no name there. */
static bool is_around_library(const struct search *s)
{
	for (size_t i = 0; i < s->at; i++)
		if (s->frames[i].function || !futexclass_is_c_library(s->frames[i].object))
			return false;
	return s->at > 0;
}

/* "pthread_cond_timedwait", "pthread_cond_clockwait". */
static bool is_timed(const char *function)
{
	return function && (strstr(function, "timedwait") || strstr(function, "clockwait"));
}

static bool allows(const struct rule *r, const struct search *s)
{
	if (r->flags & LIBC && !(has_same_object(s) && s->at <= s->named + LIBC_LAST + 1))
		return false;
	if (r->flags & TIMED && !(s->named && is_timed(s->frames[s->named - 1].function)))
		return false;
	if (r->flags & AROUND && !s->named && !is_around_library(s))
		return false;
	return !(r->flags & NEXT) || (s->relocks && is_next(s));
}

static const struct rule *find_rule(const struct search *s)
{
	const char *name = s->frames[s->at].function;

	for (size_t i = 0; name && i < sizeof(rules) / sizeof(*rules); i++)
		if (fits(&rules[i], name) && allows(&rules[i], s))
			return &rules[i];
	return NULL;
}

/* Its own locks wait so, in functions that have no exported name. */
static bool is_library_lock(uint32_t op, uint32_t value, const struct futexclass_frame *frames,
			    size_t n)
{
	return (op & FUTEX_CMD_MASK) == FUTEX_WAIT && value == 2 && n > 1 && !frames[0].function &&
	       futexclass_is_c_library(frames[0].object) &&
	       futexclass_is_c_library(frames[1].object);
}

static bool is_library(const char *object)
{
	return futexclass_is_c_library(object) || !strncmp(file_of(object), "libstdc++.so", 12);
}

static enum futexclass_kind kind_of(const struct rule *r)
{
	return r->flags & SEMAPHORE ? FUTEXCLASS_SEM
	       : r->flags & MUTEX   ? FUTEXCLASS_MUTEX
	       : r->flags & RWLOCK  ? FUTEXCLASS_RWLOCK
				    : FUTEXCLASS_OTHER;
}

/* Redis keeps threads for I/O asleep by mutexes that its main thread has for as long. */
static bool is_parked_by_mutex(const struct futexclass_frame *around)
{
	const char *file = file_of(around->object);

	return around->function && !strcmp(around->function, "IOThreadMain") &&
	       (!strncmp(file, "redis-", 6) || !strncmp(file, "valkey-", 7));
}

struct futexclass_found futexclass_find(uint32_t op, uint32_t value,
					const struct futexclass_frame *frames, size_t n)
{
	struct futexclass_found ret = {.what = ""};
	struct search s = {.frames = frames};
	bool goes_on = (op & (uint32_t)FUTEX_CMD_MASK) != FUTEXCLASS_WAITV;

	if (!goes_on) {
		ret.class = FUTEXCLASS_WAIT;
		ret.what = "several words";
	}
	for (; goes_on && s.at < n && s.at < FRAMES_MOST; s.at++) {
		const struct rule *r = find_rule(&s);
		if (!r)
			continue;
		s.named = s.at + 1;
		s.relocks = r->flags & RELOCKS;
		ret.by_condition |= s.relocks;
		ret.own_word |= (r->flags & OWN) != 0;
		ret.of_library = r->flags & INNER;
		ret.class = r->class;
		ret.what = r->what;
		ret.kind = kind_of(r) ? kind_of(r) : ret.kind;
		ret.can_lock_too = s.relocks;
		goes_on = r->flags & ON;
	}
	if (!s.named && is_library_lock(op, value, frames, n)) {
		ret.class = FUTEXCLASS_LOCK;
		ret.what = "lock of the C library";
		ret.of_library = true;
	}
	if (ret.kind == FUTEXCLASS_MUTEX && s.named < n && is_parked_by_mutex(&frames[s.named])) {
		ret.class = FUTEXCLASS_WAIT;
		ret.kind = FUTEXCLASS_OTHER;
		ret.what = "work";
	}
	ret.depth = s.named;
	while (ret.depth < n && is_library(frames[ret.depth].object))
		ret.depth++;
	return ret;
}

const char *futexclass_name(enum futexclass c)
{
	static const char *const names[FUTEXCLASSES] = {"unknown", "lock", "wait"};

	return (unsigned)c < FUTEXCLASSES ? names[c] : "unknown";
}
