// SPDX-License-Identifier: GPL-2.0-only
/*
 * deep [SECONDS [DEPTH]]: a program without frame pointers that spends its time at several depths:
 * in a function that main() calls, in a recursion, and in one that a library calls back. For
 * unwinding of its stack.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 20000, SORTED = 16 };

static volatile uint64_t sum;

uint64_t deep_work(uint64_t n);
uint64_t deep_recur(unsigned depth, uint64_t n);
int deep_compare(const void *a, const void *b);
void deep_sort(void);

__attribute__((noinline)) uint64_t deep_work(uint64_t n)
{
	for (uint64_t i = 0; i < ROUNDS; i++)
		n = n * 6364136223846793005u + i;
	sum += n;
	return n;
}

__attribute__((noinline)) uint64_t deep_recur(unsigned depth, uint64_t n)
{
	volatile char room[32];

	room[n % sizeof(room)] = (char)n;
	uint64_t r = depth ? deep_recur(depth - 1, n + 1) : deep_work(n);
	sum += (uint64_t)room[n % sizeof(room)];
	return r + 1;
}

__attribute__((noinline)) int deep_compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	deep_work((uint64_t)x);
	return x - y;
}

__attribute__((noinline)) void deep_sort(void)
{
	int v[SORTED];

	for (int i = 0; i < SORTED; i++)
		v[i] = rand() % 1000;
	qsort(v, SORTED, sizeof(v[0]), deep_compare);
	sum += (uint64_t)v[0];
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 0.7;
	unsigned depth = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 12;
	struct timespec t;

	do {
		deep_work(sum);
		deep_recur(depth, 3);
		for (int i = 0; i < 20; i++)
			deep_recur(depth / 3, 5);
		deep_sort();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while ((double)t.tv_sec + (double)t.tv_nsec * 1e-9 < seconds);
	return 0;
}
