// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import skein.rt.schedule.Scheduler;

/**
 * The object that a thread uses to run blocks. It has the current block, and puts blocks that become ready into a queue. A
 * thread has at most one.
 */
public abstract class Runner {
    private static final ThreadLocal<Runner> CURRENT = new ThreadLocal<>();

    Frame frame; // the block that runs on this thread now, or null; used only by this thread
    int depth; // how many async blocks run inside one another on this thread
    protected Object
            installed; // the Var binding frame that is on the thread between two steps, or null if that is not known

    /** Returns the runner of this thread, or null if it has never run a block. */
    public static Runner current() {
        return CURRENT.get();
    }

    /** Returns whether this thread runs a block, at any depth of calls. */
    public static boolean inBlock() {
        Runner r = CURRENT.get();
        return r != null && r.frame != null;
    }

    /** Makes this the runner of the current thread. */
    protected final void enter() {
        CURRENT.set(this);
    }

    /** Removes the runner of the current thread. */
    static void leave() {
        CURRENT.remove();
    }

    /** Makes a runner for the current thread, which serves no worker. */
    static Runner inline() {
        Runner r = new Inline();
        r.enter();
        return r;
    }

    /** Called by a thread that is about to block. If it serves a worker, the worker continues without it. */
    public static void beforeBlocking() {
        Runner r = CURRENT.get();
        if (r != null) r.blocking();
    }

    /** Arranges for {@code frame} to be run soon. */
    protected abstract void ready(Frame frame);

    /** Runs {@code frame} on this thread, which has this runner, to its next park or its end. */
    protected final void resume(Frame frame) {
        frame.resume(this);
    }

    /** This thread is about to block. */
    protected void blocking() {}

    /** The thread, or null when it has ended or is not known: blocks keep their last runner, which must keep no thread. */
    protected Thread thread() {
        return null;
    }

    /** The block that runs on this thread now, or null. */
    public final Frame frame() {
        return frame;
    }

    /** The runner of a user's thread on which an async block was started. */
    private static final class Inline extends Runner {
        @Override
        protected void ready(Frame frame) {
            Scheduler.submit(frame);
        }
    }
}
