// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.List;
import java.util.stream.Stream;
import skein.rt.block.Frame;

/**
 * A thread or a block of a simulation that was woken from outside, or that only the outside can wake.
 *
 * @param continuation of the thread, or null
 * @param frame of the block, or null
 * @param by the thread that woke it, or null if that is not known
 * @param where its stack, or null
 * @param task what was woken, and {@code waited} the stack of its thread; both null until the simulation has handled it
 */
public record Outsider(
        Runnable continuation, Frame frame, Thread by, Throwable where, Task task, StackTraceElement[] waited) {

    /** The JDK's classes in which a thread waits for something outside of the JVM. */
    private static final List<String> DEVICES =
            List.of("sun.nio.ch.", "sun.nio.fs.", "java.net.", "java.lang.Process", "jdk.internal.net.http.");

    /** Returns whether the thread waited, or waits, for input or output. */
    public boolean atDevice() {
        if (waited == null) return false;
        for (StackTraceElement e : waited) {
            for (String prefix : DEVICES) if (e.getClassName().startsWith(prefix)) return true;
        }
        return false;
    }

    /** Returns whether the thread waited, or waits, in Object.wait. */
    public boolean inObjectWait() {
        return waited != null
                && Stream.of(waited).anyMatch(e -> e.getClassName().equals("java.lang.Object"));
    }
}
