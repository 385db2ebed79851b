// SPDX-License-Identifier: Apache-2.0
package skein.inspect;

import java.util.concurrent.CountDownLatch;

/** A class whose initializer waits. All virtual threads that need the class hold their carriers meanwhile. */
public final class Pinning {
    /** Ends the wait. */
    public static final CountDownLatch RELEASE = new CountDownLatch(1);

    /** The class. */
    private static final class Slow {
        static {
            try {
                RELEASE.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        static void touch() {}
    }

    private Pinning() {}

    /** Waits for the class. */
    public static void touch() {
        Slow.touch();
    }
}
