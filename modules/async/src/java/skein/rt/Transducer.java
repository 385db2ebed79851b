// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.AFn;
import clojure.lang.IFn;
import clojure.lang.RT;
import skein.base.Assertion;

/**
 * What a channel's values pass before the buffer, and where its errors go. The transducer and the handler run under the
 * channel's lock, as core.async's contract says. They may use the channel: its lock lets their thread in again.
 *
 * <p>Differs: what the handler throws is reported, so that it harms neither the operation that ran the handler, which may
 * belong to a mult, nor those that wait here. In core.async the operation throws it, and keeps the lock.
 */
public final class Transducer extends Role {
    /** The reducing function under the transducer: adds to the buffer, which is the accumulator. */
    private static final IFn ADD = new AFn() {
        @Override
        public Object invoke() {
            return null;
        }

        @Override
        public Object invoke(Object buffer) {
            return buffer;
        }

        @Override
        public Object invoke(Object buffer, Object value) {
            if (value == null)
                throw new Assertion(
                        "Assert failed: a channel's transducer made nil, which no channel can hold;"
                                + " use keep instead of map, or (remove nil?)\n(not (nil? itm))",
                        Refusal.data("nil-put"));
            ((Buffer) buffer).add(value);
            return buffer;
        }
    };

    private final IFn step;
    private final IFn exceptionHandler; // or null: the thread's uncaught-exception handler
    private Thread running; // the thread that runs the transducer or the handler now, or null; written under the lock
    private boolean finished; // guarded by lock

    /**
     * @param xform the transducer, or null
     * @param exceptionHandler called with an exception of the transducer; its result, if not nil, goes to the buffer
     */
    public Transducer(IFn xform, IFn exceptionHandler) {
        this.step = xform == null ? ADD : (IFn) xform.invoke(ADD);
        this.exceptionHandler = exceptionHandler;
    }

    /** Returns whether this thread runs the transducer or the handler, and so holds the channel's lock. */
    boolean runsHere() {
        return running == Thread.currentThread();
    }

    /** User code begins. Returns the thread that ran it before: this one if the code has come back to its channel, or null. */
    private Thread begin() {
        Thread outer = running;
        running = Thread.currentThread();
        World.holds(1); // a simulation must not run others now: they might wait for this lock
        return outer;
    }

    private void end(Thread outer) {
        running = outer;
        World.holds(-1);
    }

    /** Adds to the buffer. Returns whether the transducer has ended. */
    boolean add(Buffer b, Object value) {
        Thread outer = begin();
        try {
            return RT.isReduced(step.invoke(b, value));
        } catch (Throwable t) {
            handle(b, t);
            return false;
        } finally {
            end(outer);
        }
    }

    /** Completes the transducer, once, so that it adds the values that it has kept. */
    void finish(Buffer b) {
        if (finished) return;
        finished = true;
        Thread outer = begin();
        try {
            step.invoke(b);
        } catch (Throwable t) {
            handle(b, t);
        } finally {
            end(outer);
        }
    }

    /** Catches everything: a handler that throws must harm no operation. */
    private void handle(Buffer b, Throwable thrown) {
        if (exceptionHandler == null) {
            Uncaught.report(thrown);
            return;
        }
        try {
            Object instead = exceptionHandler.invoke(thrown);
            if (instead != null) b.add(instead);
        } catch (Throwable t) {
            Uncaught.report(t);
        }
        Cancellable.restoreInterrupt(thrown);
    }
}
