// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/kallsyms-thread.h"
#include "kontend/ending.h"
#include "kontend/fdio.h"
#include "kontend/mem.h"

static const char kallsyms_path[] = "/proc/kallsyms";

static void *read_kallsyms(void *arg)
{
	struct kallsyms_thread *t = arg;

	t->code = fdio_read_file(kallsyms_path, &t->text, &t->len);
	return NULL;
}

void kallsyms_thread_start(struct kallsyms_thread *t)
{
	t->started = ending_thread(&t->thread, read_kallsyms, t) == 0;
}

int kallsyms_thread_take(struct kallsyms_thread *t, char **ret, size_t *ret_len)
{
	if (t->started)
		pthread_join(t->thread, NULL);
	else
		read_kallsyms(t);
	int code = t->code;
	*ret = code < 0 ? NULL : t->text;
	*ret_len = code < 0 ? 0 : t->len;
	*t = (struct kallsyms_thread){0};
	return code;
}

void kallsyms_thread_deinit(struct kallsyms_thread *t)
{
	if (t->started)
		pthread_join(t->thread, NULL);
	mem_free(t->text);
	*t = (struct kallsyms_thread){0};
}
