// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machines that capstone knows besides those that disasm.c asks for. A static one has a table
 * of all of them, and by it two thirds of the library would come into the program; what is here is
 * found first. Nobody calls it.
 */
#include <capstone/capstone.h>

#define WITHOUT(machine)                                                                           \
	cs_err machine##_global_init(void *handle);                                                \
	cs_err machine##_option(void *handle, cs_opt_type type, size_t value);                     \
	cs_err machine##_global_init(void *handle)                                                 \
	{                                                                                          \
		(void)handle;                                                                      \
		return CS_ERR_ARCH;                                                                \
	}                                                                                          \
	cs_err machine##_option(void *handle, cs_opt_type type, size_t value)                      \
	{                                                                                          \
		(void)handle;                                                                      \
		(void)type;                                                                        \
		(void)value;                                                                       \
		return CS_ERR_OPTION;                                                              \
	}

WITHOUT(ARM)
WITHOUT(EVM)
WITHOUT(M680X)
WITHOUT(M68K)
WITHOUT(MOS65XX)
WITHOUT(Mips)
WITHOUT(PPC)
WITHOUT(RISCV)
WITHOUT(Sparc)
WITHOUT(SystemZ)
WITHOUT(TMS320C64x)
WITHOUT(TRICORE)
WITHOUT(WASM)
WITHOUT(XCore)
