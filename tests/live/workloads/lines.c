// SPDX-License-Identifier: GPL-2.0-only
/*
 * lines CASE: threads that wait for one lock, at lines that a test finds by the comments there.
 * They go on until the program is killed, some minutes at most. It prints "NAME TID" of each
 * thread, and runs where it is allowed to.
 *
 * convoy: one thread changes how many parts of a mapping are read ahead, eight ask what of it is
 * in memory. mutex: one thread has a mutex for long, others wait. unnamed:
 * the lock that the C library makes for a stream, in memory that it has allocated. inversion: on
 * the last CPU, a thread of policy NORMAL has a mutex, one of FIFO 50 keeps it off, one of FIFO 80
 * waits. spin: on the last CPU, three threads of policy RR spin for a lock of their own, which the
 * kernel does not know of, and keep the one that works with it off. compute: as many work without.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A function with a frame of its own, also where gcc would copy it for one of its callers. */
#ifdef __clang__
#define OWN __attribute__((noinline))
#else
#define OWN __attribute__((noinline, noclone))
#endif

enum { MOST_S = 240, READERS = 8, PARTS = 4000 };

static char *area;
static size_t page;

static void fail(const char *call)
{
	perror(call);
	exit(1);
}

static void say(const char *name)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

	prctl(PR_SET_NAME, name);
	pthread_mutex_lock(&one);
	printf("%s %ld\n", name, syscall(SYS_gettid));
	fflush(stdout);
	pthread_mutex_unlock(&one);
}

static void nap(long ms)
{
	const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void start(void *(*run)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, NULL))
		fail("pthread_create");
}

/* convoy */

static OWN int advise(int how)
{
	return madvise(area, PARTS * 2 * page, how) ? -1 : 0; /* writer waits */
}

static void *advise_on(void *unused)
{
	say("merger");
	for (int n = 0;; n++)
		advise(n % 2 ? MADV_RANDOM : MADV_NORMAL);
	return unused;
}

static OWN int is_loaded(unsigned char *in)
{
	return mincore(area, PARTS * page, in) ? -1 : 0; /* reader waits */
}

static void *read_on(void *unused)
{
	static _Thread_local unsigned char in[PARTS];

	say("search");
	for (;;)
		is_loaded(in);
	return unused;
}

static void convoy(void)
{
	/* Every second page is read-only: as many mappings as pages. */
	for (size_t i = 0; i < PARTS; i++)
		if (mprotect(area + 2 * i * page, page, PROT_READ))
			fail("mprotect");
	start(advise_on);
	for (int i = 0; i < READERS; i++)
		start(read_on);
}

/* mutex */

static uint64_t rows;

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static OWN void flush_table(void)
{
	const struct timespec t = {.tv_nsec = 700000000};

	nanosleep(&t, NULL); /* holder sleeps */
}

static void *hold_on(void *unused)
{
	say("writer");
	for (;;) {
		pthread_mutex_lock(&table);
		flush_table();
		pthread_mutex_unlock(&table);
		nap(1);
	}
	return unused;
}

static OWN void look_up(void)
{
	pthread_mutex_lock(&table); /* waits for the mutex */
	pthread_mutex_unlock(&table);
}

static void *look_on(void *unused)
{
	say("reader");
	for (;;) {
		look_up();
		nap(5);
	}
	return unused;
}

static void mutex(void)
{
	start(hold_on);
	for (int i = 0; i < 3; i++)
		start(look_on);
}

/* unnamed */

static FILE *log_file;

static ssize_t write_slowly(void *unused, const char *text, size_t n)
{
	(void)unused, (void)text;
	nap(5);
	return (ssize_t)n;
}

static OWN void log_line(void)
{
	if (fputs("allocated\n", log_file) < 0) /* unnamed */
		fail("fputs");
}

static void *log_on(void *unused)
{
	say("worker");
	for (;;)
		log_line();
	return unused;
}

static void unnamed(void)
{
	log_file = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_slowly});
	if (!log_file || setvbuf(log_file, NULL, _IONBF, 0))
		fail("fopencookie");
	for (int i = 0; i < 4; i++)
		start(log_on);
}

/* inversion */

static pthread_mutex_t bus = PTHREAD_MUTEX_INITIALIZER;
static atomic_int stage;

static void be(int policy, int priority)
{
	const struct sched_param p = {.sched_priority = priority};
	cpu_set_t one, all;

	if (sched_getaffinity(0, sizeof(all), &all))
		fail("sched_getaffinity");
	CPU_ZERO(&one);
	for (int i = CPU_SETSIZE - 1; i >= 0 && !CPU_COUNT(&one); i--)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	if (sched_setaffinity(0, sizeof(one), &one) ||
	    pthread_setschedparam(pthread_self(), policy, &p))
		fail("sched_setaffinity or pthread_setschedparam");
}

static OWN void send_configuration(void)
{
	for (;;)	/* holder is kept off */
		rows++; /* holder is kept off */
}

static void *low(void *unused)
{
	say("sdo");
	be(SCHED_OTHER, 0);
	pthread_mutex_lock(&bus);
	stage = 1;
	send_configuration();
	return unused;
}

static OWN void send_process_data(void)
{
	pthread_mutex_lock(&bus); /* important waits */
	pthread_mutex_unlock(&bus);
}

static void *high(void *unused)
{
	say("pdo");
	be(SCHED_FIFO, 80);
	while (stage < 1)
		nap(1);
	stage = 2;
	send_process_data();
	return unused;
}

static void *middle(void *unused)
{
	volatile uint64_t n = 0;

	say("camera");
	be(SCHED_FIFO, 50);
	while (stage < 2)
		nap(1);
	nap(50);
	for (;;)
		n++;
	return unused;
}

static void inversion(void)
{
	start(low);
	start(high);
	start(middle);
}

/* spin, compute */

enum { BACKENDS = 3, ROUNDS = 300000 };

static atomic_int row_lock;

static OWN void lock_row(void)
{
	while (atomic_exchange(&row_lock, 1))  /* spins */
		while (atomic_load(&row_lock)) /* spins */
#ifdef __aarch64__
			__asm__ volatile("yield"); /* spins */
#else
			__asm__ volatile("pause"); /* spins */
#endif
}

static OWN void update_row(volatile uint64_t *row)
{
	for (int i = 0; i < ROUNDS; i++) /* works */
		++*row;			 /* works */
}

static void *spin_on(void *unused)
{
	say("backend");
	be(SCHED_RR, 1);
	for (;;) {
		lock_row();
		update_row(&rows);
		row_lock = 0;
	}
	return unused;
}

static void *compute_on(void *unused)
{
	uint64_t row = 0;

	say("backend");
	be(SCHED_RR, 1);
	for (;;)
		update_row(&row);
	return unused;
}

static void start_backends(void *(*run)(void *))
{
	for (int i = 0; i < BACKENDS; i++)
		start(run);
}

static void spin(void)
{
	start_backends(spin_on);
}

static void compute(void)
{
	start_backends(compute_on);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"convoy", convoy},       {"mutex", mutex}, {"unnamed", unnamed},
		     {"inversion", inversion}, {"spin", spin},	 {"compute", compute}};

	page = (size_t)sysconf(_SC_PAGESIZE);
	area = mmap(NULL, PARTS * 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (area == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc == 2 && !strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			sleep(MOST_S);
			return 0;
		}
	fprintf(stderr, "lines convoy|mutex|unnamed|inversion|spin|compute\n");
	return 2;
}
