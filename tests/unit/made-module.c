// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file of a module of the kernel: linked in part, with a build id and debug information, its
 * code in several sections. Its lines are numbered for test-query-kmodule.c.
 */
extern int made_outside(int x);

#line 100 "made-module.c"
static inline __attribute__((always_inline)) int made_inner(int x)
{
	return made_outside(x) * 3; /* 102 */
}

__attribute__((noinline)) int made_first(int x);
int made_first(int x)
{
	return made_outside(x) + 1; /* 108 */
}

#line 200 "made-module.c"
__attribute__((noinline)) int made_second(int x);
int made_second(int x)
{
	return made_inner(x) + 1; /* 203 */
}

#line 300 "made-module.c"
__attribute__((noinline, section(".text.unlikely"))) int made_seldom(int x);
int made_seldom(int x)
{
	return made_inner(x) + 2; /* 303 */
}
