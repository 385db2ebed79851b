// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import clojure.lang.IFn;

/**
 * How a simulation runs.
 *
 * @param threads whether it can have virtual threads: see {@link Carriers#available}
 * @param points whether tasks can be interrupted before their operations, and not only where they wait
 * @param atoms whether atoms have points as well
 * @param manualTime whether time moves by {@link Simulation#advance} alone
 * @param slowSteps whether steps may take time
 * @param maxSteps the most steps that a run may have
 * @param leaks which waits of tasks are leaks, when the body has ended
 * @param drainNanos how far the clock moves by itself once the body has ended
 * @param waitsOutside whether threads that are not simulated may wake members
 * @param outsideNanos how long to wait for them when no task can run
 * @param lateNanos if they may not, how long to wait for one that does so, which fails the run; else it ends in a deadlock
 * @param keepsEvents whether the trace has events
 * @param seed of the random numbers
 * @param faultAt the point after the naming of a target at which a fault is injected; 0: none
 * @param describe called with the simulation when a run has failed, before its tasks are cancelled; or null
 * @param printer makes a short text of a value
 */
public record Settings(
        boolean threads,
        boolean points,
        boolean atoms,
        boolean manualTime,
        boolean slowSteps,
        long maxSteps,
        Leaks leaks,
        long drainNanos,
        boolean waitsOutside,
        long outsideNanos,
        long lateNanos,
        boolean keepsEvents,
        long seed,
        int faultAt,
        IFn describe,
        IFn printer) {
    /** Which waits are leaks. */
    public enum Leaks {
        NONE,
        PUTS,
        ALL
    }
}
