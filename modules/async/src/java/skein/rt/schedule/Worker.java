// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A place where blocks are run one at a time: a run queue, and the thread that serves it now. There are as
 * many workers as processors; threads come and go.
 *
 * <pre>
 *   VACANT (runner == null)  -> SERVED by r     hire: work has arrived
 *   SERVED by r              -> VACANT          r found nothing to do, or blocks
 *   SERVED by r              -> SERVED by s     r hogs its processor while others wait
 * </pre>
 *
 * <ul>
 *   <li>W1 What is ready is run, however many blocks block: a vacant worker is hired when work arrives, and one whose
 *       thread is stuck is handed off.
 *   <li>W2 A thread that leaves a worker looks once more for work after it has left, and a thread that brings work looks for
 *       a vacant worker after it has been brought, so that one of them sees the other.
 *   <li>W3 A frame runs on one thread at a time.
 * </ul>
 *
 * A runner that lost its worker finishes the step it is in, and then takes the worker back if it is vacant,
 * or ends. The design is that of Go's P and M (runtime/proc.go); here the M is a virtual thread.
 */
final class Worker {
    private static final VarHandle RUNNER;

    static {
        try {
            RUNNER = MethodHandles.lookup().findVarHandle(Worker.class, "runner", WorkerRunner.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final int index;
    final RunQueue queue = new RunQueue();
    volatile WorkerRunner runner; // changed by compare-and-set only

    Worker(int index) {
        this.index = index;
    }

    boolean vacant() {
        return runner == null;
    }

    /** Replaces the runner, if it still is {@code from}; null means none. */
    boolean change(WorkerRunner from, WorkerRunner to) {
        return RUNNER.compareAndSet(this, from, to);
    }
}
