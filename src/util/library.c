// SPDX-License-Identifier: GPL-2.0-only
#include "kontend/library.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* ISO C has no conversion from dlsym()'s void pointer to a function pointer: memcpy() does it. */
#ifdef KONTEND_PORTABLE

int library_load(const struct library_spec *spec, void *ret, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < spec->n; i++)
		memcpy((char *)ret + spec->functions[i].at, &spec->functions[i].linked,
		       sizeof(spec->functions[i].linked));
	return 0;
}

#else
#include <dlfcn.h>

static bool library_find_all(const struct library_spec *spec, void *so, void *ret)
{
	for (size_t i = 0; i < spec->n; i++) {
		void *p = dlsym(so, spec->functions[i].name);

		if (!p)
			return false;
		memcpy((char *)ret + spec->functions[i].at, &p, sizeof(p));
	}
	return true;
}

int library_load(const struct library_spec *spec, void *ret, struct error *err)
{
	void *so = dlopen(spec->soname, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	bool is_whole = so && library_find_all(spec, so, ret);
	int code = 0;

	if (!is_whole) {
		const char *why = dlerror();

		code = error_set(err, -ENOTSUP, "Cannot %s: the linker says '%s'; install %s",
				 spec->purpose, why ? why : spec->soname, spec->package);
	}
	if (so)
		dlclose(so);
	return code;
}

#endif
