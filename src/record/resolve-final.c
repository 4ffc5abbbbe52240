// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of functions of programs, and code, that another machine needs to read the recording. While
 * events are recorded nothing reads them. So the recording is read again at its end, as by a
 * report, while files and processes still exist.
 */
#include "kontend/resolve-final.h"
#include "kontend/profile.h"
#include "kontend/query-load.h"
#include "kontend/record-file.h"
#include "kontend/srclines.h"

#include "kontend/buildids.h"
#include "kontend/engine.h"
#include "kontend/funcsnap.h"
#include "kontend/mem.h"
#include "kontend/query-functions.h"
#include "kontend/reader.h"
#include "kontend/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Longer recordings would take seconds to read. */
static const uint64_t MOST_BYTES = 1ull << 30;
static const uint64_t LEAST_BYTES = 16 << 10;
static const uint64_t LOAD_NS = 20000000;

/* For the names of members of variables. */
static const struct srclines_config lines = {.argv = srclines_worker_argv};

struct naming {
	const struct resolve_final_options *o;
	struct writer *writer;
	int fd; /* descriptor of the recording */
	struct engine engine;
	struct query query;
	struct funcsnap found;
	uint64_t left_tables; /* files whose tables had no room */
	bool has_engine, has_query;
};

static bool is_stopped(const struct naming *n)
{
	return n->o->stop && n->o->stop(n->o->ctx);
}

static int open_query(struct naming *n, struct error *err)
{
	char path[48];
	struct reader_options o = {.path = path};
	struct source *s;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", n->fd);
	int r = reader_new(&s, &o, err);
	if (r < 0)
		return r;
	r = engine_init(&n->engine, s, NULL, err);
	n->has_engine = r == 0;
	if (r < 0) {
		source_free(s);
		return r;
	}
	n->engine.code = n->o->code;
	n->engine.keep_symbols = n->o->keep_symbols;
	n->engine.lines = &lines;
	n->has_query = query_init(&n->query, &n->engine) == 0;
	return n->has_query ? 0 : error_enomem(err, "names of functions");
}

static int play(struct naming *n, struct error *err)
{
	int r = 0;

	while (r >= 0 && r != ENGINE_END) {
		if (is_stopped(n))
			return RECORD_NAMES_STOPPED;
		r = engine_pump(&n->engine, 0, err);
	}
	return r < 0 ? r : 0;
}

static int load_functions(struct naming *n, struct error *err)
{
	struct query_functions_limits l = query_functions_within(writer_room(n->writer));
	int r = query_functions_meet(&n->query, err);

	while (r == 0 && query_load_names(&n->query, LOAD_NS))
		if (is_stopped(n))
			return RECORD_NAMES_STOPPED;
	return r < 0 ? r : query_functions(&n->query, &l, &n->found, err);
}

/* Writes a snapshot. @body has room for its head at the start. */
static int put_snapshot(struct naming *n, uint16_t kind, uint16_t version, char *body, size_t len,
			struct error *err)
{
	struct record_snapshot head = {.kind = kind, .version = version};
	struct record rec = {.kind = RECORD_SNAPSHOT, .data = body, .len = sizeof(head) + len};

	memcpy(body, &head, sizeof(head));
	int r = writer_put(n->writer, &rec, err);
	return r == WRITER_FULL ? RECORD_NAMES_FULL : r;
}

static int put_found(struct naming *n, struct error *err)
{
	size_t len = funcsnap_size(&n->found);
	char *body = mem_calloc(1, sizeof(struct record_snapshot) + len);

	if (!body)
		return error_enomem(err, "names of functions");
	funcsnap_encode(&n->found, body + sizeof(struct record_snapshot));
	int r = put_snapshot(n, SNAPSHOT_FUNCS, FUNCSNAP_VERSION, body, len, err);
	mem_free(body);
	return r;
}

/* A path that means different files in different places identifies none of them. */
static bool is_one_file(const struct funcsnap *s, const struct funcsnap_object *o)
{
	const char *path = funcsnap_text(s, o->path);

	for (size_t i = 0; i < s->n_objects; i++) {
		const struct funcsnap_object *x = &s->objects[i];
		if (!strcmp(funcsnap_text(s, x->path), path) &&
		    (x->id_len != o->id_len || memcmp(x->id, o->id, o->id_len) != 0))
			return false;
	}
	return o->id_len;
}

/* Size of all build ids; writes to @buf as many as fit. */
static size_t build_ids(const struct funcsnap *s, char *buf, size_t room)
{
	size_t at = 0;

	for (size_t i = 0; i < s->n_objects; i++) {
		const struct funcsnap_object *o = &s->objects[i];
		if (is_one_file(s, o))
			at += buildids_put(funcsnap_text(s, o->path), o->id, o->id_len,
					   buf ? buf + at : NULL, buf ? room - at : 0);
	}
	return at;
}

static int put_build_ids(struct naming *n, struct error *err)
{
	size_t len = build_ids(&n->found, NULL, 0);
	char *body = mem_calloc(1, sizeof(struct record_snapshot) + len);

	if (!body)
		return error_enomem(err, "build ids");
	build_ids(&n->found, body + sizeof(struct record_snapshot), len);
	int r = put_snapshot(n, SNAPSHOT_BUILD_IDS, BUILDIDS_VERSION, body, len, err);
	mem_free(body);
	return r;
}

/* Writes the tables that stacks were unwound with. */
static int put_tables(struct naming *n, struct error *err)
{
	size_t objects = n->engine.model->profile->spaces.objects->n, len;
	struct record rec = {.kind = RECORD_SNAPSHOT};
	char *body;
	int r = 0;

	for (uint32_t i = 1; r == 0 && i < objects; i++) {
		int has = engine_tables(&n->engine, i, &body, &len);

		if (has == -ENOMEM)
			return error_enomem(err, "unwind tables");
		n->left_tables += has == -EFBIG;
		if (has != 1)
			continue;
		rec.data = body;
		rec.len = len;
		r = writer_put(n->writer, &rec, err);
		mem_free(body);
		n->left_tables += r == WRITER_FULL;
		r = r == WRITER_FULL ? 0 : r;
	}
	return r;
}

static int run(struct naming *n, struct error *err)
{
	int r = open_query(n, err);

	r = r ? r : play(n, err);
	r = r ? r : load_functions(n, err);
	if (r)
		return r;
	if (!n->found.n_funcs)
		return RECORD_NAMES_DONE;
	r = put_build_ids(n, err);
	r = r ? r : put_tables(n, err);
	return r ? r : put_found(n, err);
}

bool resolve_final_is_long(const struct record_file *f)
{
	struct writer_stat st;

	record_file_stat(f, &st);
	return st.bytes + st.packed_from - st.packed_to > MOST_BYTES;
}

int resolve_final_put(struct writer *w, int fd, const struct resolve_final_options *o,
		      struct resolve_final_stat *ret, struct error *err)
{
	struct naming n = {.o = o, .writer = w, .fd = fd};
	int r = writer_flush(w, err);

	if (r < 0)
		return r;
	if (writer_room(w) < LEAST_BYTES)
		return RECORD_NAMES_FULL;
	r = run(&n, err);
	*ret = (struct resolve_final_stat){n.found.head.left_names, n.found.head.left_code,
					   n.found.head.no_code, n.left_tables};
	funcsnap_deinit(&n.found);
	if (n.has_query)
		query_deinit(&n.query);
	if (n.has_engine)
		engine_deinit(&n.engine);
	return r;
}

const char *resolve_final_lack(int answer, const struct resolve_final_stat *st, struct error *err)
{
	static const char *const why[] = {
		[RECORD_NAMES_STOPPED] = "a second signal arrived",
		[RECORD_NAMES_FULL] = "the file has reached its size limit",
	};
	struct error was = *err;

	if (answer)
		error_set(err, answer, "The recording lacks names and code of programs: %s",
			  answer < 0 ? was.text : why[answer]);
	else if (st->left_names && st->left_code)
		error_set(err, answer,
			  "No room for the names of %llu functions and the code of %llu",
			  (unsigned long long)st->left_names, (unsigned long long)st->left_code);
	else if (st->left_names || st->left_code)
		error_set(err, answer, "No room for the %s of %llu functions",
			  st->left_names ? "names" : "code",
			  (unsigned long long)(st->left_names + st->left_code));
	else if (st->left_tables)
		error_set(err, answer, "No room for the unwind tables of %llu files",
			  (unsigned long long)st->left_tables);
	else
		return NULL;
	return err->text;
}
