// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code of functions that lock, written before the first event, as a recording may end at any
 * moment. Each part is a file of its own and gets it again.
 */
#include "text.h"
#include "kontend/mem.h"
#include "kontend/textsnap.h"

#include <errno.h>
#include <string.h>

int record_text_of(struct record_text *t, struct codesource *c, const struct sym *sym,
		   struct error *err)
{
	struct record_snapshot head = {.kind = SNAPSHOT_TEXT, .version = TEXTSNAP_VERSION};
	int r = 0;

	if (!c || !c->name || t->body)
		return 0;
	if (sym->state == SYM_OK)
		r = textsnap_take(sym, c, sizeof(head), &t->body, &t->len);
	if (t->body) {
		memcpy(t->body, &head, sizeof(head));
		t->len += sizeof(head);
	}
	return r == -ENOMEM ? error_set(err, r, "No memory for the kernel's code") : 0;
}

int record_text_take(struct record_text *t, struct codesource *c, const struct record *kallsyms,
		     struct error *err)
{
	struct sym sym;

	if (!c || !c->name || t->body)
		return 0;
	sym_init(&sym);
	int r = sym_load(&sym, kallsyms->data, kallsyms->len, err);
	if (r == 0)
		r = record_text_of(t, c, &sym, err);
	sym_deinit(&sym);
	return r == -ENOMEM ? error_set(err, r, "No memory for the kernel's code") : 0;
}

int record_text_put(const struct record_text *t, struct record_file *f, struct error *err)
{
	struct record rec = {.kind = RECORD_SNAPSHOT, .data = t->body, .len = t->len};
	int r = t->body ? record_file_put(f, &rec, err) : 0;

	return r < 0 ? r : 0;
}

void record_text_deinit(struct record_text *t)
{
	mem_free(t->body);
	*t = (struct record_text){0};
}
