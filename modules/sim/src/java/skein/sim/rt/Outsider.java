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
 * @param task what was woken, and {@code waited} the stack of its thread; both null until the simulation has seen to it
 */
public record Outsider(
        Runnable continuation, Frame frame, Thread by, Throwable where, Task task, StackTraceElement[] waited) {}
