// SPDX-License-Identifier: GPL-2.0-only
/*
 *     user-names SECONDS
 *
 * Three threads each for locks at places of known layout: members of structs, arrays and unions,
 * a variable within a function, and memory from malloc(). Prints the name of each lock, as the C
 * language has it; of those in allocated memory the function that waits, and the end of the address
 * within the heap.
 */
#include "user-mutex.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct conn {
	int fd;
	pthread_mutex_t lock;
};

static struct server {
	char name[24];
	struct conn conn;
	struct {
		long pad;
		pthread_rwlock_t table;
	};
	union {
		char raw[64];
		pthread_mutex_t mutex;
	} u;
} server;

struct slot {
	long n;
	pthread_mutex_t mutex;
};

struct slot pool[8] = {{.n = 1}};
static struct slot grid[3][4];
static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *first, *second;
static struct conn *conn;
static _Atomic int stop;

static void hold(void)
{
	const struct timespec t = {0, 2000000};

	nanosleep(&t, NULL);
}

#define LOCKS(NAME, LOCK, UNLOCK)                                                                  \
	__attribute__((noinline)) static void NAME(void)                                           \
	{                                                                                          \
		get(LOCK, #NAME);                                                                  \
		hold();                                                                            \
		UNLOCK;                                                                            \
	}
#define LOCKS_MUTEX(NAME, MUTEX) LOCKS(NAME, pthread_mutex_lock(MUTEX), pthread_mutex_unlock(MUTEX))

LOCKS_MUTEX(use_conn, &server.conn.lock)
LOCKS(use_table, pthread_rwlock_wrlock(&server.table), pthread_rwlock_unlock(&server.table))
LOCKS_MUTEX(use_union, &server.u.mutex)
LOCKS_MUTEX(use_pool, &pool[3].mutex)
LOCKS_MUTEX(use_grid, &grid[2][1].mutex)
LOCKS_MUTEX(use_plain, &plain)
LOCKS_MUTEX(use_first, first)
LOCKS_MUTEX(use_second, second)
LOCKS_MUTEX(use_member, &conn->lock)

__attribute__((noinline)) static void use_own(void)
{
	static struct slot cache[2];

	get(pthread_mutex_lock(&cache[1].mutex), "own");
	hold();
	pthread_mutex_unlock(&cache[1].mutex);
}

static const struct {
	void (*use)(void);
	const char *name;
} uses[] = {
	{use_conn, "server.conn.lock"},	     {use_table, "server.table"},
	{use_union, "server.u.mutex"},	     {use_pool, "pool[3].mutex"},
	{use_grid, "grid[2][1].mutex"},	     {use_plain, "plain"},
	{use_first, "mutex in use_first"},   {use_second, "mutex in use_second"},
	{use_member, "mutex in use_member"}, {use_own, "use_own()::cache[1].mutex"},
};

static void *run(void *arg)
{
	for (size_t i = (size_t)arg; !stop;)
		uses[i].use();
	return NULL;
}

int main(int argc, char **argv)
{
	enum { USES = sizeof(uses) / sizeof(*uses), THREADS = 3 };
	pthread_t threads[USES][THREADS];

	first = calloc(1, sizeof(*first));
	second = calloc(1, sizeof(*second));
	conn = calloc(1, sizeof(*conn));
	if (argc != 2 || !first || !second || !conn)
		return 2;
	for (size_t i = 0; i < USES; i++)
		for (size_t k = 0; k < THREADS; k++)
			get(pthread_create(&threads[i][k], NULL, run, (void *)i), "thread");
	sleep((unsigned)atoi(argv[1]));
	stop = 1;
	for (size_t i = 0; i < USES; i++) {
		for (size_t k = 0; k < THREADS; k++)
			pthread_join(threads[i][k], NULL);
		const uintptr_t at = uses[i].use == use_first	 ? (uintptr_t)first
				     : uses[i].use == use_second ? (uintptr_t)second
				     : uses[i].use == use_member ? (uintptr_t)&conn->lock
								 : 0;
		printf("%s", uses[i].name);
		if (at)
			printf(" ..%03x", (unsigned)(at & 0xfff));
		printf("\n");
	}
	return 0;
}
