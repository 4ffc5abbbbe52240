// SPDX-License-Identifier: GPL-2.0-only
/*
 * chains FILE: the user part of every sample of a recording that has a stack dump, much as perf
 * script prints it: "TID SECONDS.NS:" and "OFFSET (FILE)" a frame, innermost first; a chain that
 * ends for a reason has a last line that begins with "[". For tests that compare with perf.
 */
#include "kontend/engine.h"
#include "kontend/profile.h"
#include "kontend/reader.h"
#include "kontend/unwind.h"
#include <inttypes.h>
#include <stdio.h>

struct printer {
	struct profile_unwinder profile;
	struct profile_unwinder *inner;
	const struct engine *engine;
};

static void print_frame(const struct map_objects *objects, uint64_t frame)
{
	const struct map_object *o = map_object_get(objects, map_frame_object(frame));

	if (map_frame_is_mark(frame))
		printf("[%s]\n", unwind_reason((enum unwind_end)map_frame_offset(frame)));
	else
		printf("%" PRIx64 " (%s)\n", map_frame_offset(frame), o ? o->path : "[unknown]");
}

static uint32_t print_frames(struct profile_unwinder *profile, const struct map_space *space,
			     const struct event *ev, uint64_t *ret, uint32_t most)
{
	struct printer *p = (struct printer *)profile;
	uint32_t n = p->inner->frames(p->inner, space, ev, ret, most);

	printf("%d %" PRIu64 ".%09" PRIu64 ":\n", ev->tid, ev->time / 1000000000,
	       ev->time % 1000000000);
	for (uint32_t i = 0; i < n; i++)
		print_frame(p->engine->model->profile->spaces.objects, ret[i]);
	return n;
}

int main(int argc, char **argv)
{
	struct printer p = {.profile.frames = print_frames};
	struct reader_options o = {.path = argc > 1 ? argv[1] : "perf.data"};
	struct error err = {0};
	struct source *s;
	struct engine e;
	int r = reader_new(&s, &o, &err);

	if (r == 0)
		r = engine_init(&e, s, NULL, &err);
	if (r < 0) {
		fprintf(stderr, "chains: %s\n", err.text);
		return 1;
	}
	p.engine = &e;
	p.inner = e.model->profile->unwinder;
	e.model->profile->unwinder = &p.profile;
	while (r >= 0 && r != ENGINE_END)
		r = engine_pump(&e, 100, &err);
	engine_deinit(&e);
	if (r < 0)
		fprintf(stderr, "chains: %s\n", err.text);
	return r < 0;
}
