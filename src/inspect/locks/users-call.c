// SPDX-License-Identifier: GPL-2.0-only
/* Reads the call of a thread in futex(2) or its like, and the words around that of the call. */
#include "kernel/futex-numbers.h"
#include "kontend/number.h"
#include "kontend/userword.h"
#include "users.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

static bool take_blank_hex(const char **at, uint64_t *ret)
{
	while (**at == ' ')
		++*at;
	return number_take_hex(at, ret) == 0;
}

bool users_line_parse(const char *text, struct users_line *ret)
{
	const char *at = text;
	bool ok = number_take(&at, INT_MAX, &ret->number) == 0;

	for (int i = 0; ok && i < 6; i++)
		ok = take_blank_hex(&at, &ret->args[i]);
	return ok && take_blank_hex(&at, &ret->sp) && take_blank_hex(&at, &ret->ip);
}

/* "-1 0x7ffd1 0x7f21", of one that waits for a page. */
bool users_line_place(const char *text, uint64_t *ret_sp, uint64_t *ret_ip)
{
	static const char none[] = "-1";
	const char *at = text + strlen(none);
	struct users_line l;

	if (!strncmp(text, none, strlen(none)))
		return take_blank_hex(&at, ret_sp) && take_blank_hex(&at, ret_ip);
	if (!users_line_parse(text, &l))
		return false;
	*ret_sp = l.sp;
	*ret_ip = l.ip;
	return true;
}

enum users_caller users_line_caller(const struct users_line *l)
{
	bool x32 = SYS_futex == X86_FUTEX && l->number & X32_BIT;
	uint64_t number = x32 ? l->number & ~(uint64_t)X32_BIT : l->number;

	switch (number) {
	case SYS_futex:
		return x32 ? USERS_32BIT : USERS_64BIT;
	case FUTEX2_WAIT:
	case FUTEX2_WAITV:
		return x32 ? USERS_32BIT : USERS_EITHER;
	case I386_FUTEX:
	case I386_FUTEX_TIME64:
		return x32 ? USERS_NO_SLEEP : USERS_EITHER;
	default:
		return USERS_NO_SLEEP;
	}
}

bool users_line_call(const struct users_line *l, users_read *read, void *arg,
		     struct userlock_call *ret)
{
	struct userlock_word w;

	switch (l->number) {
	case SYS_futex:
		*ret = (struct userlock_call){l->args[0], (uint32_t)l->args[1],
					      (uint32_t)l->args[2]};
		return true;
	case FUTEX2_WAIT:
		return userlock_take_wait(l->args[0], l->args[1], l->args[3], ret);
	case FUTEX2_WAITV:
		return read(arg, l->args[0], &w, sizeof(w)) &&
		       userlock_take_waitv(&w, (uint32_t)l->args[1], ret);
	default:
		return false;
	}
}

/* Other memory may begin or end right beside a lock. */
static void read_words(const struct userlock_call *c, users_read *read, void *arg,
		       struct userlock_words *ret)
{
	const size_t before = USERLOCK_AT * sizeof(ret->w[0]);
	uint32_t *at = ret->w + USERLOCK_AT;

	*ret = (struct userlock_words){0};
	if (read(arg, c->addr - before, ret->w, sizeof(ret->w)))
		ret->have = USERLOCK_ALL_WORDS;
	else if (read(arg, c->addr, at, USERLOCK_MUTEX_WORDS * sizeof(*at)))
		ret->have = USERLOCK_OF_MUTEX;
	else if (read(arg, c->addr, at, sizeof(*at)))
		ret->have = USERLOCK_ONE_WORD;
}

bool users_lock_find(const struct userlock_call *c, users_read *read, void *arg,
		     struct userlock_found *ret)
{
	struct userlock_words words;

	read_words(c, read, arg, &words);
	return userlock_find(c, &words, ret);
}
