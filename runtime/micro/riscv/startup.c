/* SPDX-License-Identifier: MIT-0 */
/* Reset, memory and the way out for a 32-bit RISC-V core in machine mode, real or emulated. */
#include <stdint.h>

#include "semihost.h"

extern uint32_t _data_source, _data_start, _data_end, _bss_start, _bss_end;
int main(void);

void start(void);
__attribute__((used)) void start(void)
{
    uint32_t* source = &_data_source;
    for (uint32_t* at = &_data_start; at < &_data_end;) *at++ = *source++;
    for (uint32_t* at = &_bss_start; at < &_bss_end;) *at++ = 0;
    semihost_exit(main());
}

/* A core that stopped: why (mcause), where (mepc), at which address (mtval). Who has a line to
 * somebody tells it there (fault.c). */
void fault_report(uint32_t cause, uint32_t at, uint32_t address, uint32_t stack);
__attribute__((weak)) void fault_report(uint32_t cause, uint32_t at, uint32_t address,
                                        uint32_t stack)
{
    (void)cause;
    (void)at;
    (void)address;
    (void)stack;
    semihost_exit(127);
}

/* The C library keeps errno where tp points. */
__attribute__((naked, section(".vectors"), used)) void Reset_Handler(void);
void Reset_Handler(void)
{
    __asm volatile(".option arch, +zicsr\n\t.option push\n\t.option norelax\n\tla gp, "
                   "__global_pointer$\n\t.option pop\n\t"
                   "la sp, _stack_top\n\tla tp, _thread_data\n\tla t0, 1f\n\tcsrw mtvec, t0\n\t"
                   "j start\n\t"
                   ".balign 4\n1:\n\tmv a3, sp\n\tla sp, _stack_top\n\tcsrr a0, mcause\n\t"
                   "csrr a1, mepc\n\tcsrr a2, mtval\n\tj fault_report");
}
