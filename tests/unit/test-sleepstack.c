// SPDX-License-Identifier: GPL-2.0-only
/* Stacks of a child that sleeps in futex(2), compared with the functions that called it. */
#include "kontend/fdio.h"
#include "kontend/mem.h"
#include "kontend/sleepstack.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { MAPS = 512, TEXT = 1024, DEEP = 20000, ROUNDS = 5000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t word;

#if defined(__clang__)
#define APART __attribute__((noinline, used))
#else
#define APART __attribute__((noinline, noclone, used))
#endif
/* A sanitizer changes functions that have variables on the stack, and calls that do not return. */
#if defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 };
#define OUTER ""
#else
enum { IS_SANITIZED = 0 };
#define OUTER " child "
#endif
/* Not the last call of a function, which might be a jump. */
#define STAY __asm__ volatile("")

static APART void inner_mutex(void)
{
	pthread_mutex_lock(&mutex);
	STAY;
}

static APART void waits_for_mutex(void)
{
	inner_mutex();
	STAY;
}

static APART void inner_deep(volatile char *bytes)
{
	bytes[0] = 1;
	inner_mutex();
	STAY;
}

static APART void waits_deep(void)
{
	volatile char bytes[DEEP];

	inner_deep(bytes);
	bytes[1] = 1;
}

#if defined(__x86_64__)
/* It counts from its frame pointer, and what it calls saves none. */
static APART void by_frame_pointer(size_t n)
{
	volatile char *bytes = __builtin_alloca(n);

	bytes[0] = 0;
	__asm__ volatile("xor %%r10d, %%r10d\n\tsyscall" /* no timeout */
			 :
			 : "a"((long)SYS_futex), "D"(&word), "S"((long)FUTEX_WAIT_PRIVATE), "d"(0L)
			 : "rcx", "r10", "r11", "memory");
	bytes[n - 1] = 0;
}

static APART void waits_by_frame_pointer(void)
{
	by_frame_pointer(100 + (size_t)getpid() % 2 * 16);
	STAY;
}

/* It has no table, and is called in a way that no instruction shows. */
void no_table(volatile int *at, int op, int value);
__asm__(".text\n.type no_table,@function\nno_table:\n"
	"push %rbx\nsub $16,%rsp\nmov $202,%eax\nxor %r10d,%r10d\nsyscall\n"
	"add $16,%rsp\npop %rbx\nret\n.size no_table,.-no_table\n");

/* A part without a symbol that counts from its frame pointer. Another function jumps to it. */
void jumps_to_part(volatile int *at, int op, int value);
__asm__(".text\n.type jumps_to_part,@function\njumps_to_part:\n.cfi_startproc\njmp .Lpart\n"
	".cfi_endproc\n.size jumps_to_part,.-jumps_to_part\n"
	".Lpart:\n.cfi_startproc\npush %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6,-16\n"
	"mov %rsp,%rbp\n.cfi_def_cfa_register 6\nsub $96,%rsp\n"
	"mov $202,%eax\nxor %r10d,%r10d\nsyscall\n"
	"leave\n.cfi_def_cfa 7,8\nret\n.cfi_endproc\n");

/* It counts from its frame pointer, too, and no instruction shows who calls it. */
static APART void waits_in_part(size_t n)
{
	volatile char *bytes = __builtin_alloca(n);

	bytes[0] = 0;
	jumps_to_part((volatile int *)&word, FUTEX_WAIT_PRIVATE, 0);
	bytes[n - 1] = 0;
}

static APART void calls_by_pointer(void)
{
	void (*volatile call)(size_t) = waits_in_part;

	call(100 + (size_t)getpid() % 2 * 16);
	STAY;
}

/* No instruction calls the part: only the frame pointer leads to its caller. */
__asm__(".text\n.type names_part,@function\nnames_part:\nlea .Lpart(%rip),%rax\nret\n"
	".size names_part,.-names_part\n");
typedef void (*part)(volatile int *, int, int);
part names_part(void);

static APART void waits_by_pointer(void)
{
	volatile part call = names_part();

	call((volatile int *)&word, FUTEX_WAIT_PRIVATE, 0);
	STAY;
}

static APART void waits_without_table(void)
{
	void (*volatile call)(volatile int *, int, int) = no_table;

	call((volatile int *)&word, FUTEX_WAIT_PRIVATE, 0);
	STAY;
}
#endif

static APART pid_t child(void (*run)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	pthread_mutex_lock(&mutex);
	run();
	_exit(0);
}

static int memory = -1;

static bool read_memory(void *arg, uint64_t addr, void *ret, size_t n)
{
	(void)arg;
	return fdio_read_at(memory, addr, ret, n);
}

/* Until it sleeps in futex(2). */
static void wait_for_sleep(pid_t pid, struct sleepstack_registers *ret)
{
	char path[TEXT], *text;
	uint64_t sleeps = 0;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	for (int i = 0; i < ROUNDS && !sleeps; i++) {
		usleep(1000);
		assert_int_equal(fdio_read_file(path, &text, &len), 0);
		sleeps = sscanf(text, "%*d %*x %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, &ret->sp,
				&ret->ip) == 2 &&
			 atoi(text) == SYS_futex;
		mem_free(text);
	}
	assert_true(sleeps);
}

#if defined(__x86_64__)
/* Stops it for a moment: its call begins again. */
static uint64_t frame_pointer(pid_t pid)
{
	struct user_regs_struct regs;

	assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, NULL, __WALL), pid);
	assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
	return regs.rbp;
}
#else
static uint64_t frame_pointer(pid_t pid)
{
	(void)pid;
	return 0;
}
#endif

static struct sleepstack_map maps[MAPS];
static char paths[MAPS][TEXT];

static size_t read_maps(pid_t pid)
{
	char path[64], line[TEXT], mode[8];
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "re");
	assert_non_null(f);
	while (n < MAPS && fgets(line, sizeof(line), f)) {
		struct sleepstack_map *m = &maps[n];
		*m = (struct sleepstack_map){.path = paths[n]};
		paths[n][0] = '\0';
		int fields = sscanf(line,
				    "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64
				    " %1000[^\n]",
				    &m->start, &m->end, mode, &m->file_offset, &m->maj, &m->min,
				    &m->ino, paths[n]);
		assert_true(fields >= 7);
		m->executable = mode[2] == 'x';
		n++;
	}
	fclose(f);
	return n;
}

static size_t take_all(struct sleepstack *s, const struct sleepstack_registers *at,
		       struct sleepstack_frame frames[SLEEPSTACK_MOST])
{
	bool pending = true;
	size_t n = 0;

	while (pending) {
		n = sleepstack_take(s, at, read_memory, NULL, frames, &pending);
		while (pending && sleepstack_load(s, UINT64_MAX))
			;
	}
	return n;
}

/* The functions of @run's thread, with a blank before each. */
static void take(void (*run)(void), bool needs_fp, char *ret, size_t size)
{
	struct sleepstack_frame frames[SLEEPSTACK_MOST];
	struct sleepstack_registers at = {.sp = 0};
	struct sleepstack *s;
	bool pending;
	char path[64];
	size_t n, len = 0;

	int code = sleepstack_new(&s, "/proc", false);
	if (code == -ENOTSUP)
		skip();
	assert_int_equal(code, 0);
	pid_t pid = child(run);
	assert_true(pid > 0);
	wait_for_sleep(pid, &at);
	if (needs_fp)
		at.fp = frame_pointer(pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(memory >= 0);
	assert_int_equal(sleepstack_process(s, pid, maps, read_maps(pid)), 0);
	n = take_all(s, &at, frames);
	ret[0] = '\0';
	for (size_t i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(ret + len, size - len, " %s",
					frames[i].function ? frames[i].function : "?");
	assert_true(n > 1 && strstr(frames[n - 1].object, "/"));
	/* All again, with files of its own. */
	assert_false(sleepstack_is_worn(s));
	assert_int_equal(sleepstack_renew(s), 0);
	assert_int_equal(sleepstack_process(s, pid, maps, read_maps(pid)), 0);
	assert_int_equal(take_all(s, &at, frames), n);
	/* Without its mappings nothing is known, and nothing is made up. */
	assert_int_equal(sleepstack_process(s, pid, NULL, 0), 0);
	assert_int_equal(sleepstack_take(s, &at, read_memory, NULL, frames, &pending), 0);
	close(memory);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	sleepstack_free(s);
	assert_int_equal(mem_live(), 0);
}

static void test_mutex(void **state)
{
	char text[TEXT * 4];

	(void)state;
	take(waits_for_mutex, false, text, sizeof(text));
	assert_non_null(strstr(text, "pthread_mutex_lock"));
	assert_non_null(strstr(text, " inner_mutex waits_for_mutex" OUTER));
}

static void test_deep(void **state)
{
	char text[TEXT * 4];

	(void)state;
	take(waits_deep, false, text, sizeof(text));
	assert_non_null(strstr(text, " inner_mutex inner_deep waits_deep" OUTER));
}

#if defined(__x86_64__)
static void check_calls(void (*run)(void), bool needs_fp, const char *calls)
{
	char text[TEXT * 4];

	if (IS_SANITIZED)
		skip();
	take(run, needs_fp, text, sizeof(text));
	assert_non_null(strstr(text, calls));
}

static void test_frame_pointer(void **state)
{
	(void)state;
	check_calls(waits_by_frame_pointer, false,
		    " by_frame_pointer waits_by_frame_pointer child ");
}

static void test_part(void **state)
{
	(void)state;
	check_calls(calls_by_pointer, false, " ? waits_in_part calls_by_pointer child ");
	check_calls(calls_by_pointer, true, " ? waits_in_part calls_by_pointer child ");
	check_calls(waits_by_pointer, true, " ? waits_by_pointer child ");
}

static void test_no_table(void **state)
{
	(void)state;
	check_calls(waits_without_table, false, " no_table waits_without_table child ");
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mutex),
		cmocka_unit_test(test_deep),
#if defined(__x86_64__)
		cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_part),
		cmocka_unit_test(test_no_table),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
