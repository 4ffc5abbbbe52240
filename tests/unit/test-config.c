// SPDX-License-Identifier: GPL-2.0-only
/* Configurations: what they say, that what is wrong names its line, and groups of one's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/config.h"
#include "kontend/pathgroup.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int take_line(void *ctx, const struct config_line *l, struct error *err)
{
	if (strcmp(l->section, "groups") != 0)
		return error_set(err, -EINVAL, "no section %s", l->section);
	return pathgroup_add(ctx, l->key, l->value, err);
}

static int parse(const char *text, struct pathgroups *own, struct error *err)
{
	const struct config_reader r = {take_line, own};

	*own = (struct pathgroups){0};
	*err = (struct error){0};
	return config_parse(text, strlen(text), "file", &r, err);
}

static void own_groups_go_first(void **state)
{
	static const char text[] = "# ours\n\n\t[groups] \r";
	static struct pathgroups own;
	struct error err;
	enum path_group g;

	(void)state;
	assert_int_equal(parse(text, &own, &err), -EINVAL); /* a carriage return is no blank */
	assert_int_equal(parse("# ours\n\n [ groups ]\nstorage = blk_* submit_bio\n"
			       "mutex=our_lock\nstorage = nvme_*\nspinlock = rwsem_special*",
			       &own, &err),
			 0);
	assert_int_equal(own.n_names, 1);
	assert_int_equal(own.n_rules, 5);
	g = pathgroup_find(&own, "__blk_mq_run");
	assert_int_equal(g, PATH_GROUPS);
	assert_string_equal(pathgroup_title(&own, g), "storage");
	assert_int_equal(pathgroup_find(&own, "nvme_queue_rq"), g);
	assert_int_equal(pathgroup_find(&own, "submit_bio"), g);
	assert_int_equal(pathgroup_find(&own, "submit_bio_wait"), PATH_NONE);
	assert_int_equal(pathgroup_find(&own, "our_lock"), PATH_MUTEX);
	assert_int_equal(pathgroup_find(&own, "rwsem_special_case"), PATH_SPINLOCK);
	assert_int_equal(pathgroup_find(&own, "rwsem_down_read"), PATH_RWSEM);
	assert_int_equal(pathgroup_find(NULL, "rwsem_down_read"), PATH_RWSEM);
	assert_int_equal(pathgroup_lookup(&own, "storage", &g), 0);
	assert_int_equal(g, PATH_GROUPS);
	assert_int_equal(pathgroup_lookup(&own, "rwsem", &g), 0);
	assert_int_equal(pathgroup_lookup(NULL, "storage", &g), -EINVAL);
	assert_string_equal(pathgroup_title(&own, (enum path_group)(PATH_GROUPS + 1)), "");
	assert_string_equal(pathgroup_title(NULL, (enum path_group)PATH_GROUPS), "");
}

static void what_is_wrong_names_its_line(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"x", "file:1: this is no setting"},
		{"\n\nx = y", "file:3: a setting belongs to a section"},
		{"[groups", "file:1: a section ends with ']'"},
		{"[Groups]", "file:1: the name of a section"},
		{"[]", "file:1: the name of a section"},
		{"[groups]\nA = b", "file:2: the name of a setting"},
		{"[groups]\n = b", "file:2: the name of a setting"},
		{"[groups]\na =", "file:2: there is nothing after"},
		{"[groups]\na = b\x01", "file:2: there is a control character"},
		{"[groups]\na = *", "file:2: '*' is not a function name"},
		{"[groups]\na = __*", "file:2: '__*' is not a function name"},
		{"[groups]\na = b*c", "file:2: 'b*c' is not a function name"},
		{"[groups]\na = b/c", "file:2: 'b/c' is not a function name"},
		{"[groups]\nother = b", "file:2: 'other' is reserved for functions in no group"},
		{"[groups]\nabcdefghijklmnopqrstuvwxyz = b",
		 "file:2: the name of a group has at most 23"},
		{"[else]\na = b", "file:2: no section else"},
	};
	static struct pathgroups own;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(parse(bad[i].text, &own, &err), -EINVAL);
		if (strncmp(err.text, bad[i].says, strlen(bad[i].says)) != 0)
			fail_msg("%s: %s", bad[i].text, err.text);
	}
}

static void there_is_an_end_to_everything(void **state)
{
	const struct config_reader r = {take_line, NULL};
	static char text[CONFIG_LINE + 2];
	static struct pathgroups own;
	struct error err = {0};
	char line[40];

	(void)state;
	memset(text, '#', CONFIG_LINE);
	assert_int_equal(parse(text, &own, &err), -EINVAL);
	assert_non_null(strstr(err.text, "too long"));
	text[CONFIG_LINE - 1] = '\0';
	assert_int_equal(parse(text, &own, &err), 0);
	err = (struct error){0};
	assert_int_equal(config_parse("a\0b", 3, "file", &r, &err), -EINVAL);
	own = (struct pathgroups){0};
	for (int i = 0; i < PATHGROUP_OWN; i++) {
		snprintf(line, sizeof(line), "g%d", i);
		assert_int_equal(pathgroup_add(&own, line, "f", NULL), 0);
	}
	assert_int_equal(pathgroup_add(&own, "more", "f", NULL), -EINVAL);
	for (int i = PATHGROUP_OWN; i < PATHGROUP_RULES; i++)
		assert_int_equal(pathgroup_add(&own, "g0", "f", NULL), 0);
	assert_int_equal(pathgroup_add(&own, "g0", "f", NULL), -EINVAL);
}

static void one_setting_is_written(void **state)
{
	static const struct {
		const char *text, *value, *then;
	} edits[] = {
		{"", "x,y", "[columns]\nlocks = x,y\n"},
		{"# mine\n[groups]\na = b", "x",
		 "# mine\n[groups]\na = b\n\n[columns]\nlocks = x\n"},
		{"[columns]\n# why\nhot = z\n", "x", "[columns]\nlocks = x\n# why\nhot = z\n"},
		{" [ columns ] \n\tlocks=old\nhot = z\n[groups]\nlocks = f\n", "x",
		 " [ columns ] \nlocks = x\nhot = z\n[groups]\nlocks = f\n"},
		{"[groups]\nlocks = f\n[columns]\nlocks = old", "x",
		 "[groups]\nlocks = f\n[columns]\nlocks = x\n"},
		{"[columns]\n#locks = no\nlocksmith = 1\n", "x",
		 "[columns]\nlocks = x\n#locks = no\nlocksmith = 1\n"},
		{"[columns]\nlocks = x\nhot = z", NULL, "[columns]\nhot = z"},
		{"[groups]\nlocks = f\n", NULL, "[groups]\nlocks = f\n"},
		{"[columns]", "x", "[columns]\nlocks = x\n"},
		{"", NULL, ""},
	};
	char got[200];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
		const struct config_line l = {"columns", "locks", edits[i].value};

		assert_int_equal(config_edit(edits[i].text, strlen(edits[i].text), &l, got,
					     sizeof(got) - 1, &n),
				 0);
		got[n] = '\0';
		assert_string_equal(got, edits[i].then);
	}
	assert_int_equal(
		config_edit("", 0, &(struct config_line){"columns", "locks", "x"}, got, 20, &n),
		-EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_groups_go_first),
		cmocka_unit_test(what_is_wrong_names_its_line),
		cmocka_unit_test(there_is_an_end_to_everything),
		cmocka_unit_test(one_setting_is_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
