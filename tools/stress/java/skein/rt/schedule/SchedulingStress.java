// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.invoke.VarHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** The run queue, and the step in which a thread leaves its worker while work comes. */
public final class SchedulingStress {
    private SchedulingStress() {}

    private static final Runnable WORK = () -> {};

    /** Q1: what was pushed is polled by its worker or stolen by another, once. */
    @JCStressTest
    @Outcome(id = "3", expect = ACCEPTABLE)
    @Outcome(expect = FORBIDDEN)
    @State
    public static class PolledOrStolen {
        final RunQueue queue = new RunQueue();
        final RunQueue thief = new RunQueue();
        int polled;
        int stolen;

        @Actor
        public void own() {
            queue.push(WORK);
            queue.pushNext(WORK);
            queue.pushNext(WORK);
            if (queue.poll() != null) polled++;
        }

        @Actor
        public void steal() {
            if (thief.stealHalf(queue, 64) != null) stolen++;
            queue.exposeNext();
        }

        @Arbiter
        public void look(I_Result r) {
            int left = 0;
            while (queue.pollForSure() != null || thief.pollForSure() != null) left++;
            r.r1 = polled + stolen + left;
        }
    }

    /** W2: a thread leaves its worker and looks again; a thread that brings work looks for a vacant worker. One sees the other. */
    @JCStressTest
    @Outcome(
            id = {"0, 1", "1, 0", "1, 1"},
            expect = ACCEPTABLE)
    @Outcome(id = "0, 0", expect = FORBIDDEN, desc = "work is left and nobody comes for it")
    @State
    public static class LeaveAndBring {
        final Worker worker = new Worker(0);
        final RunQueue inbox = new RunQueue();
        final WorkerRunner runner = new WorkerRunner(worker, true);

        public LeaveAndBring() {
            worker.change(null, runner);
        }

        @Actor
        public void leave(II_Result r) {
            worker.change(runner, null);
            r.r1 = inbox.isEmptyForSure() ? 0 : 1;
        }

        @Actor
        public void bring(II_Result r) {
            inbox.push(WORK);
            VarHandle.fullFence();
            r.r2 = worker.vacant() ? 1 : 0;
        }
    }
}
