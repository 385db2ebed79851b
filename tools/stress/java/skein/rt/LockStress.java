// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The lock. */
public final class LockStress {
    private LockStress() {}

    /** The lock keeps plain data together. */
    @JCStressTest
    @Outcome(id = "4", expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class Exclusion {
        /** A lock with what it guards. */
        static final class Counter extends Lock {
            int count;
        }

        final Counter counter = new Counter();

        private void twice() {
            for (int i = 0; i < 2; i++) {
                counter.lock();
                counter.count++;
                counter.unlock();
            }
        }

        @Actor
        public void one() {
            twice();
        }

        @Actor
        public void other() {
            twice();
        }

        @Arbiter
        public void look(I_Result r) {
            r.r1 = counter.count;
        }
    }
}
