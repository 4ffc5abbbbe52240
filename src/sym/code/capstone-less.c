// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stubs for the machines that capstone supports and disasm.c does not use. A static capstone has a
 * table of all machines, which would link two thirds of the library into the program; the linker
 * finds these stubs first. They are never called.
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
