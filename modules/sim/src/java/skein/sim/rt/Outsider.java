// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import skein.rt.Frame;

/**
 * A thread or a block of a simulation that was woken from outside.
 *
 * @param continuation of the thread, or null
 * @param frame of the block, or null
 * @param by who did it
 * @param where its stack
 */
public record Outsider(Runnable continuation, Frame frame, Thread by, Throwable where) {}
