// SPDX-License-Identifier: GPL-2.0-only
/* The "meta" object of a profile: the version of the format, the fields of its markers, and the
 * origin of the data. */
#include "firefox-tables.h"
#include "kontend/when.h"

enum { VERSION = 60, GECKO_VERSION = 31, INTERVAL = 1 };

static const struct schema {
	const char *name, *label, *description;
	struct field {
		const char *key, *label, *format;
	} fields[10];
} schemas[] = {
	{"LockWait",
	 "{marker.data.lock}",
	 "A task waits for a lock of the kernel.",
	 {{"lock", "Lock", "unique-string"},
	  {"mode", "Mode", "string"},
	  {"caller", "Caller", "unique-string"},
	  {"cpu", "CPU", "integer"},
	  {"flags", "Flags", "string"},
	  {"ret", "Error", "integer"},
	  {"state", "State", "string"},
	  {"hold", "Held meanwhile", "flow-id"},
	  {"wait", "Holds a lock itself", "flow-id"}}},
	{"LockHold",
	 "{marker.data.holder}",
	 "A task has the lock while others wait for it.",
	 {{"holder", "Holder", "unique-string"},
	  {"caller", "Got it in", "unique-string"},
	  {"time", "Time", "string"},
	  {"hold", "Waits for it", "flow-id"},
	  {"wait", "Waits itself meanwhile", "flow-id"}}},
};

static void put_schemas(struct jsonw *j)
{
	static const char *const places[] = {"marker-chart", "marker-table", "timeline-overview"};

	jsonw_begin(j, "markerSchema", '[', false);
	for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
		const struct schema *s = &schemas[i];
		jsonw_begin(j, NULL, '{', false);
		jsonw_str(j, "name", s->name);
		jsonw_str(j, "tooltipLabel", s->label);
		jsonw_str(j, "tableLabel", s->label);
		jsonw_str(j, "chartLabel", s->label);
		jsonw_str(j, "description", s->description);
		jsonw_begin(j, "display", '[', true);
		for (size_t p = 0; p < sizeof(places) / sizeof(places[0]); p++)
			jsonw_str(j, NULL, places[p]);
		jsonw_end(j, ']');
		jsonw_begin(j, "fields", '[', false);
		for (const struct field *e = s->fields; e->key; e++) {
			jsonw_begin(j, NULL, '{', true);
			jsonw_str(j, "key", e->key);
			jsonw_str(j, "label", e->label);
			jsonw_str(j, "format", e->format);
			jsonw_end(j, '}');
		}
		jsonw_end(j, ']');
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

static void put_categories(struct jsonw *j)
{
	static const struct {
		const char *name, *color;
	} is[] = {
		[FIREFOX_OTHER] = {"Other", "grey"},
		[FIREFOX_SLEEPS] = {"Sleeps for a lock", "orange"},
		[FIREFOX_SPINS] = {"Spins for a lock", "red"},
		[FIREFOX_HOLDS] = {"Has a lock", "purple"},
	};

	jsonw_begin(j, "categories", '[', false);
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		jsonw_begin(j, NULL, '{', true);
		jsonw_str(j, "name", is[i].name);
		jsonw_str(j, "color", is[i].color);
		jsonw_begin(j, "subcategories", '[', true);
		jsonw_str(j, NULL, "Other");
		jsonw_end(j, ']');
		jsonw_end(j, '}');
	}
	jsonw_end(j, ']');
}

void firefox_meta_json(const struct tracefile *t, struct jsonw *j)
{
	const struct model *m = t->engine->model;
	const struct record_host *host = m->host;
	const struct when w = {.clock_ns = host->clock_ns, .wall_ns = host->wall_ns};

	jsonw_begin(j, "meta", '{', false);
	jsonw_u64(j, "interval", INTERVAL);
	jsonw_millis(j, "startTime", when_wall_ns(&w, m->start_ns));
	jsonw_u64(j, "processType", 0);
	jsonw_str(j, "product", "kontend");
	jsonw_str(j, "importedFrom", "kontend");
	jsonw_str(j, "appBuildID", t->spec.version);
	jsonw_u64(j, "stackwalk", 1);
	jsonw_u64(j, "version", GECKO_VERSION);
	jsonw_u64(j, "preprocessedProfileVersion", VERSION);
	jsonw_bool(j, "symbolicated", true);
	jsonw_bool(j, "symbolicationNotSupported", true);
	jsonw_bool(j, "sourceCodeIsNotOnSearchfox", true);
	jsonw_str(j, "platform", "Linux");
	jsonw_str(j, "oscpu", host->release);
	jsonw_u64(j, "logicalCPUs", host->cpus_online);
	jsonw_str(j, "arguments", host->targets);
	put_categories(j);
	put_schemas(j);
	jsonw_end(j, '}');
}
