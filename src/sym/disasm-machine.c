// SPDX-License-Identifier: GPL-2.0-only
/* Which machines there is a disassembler for. */
#include "kontend/disasm.h"

#include <elf.h>

enum disasm_machine disasm_machine_of(unsigned e_machine)
{
	return e_machine == EM_X86_64	 ? DISASM_X86_64
	       : e_machine == EM_AARCH64 ? DISASM_ARM64
					 : DISASM_OTHER;
}

enum disasm_machine disasm_machine_here(void)
{
#if defined(__x86_64__)
	return DISASM_X86_64;
#elif defined(__aarch64__)
	return DISASM_ARM64;
#else
	return DISASM_OTHER;
#endif
}
