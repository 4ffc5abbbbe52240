// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long an x86-64 instruction is. For each opcode a letter says what follows it; the encodings
 * are those of the Intel and AMD manuals, opcode map by opcode map:
 *
 *	.  nothing		m  a ModRM byte, with SIB byte and displacement
 *	b  an 8-bit immediate	B  ModRM and an 8-bit immediate
 *	z  16 or 32 bits	Z  ModRM and 16 or 32 bits
 *	j  32 bits		q  16, 32 or 64 bits	a  an address of 4 or 8 bytes
 *	w  16 bits		e  24 bits (enter)
 *	f  ModRM, and an immediate when its middle field is 0 or 1 (test): 8 bits, F: 16 or 32
 *	p  a prefix		-  none, or not in 64-bit mode
 */
#include "kontend/uprobe.h"

enum { MOST = 15 };

static const char one_byte[257] = "mmmmbz--mmmmbz--mmmmbz--mmmmbz--"
				  "mmmmbzp-mmmmbzp-mmmmbzp-mmmmbzp-"
				  "pppppppppppppppp................"
				  "---mppppzZbB....bbbbbbbbbbbbbbbb"
				  "BZ-Bmmmmmmmmmmmm..........-....."
				  "aaaa....bz......bbbbbbbbqqqqqqqq"
				  "BBw.--BZe.w..b-.mmmm---.mmmmmmmm"
				  "bbbbbbbbjj-b....p.pp..fF......mm";

/* After 0f. 0f 38 and 0f 3a lead to further maps, all of whose opcodes have a ModRM byte. */
static const char two_byte[257] = "mmmm-.....-.-m..mmmmmmmmmmmmmmmm"
				  "mmmm----mmmmmmmm........--------"
				  "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmmBBBBmmm.mmmmmmmm"
				  "jjjjjjjjjjjjjjjjmmmmmmmmmmmmmmmm"
				  "...mBm--...mBmmmmmmmmmmmmmBmmmmm"
				  "mmBmBBBm........mmmmmmmmmmmmmmmm"
				  "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm";

struct reader {
	const uint8_t *bytes;
	size_t n, at;
	bool short_operand, short_address, rex_w;
};

static bool is_legacy_prefix(uint8_t b)
{
	switch (b) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

static void read_prefixes(struct reader *r)
{
	for (; r->at < r->n && is_legacy_prefix(r->bytes[r->at]); r->at++) {
		r->short_operand |= r->bytes[r->at] == 0x66;
		r->short_address |= r->bytes[r->at] == 0x67;
	}
	if (r->at < r->n && (r->bytes[r->at] & 0xf0) == 0x40)
		r->rex_w = (r->bytes[r->at++] & 8) != 0;
}

/* Reads ModRM, SIB and displacement. */
static void read_modrm(struct reader *r)
{
	if (r->at >= r->n) {
		r->at = r->n + 1; /* truncated */
		return;
	}
	uint8_t b = r->bytes[r->at++], mod = b >> 6, rm = b & 7;
	if (mod == 3)
		return;
	bool far = mod == 0 && rm == 5;
	if (rm == 4) {
		far = mod == 0 && r->at < r->n && (r->bytes[r->at] & 7) == 5;
		r->at++;
	}
	r->at += mod == 1 ? 1 : mod == 2 || far ? 4 : 0;
}

static size_t immediate(const struct reader *r)
{
	return r->short_operand && !r->rex_w ? 2 : 4;
}

/* Reads the rest by the opcode's letter; false: no such instruction. */
static bool read_rest(struct reader *r, char what)
{
	uint8_t modrm = r->at < r->n ? r->bytes[r->at] : 0;
	bool tests = (modrm >> 3 & 7) < 2;

	if (what == 'm' || what == 'B' || what == 'Z' || what == 'f' || what == 'F')
		read_modrm(r);
	switch (what) {
	case '.':
	case 'm':
		return true;
	case 'b':
	case 'B':
		r->at += 1;
		return true;
	case 'z':
	case 'Z':
		r->at += immediate(r);
		return true;
	case 'j':
		r->at += 4;
		return true;
	case 'q':
		r->at += r->rex_w ? 8 : immediate(r);
		return true;
	case 'a':
		r->at += r->short_address ? 4 : 8;
		return true;
	case 'w':
		r->at += 2;
		return true;
	case 'e':
		r->at += 3;
		return true;
	case 'f':
		r->at += tests ? 1 : 0;
		return true;
	case 'F':
		r->at += tests ? immediate(r) : 0;
		return true;
	default:
		return false;
	}
}

/* An opcode of the map that VEX and EVEX prefixes select by number. */
static bool read_mapped(struct reader *r, unsigned map)
{
	if (r->at >= r->n)
		return false;
	uint8_t op = r->bytes[r->at++];
	if (map == 2 || map == 3)
		return read_rest(r, map == 3 ? 'B' : 'm');
	if (map != 1)
		return false;
	/* vzeroupper alone has no operand; shifts and shuffles with an immediate keep it. */
	return read_rest(r, op == 0x77 ? '.' : two_byte[op] == 'B' ? 'B' : 'm');
}

static bool read_vex(struct reader *r, uint8_t op)
{
	size_t more = op == 0xc5 ? 1 : op == 0xc4 ? 2 : 3;

	if (r->at + more > r->n)
		return false;
	unsigned map = op == 0xc5 ? 1 : r->bytes[r->at] & (op == 0xc4 ? 0x1f : 0x07);
	r->at += more;
	return read_mapped(r, map);
}

static bool read_opcode(struct reader *r)
{
	if (r->at >= r->n)
		return false;
	uint8_t op = r->bytes[r->at++];
	if (op == 0x62 || op == 0xc4 || op == 0xc5)
		return read_vex(r, op);
	if (op != 0x0f)
		return read_rest(r, one_byte[op]);
	if (r->at >= r->n)
		return false;
	op = r->bytes[r->at++];
	if (op != 0x38 && op != 0x3a)
		return read_rest(r, two_byte[op]);
	r->at++; /* whatever of these maps it is */
	return read_rest(r, op == 0x3a ? 'B' : 'm');
}

size_t uprobe_x86_length(const uint8_t *bytes, size_t n)
{
	struct reader r = {.bytes = bytes, .n = n < MOST ? n : MOST};

	read_prefixes(&r);
	return read_opcode(&r) && r.at <= r.n ? r.at : 0;
}
