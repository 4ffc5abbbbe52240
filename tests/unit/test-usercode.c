// SPDX-License-Identifier: GPL-2.0-only
/* The program's own code and that of runtimes, by names of files and functions as they were seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/usercode.h"

static const char *const runtime_files[] = {
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libc-2.31.so",
	"/lib/ld-musl-x86_64.so.1",
	"/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
	"/usr/lib/x86_64-linux-gnu/libpthread-2.31.so",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
	"/usr/lib/x86_64-linux-gnu/libgcc_s.so.1",
	"/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
	"/usr/lib/jvm/java-17-openjdk-amd64/lib/libextnet.so",
	"/usr/lib/jvm/java-17-openjdk-amd64/lib/libverify.so",
	"/usr/lib/jvm/java-17-openjdk-amd64/lib/libjimage.so",
	"/usr/lib/jvm/java-17-openjdk-amd64/lib/libmanagement_ext.so",
	"/usr/lib/jvm/java-17-openjdk-amd64/bin/java",
	"/usr/bin/python3.11",
	"/usr/bin/python3",
	"/usr/lib/libpython3.11.so.1.0",
	"/usr/bin/node",
	"/usr/lib/x86_64-linux-gnu/libnode.so.108",
	"/usr/bin/perl",
	"/usr/lib/python3.11/lib-dynload/fcntl.cpython-311-x86_64-linux-gnu.so",
	"[vdso]",
};

static const char *const own_files[] = {
	"/usr/lib/postgresql/15/bin/postgres",
	"/opt/app/libcache.so",
	"/opt/app/nodered",
	"/opt/app/perlite",
	"/opt/app/javaserver",
	"/usr/sbin/mariadbd",
	"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0.8.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"//anon",
	"[heap]",
};

static const char *const runtime_functions[] = {
	"runtime.futex",
	"runtime.park_m",
	"syscall.write",
	"internal/poll.(*FD).Write",
	"os.(*File).Write",
	"sync.(*Mutex).lockSlow",
	"std::sys::unix::fs::File::write",
	"<std::fs::File as std::io::Write>::write",
	"core::ops::function::FnOnce::call_once",
	"std::mutex::lock",
	"std::thread::_State_impl<std::thread::_Invoker<std::tuple<main> > >::_M_run",
	"void std::__invoke_impl<void, work>",
	"__gthread_mutex_lock",
	"java.io.FileOutputStream.write",
	"void java.io.FileOutputStream.write(byte[], int, int)",
	"Ljava/util/concurrent/locks/LockSupport;::park",
	"monitorenter_nofpu Runtime1 stub",
	"Java_sun_nio_ch_FileDispatcherImpl_lock0",
	"StubRoutines (1)",
	"Builtin:CEntry",
	"JS:~writeSync node:fs:876:19",
	"py::<frozen importlib>:x",
	"__libc_write",
	"__GI___libc_write",
	"__lll_lock_wait",
	"pthread_mutex_lock",
	"malloc",
	"__syscall_cancel_arch",
	"_int_malloc",
	"fopen@@GLIBC_2.2.5",
	"PGSemaphoreLock",
	"LWLockAcquireOrWait",
	"WaitEventSetWait",
	"XactLockTableWait",
	"ssux_lock_impl<true>::wr_wait",
	"MDL_context::acquire_lock",
	"g_mutex_lock_slowpath",
	"absl::Mutex::Lock",
};

static const char *const own_functions[] = {
	"main",
	"commit_log",
	"main.writeLog",
	"main.main.func1",
	"app::store::commit",
	"<app::Log as std::io::Write>::flush",
	"sync.part.0",
	"log.constprop.0",
	"net.cold",
	"com.acme.Store.commit",
	"void com.acme.Store.commit(int)",
	"Lcom/acme/Store;::commit",
	"JS:*commit /srv/app.js:12:3",
	"py::commit:/srv/app.py",
	"os_write",
	"runtimes",
	"fwrite_log",
	"start_thread_pool",
	"synchronize",
	"XLogFlush",
	"lock_wait",
	"trx_commit",
};

static void test_files(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(runtime_files) / sizeof(*runtime_files); i++)
		if (!usercode_is_runtime_object(runtime_files[i]))
			fail_msg("%s is taken for the program's own", runtime_files[i]);
	for (size_t i = 0; i < sizeof(own_files) / sizeof(*own_files); i++)
		if (usercode_is_runtime_object(own_files[i]))
			fail_msg("%s is taken for a runtime", own_files[i]);
	assert_false(usercode_is_runtime_object(NULL));
	assert_false(usercode_is_runtime_object(""));
}

static void test_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(runtime_functions) / sizeof(*runtime_functions); i++)
		if (!usercode_is_runtime_function(runtime_functions[i]))
			fail_msg("%s is taken for the program's own", runtime_functions[i]);
	for (size_t i = 0; i < sizeof(own_functions) / sizeof(*own_functions); i++)
		if (usercode_is_runtime_function(own_functions[i]))
			fail_msg("%s is taken for a runtime's", own_functions[i]);
	assert_false(usercode_is_runtime_function(NULL));
}

static void test_wrappers(void **state)
{
	(void)state;
	assert_true(usercode_is_wrapper("__libc_flock", "flock"));
	assert_false(usercode_is_wrapper("flock", "fcntl"));
	assert_true(usercode_is_wrapper("__flock", NULL));
	assert_false(usercode_is_wrapper("take_file", NULL));
	assert_false(usercode_is_wrapper(NULL, NULL));
	assert_true(usercode_is_interpreter("Interpreter"));
	assert_true(usercode_is_interpreter("Builtins_InterpreterEntryTrampoline"));
	assert_false(usercode_is_interpreter("Interpreter::run"));
	assert_false(usercode_is_interpreter(NULL));
	assert_true(usercode_is_lock("LockAcquireExtended"));
	assert_false(usercode_is_lock("pthread_mutex_lock"));
	assert_false(usercode_is_lock(NULL));
	assert_true(usercode_is_library_header("/usr/include/x86_64-linux-gnu/bits/unistd.h"));
	assert_true(usercode_is_library_header("../bits/socket2.h") &&
		    usercode_is_library_header("/bits/a.h"));
	assert_false(usercode_is_library_header("bits.h") ||
		     usercode_is_library_header("/src/mybits/a.h"));
	assert_false(usercode_is_library_header("/src/bits/more/a.h") ||
		     usercode_is_library_header(""));
	assert_true(usercode_begins_thread("start_thread"));
	assert_true(usercode_begins_thread("__libc_start_call_main"));
	assert_true(usercode_begins_thread("clone3"));
	assert_false(usercode_begins_thread("pthread_mutex_lock"));
	assert_false(usercode_begins_thread(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_wrappers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
