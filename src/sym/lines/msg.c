// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages: a head of four words (mark, kind, file, number), then what the kind has. Texts are a
 * length that counts their NUL, and the bytes. Reading goes through a cursor that stops at the end
 * of the bytes; a message must be used up by what it says it holds.
 */
#include "msg.h"

#include <string.h>

enum { MARK = 0x4b4c4e31 };

struct writer {
	uint8_t *at, *end;
};

struct cursor {
	const uint8_t *at;
	size_t left;
	bool bad;
};

static void put(struct writer *w, const void *p, size_t n)
{
	if ((size_t)(w->end - w->at) < n)
		return;
	memcpy(w->at, p, n);
	w->at += n;
}

static void put_u32(struct writer *w, uint32_t v)
{
	put(w, &v, sizeof(v));
}

static void put_text(struct writer *w, const char *s)
{
	uint32_t n = (uint32_t)strnlen(s ? s : "", SRCLINES_MSG_TEXT - 1);

	put_u32(w, n + 1);
	put(w, s ? s : "", n);
	put(w, "", 1);
}

/* All frames fit: SRCLINES_FRAMES times two texts are less than a message. */
static void put_place(struct writer *w, const struct srclines_msg *m)
{
	size_t n = m->answer == SRCLINES_OK ? m->place.n : 0;

	put(w, &m->addr, sizeof(m->addr));
	put_u32(w, (uint32_t)m->answer);
	for (size_t i = 0; i < n; i++) {
		put_u32(w, m->place.frames[i].line);
		put_text(w, m->place.frames[i].function);
		put_text(w, m->place.frames[i].file);
	}
}

_Static_assert(SRCLINES_FRAMES * 2 * (SRCLINES_MSG_TEXT + 8) + 64 < SRCLINES_MSG_MOST,
	       "a place fits into a message");

static uint32_t number_of(const struct srclines_msg *m)
{
	if (m->kind == SRCLINES_MSG_FIND)
		return (uint32_t)m->n;
	return m->kind == SRCLINES_MSG_PLACE && m->answer == SRCLINES_OK ? (uint32_t)m->place.n : 0;
}

size_t srclines_msg_put(uint8_t *buf, const struct srclines_msg *m)
{
	struct writer w = {.at = buf, .end = buf + SRCLINES_MSG_MOST};

	put_u32(&w, MARK);
	put_u32(&w, (uint32_t)m->kind);
	put_u32(&w, m->file);
	put_u32(&w, number_of(m));
	if (m->kind == SRCLINES_MSG_FIND)
		put(&w, m->addrs, m->n * sizeof(m->addrs[0]));
	if (m->kind == SRCLINES_MSG_OPENED) {
		put_u32(&w, (uint32_t)m->answer);
		put_text(&w, m->why);
	}
	if (m->kind == SRCLINES_MSG_PLACE)
		put_place(&w, m);
	return (size_t)(w.at - buf);
}

static void get(struct cursor *c, void *ret, size_t n)
{
	memset(ret, 0, n);
	if (c->bad || c->left < n) {
		c->bad = true;
		return;
	}
	memcpy(ret, c->at, n);
	c->at += n;
	c->left -= n;
}

static uint32_t get_u32(struct cursor *c)
{
	uint32_t v;

	get(c, &v, sizeof(v));
	return v;
}

/* "" where it is not what it should be. */
static const char *get_text(struct cursor *c)
{
	uint32_t n = get_u32(c);
	const uint8_t *p = c->at;

	if (c->bad || !n || n > SRCLINES_MSG_TEXT || n > c->left ||
	    memchr(p, '\0', n) != p + n - 1) {
		c->bad = true;
		return "";
	}
	c->at += n;
	c->left -= n;
	return (const char *)p;
}

static enum srclines_answer get_answer(struct cursor *c)
{
	uint32_t a = get_u32(c);

	if (a >= SRCLINES_ANSWERS || a == SRCLINES_PENDING)
		c->bad = true;
	return c->bad ? SRCLINES_DAMAGED : (enum srclines_answer)a;
}

static void get_place(struct cursor *c, size_t n, struct srclines_msg *ret)
{
	get(c, &ret->addr, sizeof(ret->addr));
	ret->answer = get_answer(c);
	if (n > SRCLINES_FRAMES || (n != 0) != (ret->answer == SRCLINES_OK)) {
		c->bad = true;
		return;
	}
	ret->place.n = n;
	for (size_t i = 0; i < n; i++) {
		ret->place.frames[i].line = get_u32(c);
		ret->place.frames[i].function = get_text(c);
		ret->place.frames[i].file = get_text(c);
	}
}

static void get_body(struct cursor *c, uint32_t n, struct srclines_msg *ret)
{
	switch (ret->kind) {
	case SRCLINES_MSG_FIND:
		c->bad |= !n || n > SRCLINES_MSG_PLACES;
		ret->n = c->bad ? 0 : n;
		get(c, ret->addrs, ret->n * sizeof(ret->addrs[0]));
		break;
	case SRCLINES_MSG_OPENED:
		ret->answer = get_answer(c);
		ret->why = get_text(c);
		break;
	case SRCLINES_MSG_PLACE:
		get_place(c, n, ret);
		break;
	default:
		break;
	}
}

bool srclines_msg_get(const uint8_t *buf, size_t n, struct srclines_msg *ret)
{
	struct cursor c = {.at = buf, .left = n};

	uint32_t mark = get_u32(&c), kind = get_u32(&c);
	ret->file = get_u32(&c);
	uint32_t number = get_u32(&c);
	if (c.bad || mark != MARK || kind < SRCLINES_MSG_OPEN || kind >= SRCLINES_MSG_KINDS)
		return false;
	ret->kind = (enum srclines_msg_kind)kind;
	get_body(&c, number, ret);
	return !c.bad && !c.left;
}
