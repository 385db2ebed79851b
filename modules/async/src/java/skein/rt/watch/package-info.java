// SPDX-License-Identifier: Apache-2.0

/**
 * Who looks on: probes and conveyors that a program installs, exceptions that nobody has asked for, and the stack
 * traces of blocks. Nothing here is done for a block that does not fail, unless a probe is installed.
 */
package skein.rt.watch;
