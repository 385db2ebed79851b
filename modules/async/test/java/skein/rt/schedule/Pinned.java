// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;

/** Calls code from a class initializer, where a virtual thread that blocks is pinned to its carrier on every JDK. */
public final class Pinned {
    private static final ThreadLocal<Runnable> TASK = new ThreadLocal<>();
    /** Read once: to look for a resource takes a monitor, in which a virtual thread would lose its carrier before it is pinned. */
    private static final byte[] INITIALIZED = bytesOfInitialized();

    private Pinned() {}

    private static byte[] bytesOfInitialized() {
        try (InputStream in = Pinned.class.getResourceAsStream("Pinned$Initialized.class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its initializer calls the task. It is never initialized itself, but its copies are. */
    private static final class Initialized {
        static {
            TASK.get().run();
        }
    }

    /** Calls {@code task} on this thread, which is pinned meanwhile if it is a virtual one. */
    public static void run(Runnable task) throws IllegalAccessException {
        TASK.set(task);
        try {
            MethodHandles.lookup().defineHiddenClass(INITIALIZED, true, MethodHandles.Lookup.ClassOption.NESTMATE);
        } finally {
            TASK.remove();
        }
    }
}
