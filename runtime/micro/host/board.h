/* SPDX-License-Identifier: MIT-0 */
/* What this computer says of itself, as the board's header of the same name has it. */
#ifndef BOARD_H
#define BOARD_H

static const char* board_text(void) { return "host=1"; }

#endif
