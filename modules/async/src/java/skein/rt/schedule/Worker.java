// SPDX-License-Identifier: Apache-2.0
package skein.rt.schedule;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A run queue and the thread that serves it now, which runs its blocks one at a time. There are as many workers as
 * processors. A worker gets and loses threads.
 *
 * <pre>
 *   VACANT (runner == null)  -> SERVED by r     hire: work has arrived
 *   SERVED by r              -> VACANT          r found nothing to do, or blocks
 *   SERVED by r              -> SERVED by s     r computes for long while others wait
 * </pre>
 *
 * <ul>
 *   <li>W1 Ready work is run, however many blocks block: a vacant worker gets a thread when work arrives, and a worker
 *       whose thread is stuck is handed off.
 *   <li>W2 A thread that leaves a worker looks for work once more after it has left. A thread that submits work looks for a
 *       vacant worker after it has pushed the work. So one of them sees the other.
 *   <li>W3 A frame runs on one thread at a time.
 * </ul>
 *
 * A runner that has lost its worker finishes its step. Then it takes the worker back if that is vacant, or ends. The design
 * is that of Go's P and M (runtime/proc.go); here the M is a virtual thread.
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

    /** Replaces the runner if it still is {@code from}; null means none. Returns whether it did. */
    boolean change(WorkerRunner from, WorkerRunner to) {
        return RUNNER.compareAndSet(this, from, to);
    }
}
