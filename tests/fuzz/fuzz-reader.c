// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a recording: an error with a sentence, or records to the end, each given back; then
 * the same through a pipe. Nothing is held that was given back, and memory stays within what such
 * small files can ask for.
 */
#include "fuzz-source.h"
#include "kontend/engine.h"
#include "kontend/limits.h"
#include "kontend/mem.h"
#include <string.h>
#include <unistd.h>

static void engine(const struct reader_options *o)
{
	static const struct model_limits few = {64, 64, 64, 256, 256};
	struct error err = {0};
	struct engine e;
	struct source *s;
	int r;

	if (reader_new(&s, o, &err))
		return;
	if (engine_init(&e, s, &few, &err)) {
		source_free(s);
		return;
	}
	do
		r = engine_pump(&e, 0, &err);
	while (r >= 0 && r != ENGINE_END);
	fuzz_require(r == ENGINE_END || err.text[0]);
	engine_deinit(&e);
}

static void through_pipe(const uint8_t *data, size_t size)
{
	struct reader_options o = {.no_symbols = true};
	struct error err = {0};
	struct source *s;
	char path[64];
	int fds[2];

	if (size > 65536 || pipe(fds))
		return;
	fuzz_require(write(fds[1], data, size) == (ssize_t)size);
	close(fds[1]);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	o.path = path;
	fuzz_require(!reader_new(&s, &o, &err));
	close(fds[0]);
	fuzz_drain(s);
	source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Read in place: a look behind the end is one behind the block. */
	struct reader_options o = {.path = "input",
				   .bytes = size ? data : (const uint8_t *)"",
				   .n_bytes = size,
				   .no_symbols = true,
				   .window_bytes = 4096};
	long live = mem_live();

	fuzz_read(&o);
	engine(&o);
	through_pipe(data, size);
	fuzz_require(mem_live() == live);
	return 0;
}
