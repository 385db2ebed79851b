// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

/** Why a run has failed: {@code cause} is an exception, a task, an {@link Outsider}, what a check said, or null. */
public record Verdict(Kind kind, Object cause) {
    /** A way to fail. */
    public enum Kind {
        /** A check of clojure.test does not hold. The run goes on. */
        ASSERTION,
        /** The body throws. */
        EXCEPTION,
        /** An exception is neither caught nor taken. */
        UNCAUGHT,
        /** What always holds does not hold. */
        NEVER,
        DEADLOCK,
        LEAK,
        LIVELOCK,
        /** A thread that is not simulated has woken a task, or is waited for. */
        OUTSIDE,
        /** A task waits on the clock of the JVM. */
        REAL_TIME,
        /** The body needs threads, which this JVM can't simulate. */
        NEEDS_OPENS
    }
}
