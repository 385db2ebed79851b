// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;

/** Calls code from a class initializer, where a virtual thread that blocks is pinned to its carrier on every JDK. */
public final class Pinned {
    private static final ThreadLocal<Runnable> TASK = new ThreadLocal<>();

    private Pinned() {}

    /** Its initializer calls the task. It is never initialized itself, but its copies are. */
    private static final class Initialized {
        static {
            TASK.get().run();
        }
    }

    /** Calls {@code task} on this thread, which is pinned meanwhile if it is a virtual one. */
    public static void run(Runnable task) throws IOException, IllegalAccessException {
        TASK.set(task);
        try (InputStream in = Pinned.class.getResourceAsStream("Pinned$Initialized.class")) {
            MethodHandles.lookup()
                    .defineHiddenClass(in.readAllBytes(), true, MethodHandles.Lookup.ClassOption.NESTMATE);
        } finally {
            TASK.remove();
        }
    }
}
