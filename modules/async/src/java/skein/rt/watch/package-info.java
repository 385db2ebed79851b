// SPDX-License-Identifier: Apache-2.0

/**
 * Debugging: probes and conveyors that a program installs, exceptions that nobody has taken, and the stack traces of
 * blocks. Unless a probe, conveyor or inspector is installed, this package does nothing for a block that does not fail.
 */
package skein.rt.watch;
