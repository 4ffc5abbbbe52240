/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_VIEW_FIT_H
#define KONTEND_VIEW_FIT_H

#include "kontend/query.h"

struct view;

/*
 * Which columns of a table are shown depends on the key and on what the scope already says:
 * view_fit_columns() changes priorities in a copy of the columns in @store of the view,
 * since a widget remembers its columns from one frame to the next.
 */
enum { VIEW_HIDE = 255, VIEW_COLUMNS = TABLE_COLUMNS }; /* as many as a query has at most */
struct view_fit {
	const char *key;
	uint8_t priority; /* VIEW_HIDE: not on the screen */
	uint8_t width;	  /* 0: as it is */
};
struct view_columns {
	struct column list[VIEW_COLUMNS];
};
void view_fit_columns(struct table *t, struct view_columns *store, const struct view_fit *fit,
		      size_t n);
void view_fit_locks(const struct view *v, struct table *t, struct view_columns *store,
		    enum query_by by);
void view_fit_waiters(const struct view *v, struct table *t, struct view_columns *store);

#endif
