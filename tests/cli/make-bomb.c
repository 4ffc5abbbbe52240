// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes a small recording that takes much memory to read: the canned stream, and then packed
 * snapshots of zeros, each 16 MB when it is unpacked. Their time lies after the end of the stream,
 * so that the engine has to hold them. Called as: make-bomb FILE HOW-MANY KIND, which is a number
 * of enum record_snapshot_kind; beyond the last one it prints nothing and exits with 77.
 */
#include "canned.h"
#include "kontend/mem.h"
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = sizeof(struct record_snapshot) + RECORD_SNAPSHOT_MOST };

struct bomb {
	struct source source;
	struct source *first; /* its records come first */
	uint8_t *body;
	long left;
};

static int next(struct source *s, int timeout_ms, struct record *ret, struct error *err)
{
	struct bomb *b = (struct bomb *)s;
	int r = b->first ? source_next(b->first, timeout_ms, ret, err) : SOURCE_END;

	if (r != SOURCE_END)
		return r;
	source_free(b->first);
	b->first = NULL;
	if (!b->left)
		return SOURCE_END;
	b->left--;
	*ret = (struct record){.kind = RECORD_SNAPSHOT, .data = b->body, .len = SIZE};
	return 0;
}

static void release(struct source *s, struct record *r)
{
	struct bomb *b = (struct bomb *)s;

	if (b->first)
		source_release(b->first, r);
}

static void end(struct source *s)
{
	mem_free(((struct bomb *)s)->body);
}

int main(int argc, char **argv)
{
	static const struct source_ops ops = {.next = next, .release = release, .free = end};
	const long kind = argc == 4 ? strtol(argv[3], NULL, 10) : -1;
	const struct record_snapshot head = {
		.kind = (uint16_t)kind, .version = 1, .time_ns = UINT64_MAX / 2};
	struct rig canned;

	if (kind < 0)
		return 1;
	if (kind >= SNAPSHOT_KINDS)
		return 77;
	canned_init(&canned);
	struct bomb b = {.source.ops = &ops,
			 .first = synth_source(canned.synth),
			 .body = mem_calloc(1, SIZE),
			 .left = strtol(argv[2], NULL, 10)};
	if (!b.body)
		return 1;
	memcpy(b.body, &head, sizeof(head));
	struct recording r = recording_written(&b.source, RECORDING_ZSTD);
	rig_deinit(&canned);
	FILE *f = fopen(argv[1], "w");
	if (!f || fwrite(r.data, 1, r.len, f) != r.len || fclose(f) != 0) {
		perror(argv[1]);
		return 1;
	}
	recording_free(&r);
	return 0;
}
