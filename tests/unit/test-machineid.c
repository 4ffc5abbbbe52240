// SPDX-License-Identifier: GPL-2.0-only
/* Ids of machines: SHA-256 and HMAC by the vectors of their standards, and what is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kontend/machineid.h"
#include "kontend/sha256.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *hex(const uint8_t digest[SHA256_BYTES])
{
	static char text[2 * SHA256_BYTES + 1];

	for (size_t i = 0; i < SHA256_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	return text;
}

/* FIPS 180-4, with what NIST publishes as examples. */
static void digests_are_those_of_the_standard(void **state)
{
	static const struct {
		const char *text, *digest;
	} all[] = {
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	uint8_t digest[SHA256_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		size_t len = strlen(all[i].text);
		for (size_t cut = 0; cut <= len; cut++) {
			sha256(all[i].text, cut, all[i].text + cut, len - cut, digest);
			assert_string_equal(hex(digest), all[i].digest);
		}
	}
}

static void a_million_bytes_are_many_blocks(void **state)
{
	enum { MILLION = 1000000 };
	uint8_t digest[SHA256_BYTES];
	char *text = malloc(MILLION);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', MILLION);
	sha256(text, 7, text, MILLION - 7, digest);
	free(text);
	assert_string_equal(hex(digest),
			    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 4231, cases 1 and 2. */
static void codes_are_those_of_the_standard(void **state)
{
	uint8_t key[20], digest[SHA256_BYTES];

	(void)state;
	memset(key, 0x0b, sizeof(key));
	sha256_hmac(key, sizeof(key), "Hi There", 8, digest);
	assert_string_equal(hex(digest),
			    "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	sha256_hmac("Jefe", 4, "what do ya want for nothing?", 28, digest);
	assert_string_equal(hex(digest),
			    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void an_id_is_made_of_32_digits(void **state)
{
	static const char *const none[] = {"", "\n", "0123456789abcdef0123456789abcde",
					   "0123456789ABCDEF0123456789ABCDEF", "uninitialized\n"};
	char id[MACHINEID], again[MACHINEID];

	(void)state;
	assert_int_equal(machineid_of("3d1219c7c4c5404aaa1f6d2a48adfda4\n", id), 0);
	assert_int_equal(strlen(id), 32);
	assert_int_equal(id[12], '4');
	assert_non_null(strchr("89ab", id[16]));
	assert_int_equal(machineid_of("3d1219c7c4c5404aaa1f6d2a48adfda5\n", again), 0);
	assert_string_not_equal(id, again);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_true(machineid_of(none[i], id) < 0);
		assert_string_equal(id, "");
	}
}

/* systemd makes the same of this machine's, where it is there to be asked. */
static void it_is_what_systemd_makes_of_it(void **state)
{
	char id[MACHINEID], theirs[64] = "";
	FILE *f =
		popen("systemd-id128 machine-id --app-specific=" MACHINEID_APP " 2>/dev/null", "r");

	(void)state;
	assert_non_null(f);
	bool reported = fgets(theirs, sizeof(theirs), f) != NULL;
	if (pclose(f) != 0 || !reported || machineid(id) < 0)
		skip();
	theirs[strcspn(theirs, "\n")] = '\0';
	assert_string_equal(id, theirs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests_are_those_of_the_standard),
		cmocka_unit_test(a_million_bytes_are_many_blocks),
		cmocka_unit_test(codes_are_those_of_the_standard),
		cmocka_unit_test(an_id_is_made_of_32_digits),
		cmocka_unit_test(it_is_what_systemd_makes_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
