// SPDX-License-Identifier: Apache-2.0

/**
 * Blocks, and the other parties that wait in channels: threads, functions, futures. What watches blocks is here too: probes,
 * an inspector and a conveyor that a program installs, and the stack traces of blocks that failed. Unless one is installed,
 * all this does nothing for a block that does not fail.
 */
package skein.rt.block;
