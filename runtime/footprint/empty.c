/* SPDX-License-Identifier: Apache-2.0 */
/* What every program has: start-up code and what the C library brings unasked. */
int main(void) { return 0; }
