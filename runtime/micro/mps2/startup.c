/* SPDX-License-Identifier: MIT-0 */
/* Reset, memory and the way out for Arm's MPS2 boards (Cortex-M3, M4, M7), real or emulated. */
#include <stdint.h>

#include "semihost.h"

extern uint32_t _stack_top, _data_source, _data_start, _data_end, _bss_start, _bss_end;
int main(void);

void Reset_Handler(void);
void Reset_Handler(void)
{
    uint32_t* source = &_data_source;
    for (uint32_t* at = &_data_start; at < &_data_end;) *at++ = *source++;
    for (uint32_t* at = &_bss_start; at < &_bss_end;) *at++ = 0;
#if defined(__ARM_FP)
    *(volatile uint32_t*)0xE000ED88u |= 0xFu << 20; /* CPACR: the floating-point unit */
    __asm volatile("dsb\n\tisb");
#endif
    semihost_exit(main());
}

static void stop(void) { semihost_exit(127); }

/* A core that stopped: `saved` is where it left r0 to r3, r12, lr, pc and psr. Who has a line to
 * somebody tells it there (fault.c). */
void fault_report(const uint32_t* saved);
__attribute__((weak)) void fault_report(const uint32_t* saved)
{
    (void)saved;
    stop();
}

__attribute__((naked)) static void fault(void)
{
    __asm volatile("mrs r0, msp\n\tldr r1, =fault_report\n\tbx r1");
}

/* Who counts with the system timer has one of his own. */
void SysTick_Handler(void);
__attribute__((weak)) void SysTick_Handler(void) { stop(); }

typedef void (*handler)(void);

/* Stack, reset, NMI, hard fault, and everything else that is not wanted. */
__attribute__((section(".vectors"), used)) static const struct
{
    uint32_t* stack;
    handler handlers[15];
} vectors = {&_stack_top,
             {Reset_Handler, stop, fault, fault, fault, fault, 0, 0, 0, 0, stop, stop, 0, stop,
              SysTick_Handler}};
