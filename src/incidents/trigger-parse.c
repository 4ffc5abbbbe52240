// SPDX-License-Identifier: GPL-2.0-only
/*
 * An expression is terms in any order, as in a filter: one of them names the condition, "for TIME"
 * at the end how long it has to last, and all others select waits. Terms are separated by the rules
 * of filter-parse.c, so that quotes, groups and expressions stay whole. Each term of the filter is
 * checked separately, so that the place of a mistake is known.
 */
#include "kontend/mem.h"
#include "kontend/query-blocked.h"
#include "kontend/units.h"
#include "kontend/wait-filter.h"
#include "trigger-int.h"

#include <errno.h>
#include <string.h>

enum { LONGEST = 1000 };

/* The kind of comparison. */
enum measure { IS_TRUE, IS_FULL, IS_NS, IS_COUNT };

static const struct condition {
	const char *name;
	enum measure measure;
	bool waits; /* terms may select waits */
	bool lasts; /* "for" may give a duration */
} conditions[TRIGGER_KINDS] = {
	[TRIGGER_WAIT] = {"wait", IS_NS, true, false},
	[TRIGGER_BLOCKED] = {"blocked", IS_NS, true, false},
	[TRIGGER_HUNG] = {"hung", IS_NS, true, false},
	[TRIGGER_WAITING] = {"waiting", IS_COUNT, true, true},
	[TRIGGER_WAIT_S] = {"wait/s", IS_NS, true, true},
	[TRIGGER_WAITS_S] = {"waits/s", IS_COUNT, true, true},
	[TRIGGER_DEADLOCK] = {"deadlock", IS_TRUE, true, true},
	[TRIGGER_SLOTS] = {"slots", IS_FULL, false, true},
	[TRIGGER_XOL] = {"xol", IS_FULL, false, true},
	[TRIGGER_DSTATE] = {"dstate", IS_COUNT, false, true},
	[TRIGGER_ROTATION] = {"rotation", IS_NS, false, false},
	[TRIGGER_LOST] = {"lost", IS_COUNT, false, false},
};

#define WHAT_THERE_IS                                                                              \
	"wait>TIME, blocked>TIME, hung>TIME, waiting>N, wait/s>TIME, waits/s>N, deadlock, "        \
	"slots:full, xol:full, dstate>N, rotation>TIME or lost>N"

const char *trigger_name(enum trigger_kind k)
{
	return conditions[k].name;
}

struct parser {
	const char *text, *at;
	struct trigger_expr *x;
	bool found;	   /* the condition */
	char *to;	   /* the end of the filter */
	char *to_tasks;	   /* the same of that for tasks */
	const char *first; /* the first term; NULL: none */
	const char *other; /* the first that selects tasks, but no waits; NULL: none */
	struct error why;  /* it selects none */
	struct error *err;
};

struct term {
	const char *s;
	size_t len;
	size_t op; /* index of its operator; SIZE_MAX: none */
};

static int column_at(const struct parser *p, const char *s)
{
	int n = 1;

	for (const char *c = p->text; c < s; c++)
		n += ((unsigned char)*c & 0xc0) != 0x80;
	return n;
}

/* @word: shown after @why, which then ends with an opening quote. */
static int refuse(struct parser *p, const char *s, const char *why, const char *word, size_t len)
{
	return error_set(p->err, -EINVAL, "trigger '%.100s', column %d: %s%.*s%s", p->text,
			 column_at(p, s), why, (int)(len < 60 ? len : 60), word, *word ? "'" : "");
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The length of the group at @s, up to its closing parenthesis. */
static size_t group_len(const char *s)
{
	bool quoted = false;
	size_t n = 0;
	int open = 0;

	for (; s[n]; n++) {
		quoted ^= s[n] == '"';
		open += quoted ? 0 : (s[n] == '(') - (s[n] == ')');
		if (!open)
			return n + 1;
	}
	return n;
}

/* See goes_on() and take_term() of filters. */
static struct term take_term(const char *s)
{
	struct term t = {.s = s, .len = strspn(s, "!"), .op = SIZE_MAX};
	bool quoted = false;

	if (s[t.len] == '(') {
		t.len += group_len(s + t.len);
		return t;
	}
	for (; s[t.len]; t.len++) {
		char c = s[t.len];
		bool regex = t.op != SIZE_MAX && s[t.op] == '~';
		quoted ^= c == '"';
		if (quoted || c == '"')
			continue;
		if (is_blank(c) || (c == '|' && !regex))
			break;
		if (t.op == SIZE_MAX && strchr(":=<>~", c))
			t.op = t.len;
	}
	return t;
}

static bool is_word(const struct term *t, const char *word)
{
	return t->len == strlen(word) && memcmp(t->s, word, t->len) == 0;
}

/* The condition that the term names; TRIGGER_KINDS: none, so the term belongs to the filter. */
static enum trigger_kind kind_of(const struct term *t)
{
	const struct term key = {.s = t->s, .len = t->op == SIZE_MAX ? t->len : t->op};
	int k = 0;

	while (k < TRIGGER_KINDS && !is_word(&key, conditions[k].name))
		k++;
	return (enum trigger_kind)k;
}

/* Parses "5ms", in a buffer of its own, as nothing may follow it. */
static int parse_value(const struct condition *c, const char *s, size_t len, uint64_t *ret)
{
	char word[32];

	if (!len || len >= sizeof(word) || memchr(s, '"', len))
		return -EINVAL;
	memcpy(word, s, len);
	word[len] = '\0';
	return c->measure == IS_NS ? units_parse_ns(word, ret) : units_parse_count(word, ret);
}

static int wrong_value(struct parser *p, const struct term *t, const struct condition *c)
{
	static const char *const wants[] = {
		[IS_TRUE] = "this condition takes no value: '",
		[IS_FULL] = "only 'full' is known here, as in slots:full and xol:full: '",
		[IS_NS] = "give '>' and a duration such as 5ms or 1.5s: '",
		[IS_COUNT] = "give '>' and a number such as 20 or 1.5k: '",
	};

	return refuse(p, t->s, wants[c->measure], t->s, t->len);
}

/* With a blank before all but the first; a group with any content stays one term. Returns the term.
 */
static char *append(char **to, const char *first, const char *s, size_t len)
{
	const bool group = s[strspn(s, "!")] == '(';
	char *at = *to;

	if (at != first)
		*at++ = ' ';
	char *ret = at;
	if (group)
		*at++ = '(';
	memcpy(at, s, len);
	at += len;
	if (group)
		*at++ = ')';
	*at = '\0';
	*to = at;
	return ret;
}

/* For the table of blocked tasks. False: it has no such column, and selects none. */
static bool take_for_tasks(struct parser *p, const char *s, size_t len)
{
	char *to = p->to_tasks;
	struct error local = {0};

	if (query_filter_check(append(&p->to_tasks, p->x->tasks, s, len), &query_blocked_kind,
			       &local) == 0)
		return true;
	*to = '\0';
	p->to_tasks = to;
	return false;
}

/*
 * "blocked:jbd2>2s" is "blocked>2s cause:jbd2". The cause may be quoted. Returns the place of '>',
 * or SIZE_MAX.
 */
static size_t take_cause(struct parser *p, const struct term *t)
{
	static const char key[] = "cause:";
	char term[LONGEST + sizeof(key)];
	size_t at = t->len;

	while (at > t->op && t->s[at] != '>')
		at--;
	const size_t len = at > t->op ? at - t->op - 1 : 0;
	if (!len)
		return SIZE_MAX;
	memcpy(term, key, sizeof(key));
	memcpy(term + sizeof(key) - 1, t->s + t->op + 1, len);
	term[sizeof(key) - 1 + len] = '\0';
	p->x->no_waits = true;
	return take_for_tasks(p, term, sizeof(key) - 1 + len) ? at : SIZE_MAX;
}

static bool is_of_tasks(enum trigger_kind k)
{
	return k == TRIGGER_BLOCKED || k == TRIGGER_HUNG;
}

static int take_condition(struct parser *p, const struct term *t, enum trigger_kind k)
{
	const struct condition *c = &conditions[k];
	char op = t->op == SIZE_MAX ? 0 : t->s[t->op];
	size_t at = t->op;
	bool good;

	if (p->found)
		return refuse(p, t->s, "a trigger has one condition; give another trigger for '",
			      t->s, t->len);
	if (op == ':' && is_of_tasks(k) && (at = take_cause(p, t)) != SIZE_MAX)
		op = '>';
	const char *value = t->s + (at == SIZE_MAX ? t->len : at + 1);
	size_t len = (size_t)(t->s + t->len - value);
	if (c->measure == IS_TRUE)
		good = !op;
	else if (c->measure == IS_FULL)
		good = (op == ':' || op == '=') && len == 4 && memcmp(value, "full", 4) == 0;
	else
		good = op == '>' && parse_value(c, value, len, &p->x->limit) == 0;
	if (!good)
		return wrong_value(p, t, c);
	p->x->kind = k;
	p->found = true;
	return 0;
}

static int say_filter(struct parser *p, const char *s, const struct error *why)
{
	return error_set(p->err, -EINVAL, "trigger '%.100s', column %d: %s", p->text,
			 column_at(p, s), why->text);
}

/* The condition may come later: which of both it has, waits or tasks, is not known yet. */
static int take_filter(struct parser *p, const struct term *t)
{
	bool is_for_tasks = take_for_tasks(p, t->s, t->len);
	struct error local = {0};
	char *to = p->to;

	p->x->no_tasks |= !is_for_tasks;
	p->first = p->first ? p->first : t->s;
	int r = wait_filter_check(append(&p->to, p->x->filter, t->s, t->len), &local);
	if (r == 0)
		return 0;
	*to = '\0';
	p->to = to;
	if (r != -EINVAL)
		return error_set(p->err, r, "%s", local.text);
	if (!is_for_tasks)
		return say_filter(p, t->s, &local);
	if (!p->other)
		p->why = local;
	p->other = p->other ? p->other : t->s;
	p->x->no_waits = true;
	return 0;
}

/* "for 3s", which must be the end. */
static int take_for(struct parser *p, const struct term *word)
{
	static const struct condition time = {.measure = IS_NS};
	const char *s = word->s + word->len;
	struct term t;

	s += strspn(s, " \t");
	t = take_term(s);
	if (parse_value(&time, t.s, t.len, &p->x->for_ns) < 0)
		return refuse(
			p, s,
			"give a duration such as 3s after 'for', or quote 'for' if it is text", "",
			0);
	s = t.s + t.len;
	s += strspn(s, " \t");
	if (*s)
		return refuse(p, s, "put 'for' and its time last: '", s, strlen(s));
	p->at = s;
	return 0;
}

static int refuse_or(struct parser *p)
{
	return refuse(p, p->at,
		      "put alternatives of waits in parentheses, as in wait>5ms (type:rwsem | "
		      "type:mutex); for two conditions give two triggers",
		      "", 0);
}

static int take_token(struct parser *p)
{
	size_t bangs = strspn(p->at, "!");
	struct term t = take_term(p->at), bare = take_term(p->at + bangs);
	enum trigger_kind k = kind_of(&bare);

	if (*p->at == '|' || is_word(&t, "or"))
		return refuse_or(p);
	if (is_word(&t, "for"))
		return take_for(p, &t);
	p->at += t.len;
	if (k == TRIGGER_KINDS)
		return take_filter(p, &t);
	if (bangs)
		return refuse(p, t.s, "'!' is for terms about waits, not for the condition: '", t.s,
			      t.len);
	return take_condition(p, &t, k);
}

/* After reading everything: do the parts fit together? */
static int check(struct parser *p)
{
	const struct condition *c = &conditions[p->x->kind];

	if (!p->found)
		return refuse(p, p->text, "no condition; give one of " WHAT_THERE_IS, "", 0);
	if (p->first && !c->waits)
		return refuse(p, p->first,
			      "this condition is about the whole machine and takes no terms about "
			      "waits: '",
			      p->first, take_term(p->first).len);
	if (p->other && !is_of_tasks(p->x->kind))
		return say_filter(p, p->other, &p->why);
	if (p->x->for_ns && !c->lasts)
		return refuse(p, p->text,
			      "'for' is only for waiting, wait/s, waits/s, deadlock, slots and "
			      "xol; not for '",
			      c->name, strlen(c->name));
	return 0;
}

int trigger_parse(const char *text, struct trigger_expr *ret, struct error *err)
{
	struct parser p = {.text = text, .at = text, .x = ret, .err = err};
	int r = 0;

	*ret = (struct trigger_expr){0};
	if (strlen(text) > LONGEST)
		return error_set(err, -EINVAL, "trigger '%.60s...' is longer than %d bytes", text,
				 LONGEST);
	ret->filter = p.to = mem_calloc(3 * strlen(text) + 16, 1);
	ret->tasks = p.to_tasks = mem_calloc(3 * strlen(text) + 16, 1);
	if (!ret->filter || !ret->tasks) {
		trigger_expr_deinit(ret);
		return error_enomem(err, "a trigger");
	}
	for (p.at += strspn(p.at, " \t"); r == 0 && *p.at; p.at += strspn(p.at, " \t"))
		r = take_token(&p);
	r = r ? r : check(&p);
	if (r < 0 || !*ret->filter) {
		mem_free(ret->filter);
		ret->filter = NULL;
	}
	if (r < 0 || !*ret->tasks || !is_of_tasks(ret->kind)) {
		mem_free(ret->tasks);
		ret->tasks = NULL;
	}
	return r;
}

void trigger_expr_deinit(struct trigger_expr *x)
{
	mem_free(x->filter);
	mem_free(x->tasks);
	x->filter = x->tasks = NULL;
}

int trigger_check(const char *expr, struct error *err)
{
	struct trigger_expr x;
	int r = trigger_parse(expr, &x, err);

	trigger_expr_deinit(&x);
	return r;
}

uint64_t trigger_least_ns(const char *expr)
{
	struct trigger_expr x;
	struct error err = {0};

	if (trigger_parse(expr, &x, &err) < 0)
		return UINT64_MAX;
	trigger_expr_deinit(&x);
	return x.kind == TRIGGER_WAIT || (x.kind == TRIGGER_BLOCKED && !x.no_waits) ? x.limit
										    : UINT64_MAX;
}
