// SPDX-License-Identifier: GPL-2.0-only
/* Parses the requested intervals, and opens the settings of these PMUs. */
#include "kontend/mux.h"
#include "kontend/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 512, LIST = 256 };

static bool parse_one(const char *text, size_t len, struct mux_item *ret)
{
	const char *is = memchr(text, '=', len);
	size_t name = is ? (size_t)(is - text) : 0;
	uint64_t ms;

	if (!name || name >= PMUS_NAME || memchr(text, '/', name) ||
	    number_parse_n(is + 1, len - name - 1, 1, MUX_MS_MOST, &ms) < 0)
		return false;
	*ret = (struct mux_item){.ms = (uint32_t)ms, .fd = -1, .note = -1};
	memcpy(ret->pmu, text, name);
	return true;
}

static bool has(const struct mux *m, const char *pmu)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (strcmp(m->items[i].pmu, pmu) == 0)
			return true;
	}
	return false;
}

int mux_parse(struct mux *m, const char *text, struct error *err)
{
	const char *at = text;

	for (size_t len; *at; at += len + (at[len] == ',')) {
		struct mux_item item;
		len = strcspn(at, ",");
		if (m->n == MUX_MOST || !parse_one(at, len, &item) || has(m, item.pmu)) {
			m->n = 0;
			return error_set(err, -EINVAL,
					 "--set-mux-interval '%s': give PMU=MS, like cpu=8, from 1 "
					 "to %d ms, each PMU once, with commas between",
					 text, MUX_MS_MOST);
		}
		m->items[m->n++] = item;
	}
	return 0;
}

/* "cpu_atom, cpu_core" */
static const char *names(const struct pmus *p, char buf[LIST])
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < p->n && n < LIST; i++)
		n += (size_t)snprintf(buf + n, LIST - n, "%s%s", i ? ", " : "", p->items[i].name);
	return buf;
}

static int refuse(const struct pmus *p, const char *pmu, const char *path, struct error *err)
{
	char buf[LIST];
	const char *rotate = p->n ? names(p, buf) : "none";

	if (access(path, F_OK) == 0)
		return error_set(err, -EINVAL,
				 "The PMU %s never rotates: it has no interval to set; those that "
				 "rotate here: %s",
				 pmu, rotate);
	return error_set(err, -ENOENT, "There is no PMU %s; those that rotate here: %s", pmu,
			 rotate);
}

int mux_open(struct mux *m, const struct mux_roots *roots, struct error *err)
{
	struct pmus pmus;
	char path[PATH];

	m->roots = roots;
	pmus_read(roots->devices, &pmus);
	for (uint32_t i = 0; i < m->n; i++) {
		struct mux_item *item = &m->items[i];
		snprintf(path, sizeof(path), "%s/%s/perf_event_mux_interval_ms", roots->devices,
			 item->pmu);
		if (!pmus_find(&pmus, item->pmu))
			return refuse(&pmus, item->pmu, path, err);
		item->fd = open(path, O_RDWR | O_CLOEXEC);
		if (item->fd < 0)
			return error_errno(err, -errno,
					   "Cannot open %s for writing (it needs root)", path);
	}
	return 0;
}
