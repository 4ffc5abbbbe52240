// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files and functions of runtimes. Whole files are those of the C library, of the runtimes of C++,
 * Java, Python, Node and others, and of allocators. Functions matter where a runtime is linked into
 * the program: Go, Rust, templates of C++, static programs; and for code that a JIT made, whose
 * names say which classes are the language's own.
 */
#include "kontend/usercode.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* The begin of the file's name, without the folder. */
static const char *const objects[] = {
	/* C and C++; what is preloaded in front of them. */
	"libc.so",
	"libc-2.",
	"libc.musl-",
	"ld-musl-",
	"ld-linux",
	"ld-2.",
	"ld.so",
	"ld64.so",
	"libpthread",
	"libm.so",
	"libm-2.",
	"librt.so",
	"librt-2.",
	"libdl.so",
	"libdl-2.",
	"libstdc++",
	"libc++",
	"libgcc_s",
	"libgomp",
	"libomp.so",
	"libatomic.so",
	"libtsan",
	"libasan",
	"libubsan",
	"libjemalloc",
	"libtcmalloc",
	"libmimalloc",
	"liburing.so",
	"[vdso]",
	"[vsyscall]",
	"linux-vdso",
	"[uprobes]",
	/* Java */
	"libjvm.so",
	"libjava.so",
	"libjli.so",
	"libnio.so",
	"libnet.so",
	"libzip.so",
	"libextnet.so",
	"libverify.so",
	"libjimage.so",
	"libmanagement.so",
	"libmanagement_",
	"libinstrument.so",
	"libjdwp.so",
	"libjsig.so",
	"libj9",
	"java",
	/* Python, Ruby, Perl, PHP, Lua, Erlang */
	"libpython",
	"python",
	"libruby",
	"ruby",
	"libperl",
	"perl",
	"php",
	"libphp",
	"liblua",
	"lua",
	"beam.smp",
	/* Node and .NET */
	"libnode",
	"node",
	"nodejs",
	"libuv.so",
	"libv8",
	"deno",
	"bun",
	"libcoreclr",
	"libclrjit",
	"libSystem.Native",
	"dotnet",
	"libmono",
	/* Go and Rust as libraries */
	"libgo.so",
	"libstd-",
};

/* Programs whose whole name it must be, but for a version: "node" is no "nodered-helper". */
static bool ends_name(const char *s)
{
	return s[-1] == '.' || s[-1] == '-' || s[-1] == ']' || !strncmp(s, ".so", 3) ||
	       !isalnum((unsigned char)*s) || isdigit((unsigned char)*s);
}

static bool is_library(const char *name)
{
	return !strncmp(name, "lib", 3);
}

bool usercode_is_runtime_object(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	const char *name = slash && slash[1] ? slash + 1 : path;

	/* Modules of Python itself, which are no program's. */
	if (path && strstr(path, "/lib-dynload/"))
		return true;
	for (size_t i = 0; name && i < sizeof(objects) / sizeof(*objects); i++) {
		size_t n = strlen(objects[i]);
		if (!strncmp(name, objects[i], n) && (is_library(name) || ends_name(name + n)))
			return true;
	}
	return false;
}

/* The begin of a function's name, underscores in front of it left out. */
static const char *const functions[] = {
	/* Go */
	"runtime.",
	"runtime/",
	"syscall.",
	"internal/",
	"sync.",
	"sync/",
	"os.",
	"io.",
	"io/",
	"bufio.",
	"net.",
	"net/",
	"time.",
	"log.",
	"fmt.",
	"golang.org/x/sys/",
	"cgo_",
	"x_cgo_",
	/* Rust and C++ */
	"std::",
	"<std::",
	"core::",
	"<core::",
	"alloc::",
	"<alloc::",
	"hashbrown::",
	"parking_lot::",
	"parking_lot_core::",
	"lock_api::",
	"<parking_lot",
	"rust_",
	"rustc_",
	"libc::",
	"rustix::",
	"nix::",
	"tokio::",
	"<tokio::",
	"mio::",
	"gnu_cxx::",
	"gthread_",
	"operator new",
	"operator delete",
	/* Java: classes of the language, as perf maps, jitdumps and VM structures have them */
	"java.",
	"javax.",
	"jdk.",
	"sun.",
	"com.sun.",
	"java/",
	"jdk/",
	"sun/",
	"Ljava/",
	"Ljdk/",
	"Lsun/",
	"Ljavax/",
	"Java_java_",
	"Java_jdk_",
	"Java_sun_",
	"StubRoutines",
	"DeoptimizationBlob",
	"ExceptionBlob",
	"UncommonTrapBlob",
	"SafepointBlob",
	"resolve_static_call",
	"resolve_virtual_call",
	"resolve_opt_virtual_call",
	"complete_monitor_locking_Java",
	"call_stub",
	"vtable stub",
	"itable stub",
	"I2C/C2I",
	"Stub<",
	"RuntimeStub",
	/* V8 and the rest of Node's own code */
	"Builtin:",
	"Stub:",
	"BytecodeHandler:",
	"RegExp:",
	"LazyCompile:~ node:",
	"v8::",
	"node::",
	/* Python's own calls between its functions */
	"py::<frozen",
	/* A C library that is linked into the program. */
	"libc_",
	"GI_",
	"pthread_",
	"lll_",
	"futex_abstimed_wait",
	"futex_lock_pi",
	"syscall_cancel",
	"internal_syscall_cancel",
	"IO_",
	"int_malloc",
	"int_free",
	"int_realloc",
	"libc_start",
};

/* Of locks that databases and libraries have made of others, as futexclass.c has them. */
static const char *const locks[] = {
	"PGSemaphoreLock",
	"LWLock",
	"ProcSleep",
	"WaitOnLock",
	"LockAcquire",
	"LockRelation",
	"LockTuple",
	"LockPage",
	"LockBuffer",
	"XactLockTable",
	"WaitEventSetWait",
	"WaitLatch",
	"ConditionVariable",
	"s_lock",
	"perform_spin_delay",
	"srw_mutex_impl",
	"srw_lock_impl",
	"ssux_lock_impl",
	"sux_lock",
	"sync_array_",
	"os_event",
	"MDL_wait::",
	"MDL_context::acquire_lock",
	"thr_lock",
	"inline_mysql_",
	"psi_mutex_",
	"psi_rwlock_",
	"psi_cond_",
	"psi_srw_lock",
	"my_cond_",
	"safe_mutex_",
	"g_mutex_",
	"g_rec_mutex_",
	"g_rw_lock_",
	"g_cond_",
	"QMutex::",
	"QBasicMutex::",
	"QReadWriteLock::",
	"QWaitCondition::",
	"absl::Mutex",
	"absl::CondVar",
	"absl::base_internal::",
	"gomp_",
	"GOMP_",
};

/* All of the name, underscores in front of it left out. */
static const char *const whole[] = {
	"syscall",	 "malloc",
	"calloc",	 "realloc",
	"free",		 "sysmalloc",
	"systrim",	 "posix_memalign",
	"aligned_alloc", "memalign",
	"memcpy",	 "memmove",
	"memset",	 "fopen",
	"fopen64",	 "fclose",
	"fread",	 "fwrite",
	"fflush",	 "fputs",
	"printf",	 "fprintf",
	"vfprintf",	 "restore_rt",
	"tls_get_addr",	 "dl_runtime_resolve",
	"dlopen",
};

static bool begins(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(name, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

/* System calls that wait for locks and files: the C library's functions have their names. */
static const char *const calls[] = {
	"flock",      "fcntl",	   "fcntl64",	      "futex",	  "read",    "write",
	"pread",      "pread64",   "pwrite",	      "pwrite64", "readv",   "writev",
	"open",	      "open64",	   "openat",	      "openat64", "close",   "fsync",
	"fdatasync",  "ftruncate", "unlink",	      "rename",	  "mkdir",   "mmap",
	"munmap",     "mprotect",  "madvise",	      "ioctl",	  "poll",    "select",
	"epoll_wait", "nanosleep", "clock_nanosleep", "wait4",	  "waitpid", "msync",
};

/* "sync.part.0" is what the compiler made of a function of C, and no method of Go. */
static bool is_part(const char *name)
{
	static const char *const parts[] = {".part.", ".constprop.", ".isra.",
					    ".cold",  ".lto_priv",   ".llvm."};
	const char *dot = strchr(name, '.');

	return dot && begins(dot, parts, sizeof(parts) / sizeof(*parts));
}

static bool is_whole(const char *name)
{
	size_t n = strcspn(name, ".@");

	for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
		if (strlen(whole[i]) == n && memcmp(name, whole[i], n) == 0)
			return true;
	return false;
}

bool usercode_is_lock(const char *name)
{
	return name && begins(name + strspn(name, "_"), locks, sizeof(locks) / sizeof(*locks));
}

static bool is_runtime(const char *name)
{
	name += strspn(name, "_");
	return is_whole(name) || usercode_is_lock(name) ||
	       (!is_part(name) && begins(name, functions, sizeof(functions) / sizeof(*functions)));
}

bool usercode_is_runtime_function(const char *name)
{
	const char *blank = name ? strchr(name, ' ') : NULL;

	if (!name)
		return false;
	/* "void java.io.FileOutputStream.write(byte[])"; "JS:~ok node:fs:1" */
	return is_runtime(name) || (blank && is_runtime(blank + 1)) ||
	       strstr(name, " Runtime1 stub") != NULL || strstr(name, " node:internal") != NULL ||
	       strstr(name, " node:fs") != NULL || strstr(name, ":<frozen ") != NULL;
}

bool usercode_is_wrapper(const char *name, const char *call)
{
	static const char libc[] = "libc_";

	if (!name)
		return false;
	name += strspn(name, "_");
	if (strncmp(name, libc, sizeof(libc) - 1) == 0)
		name += sizeof(libc) - 1;
	if (call)
		return strcmp(name, call) == 0;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (strcmp(name, calls[i]) == 0)
			return true;
	return false;
}

bool usercode_is_library_header(const char *path)
{
	const char *name = strrchr(path, '/');
	static const char folder[] = "/bits";
	const size_t len = sizeof(folder) - 1;

	return name && (size_t)(name - path) >= len && strncmp(name - len, folder, len) == 0;
}

bool usercode_is_interpreter(const char *name)
{
	return name && (strcmp(name, "Interpreter") == 0 ||
			strstr(name, "InterpreterEntryTrampoline") != NULL);
}

bool usercode_begins_thread(const char *name)
{
	static const char *const begins_it[] = {"start_thread", "clone", "libc_start"};

	return name &&
	       begins(name + strspn(name, "_"), begins_it, sizeof(begins_it) / sizeof(*begins_it));
}
