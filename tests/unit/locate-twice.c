// SPDX-License-Identifier: GPL-2.0-only
/* For test-locate.c: a function of a name that it has one of, too. */
int locate_other(int x);

static __attribute__((noinline)) int locate_twice(int x)
{
	return x * 7 + 1;
}

int locate_other(int x)
{
	return locate_twice(x) ^ 3;
}
