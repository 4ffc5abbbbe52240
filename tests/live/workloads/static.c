// SPDX-License-Identifier: GPL-2.0-only
/* Some tenths of a second in inner(), called by middle(), outer() and main(). */
#include <stdio.h>

static volatile double sum;

__attribute__((noinline)) static double inner(double x)
{
	double r = 0;

	for (int i = 0; i < 2000; i++)
		r += i * x * 0.5 + r * 0.25;
	return r;
}

__attribute__((noinline)) static double middle(double x)
{
	return inner(x) + 1;
}

__attribute__((noinline)) static double outer(double x)
{
	return middle(x) + 2;
}

int main(void)
{
	for (int i = 0; i < 80000; i++)
		sum += outer(i);
	printf("%g\n", sum);
	return 0;
}
