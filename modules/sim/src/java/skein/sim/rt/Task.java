// SPDX-License-Identifier: Apache-2.0
package skein.sim.rt;

import java.util.Locale;
import skein.rt.Channel;
import skein.rt.Operation;
import skein.rt.World;
import skein.rt.block.Frame;

/** A task of a simulation: a block, a callback, a thread, a timer that is due, or the body of the test. */
public final class Task extends World.Member {
    /** The kind of a task. The body of the test is MAIN. */
    public enum Kind {
        MAIN,
        GO,
        CALLBACK,
        THREAD,
        TIMER
    }

    public final Kind kind;
    public final Task parent; // null for the first
    public final int index; // among the children of that kind of its parent, from 1
    public final Runnable work; // a frame or callback; for a thread, what it was started with, or null
    final int id; // a hash of its path, the same in each run
    private int blocks; // how many children there are of each kind
    private int threads;
    private int others;
    int at; // in the list of live tasks; less than 0: it has ended
    Runnable continuation; // of its virtual thread, or of the server that stays with it; null while it is not ready
    Thread thread; // likewise; null where that is not known
    boolean told; // it has been cancelled, at the end of the run
    boolean ready;
    long priority; // belongs to the strategy
    // The operation of a thread or callback, set at its points.
    Operation threadOperation = Operation.NONE;
    Object threadPort;
    Object site; // the stack trace of the spawn; null unless events are kept

    Task(Simulation world, Frame frame, Kind kind, Runnable work, Task parent) {
        super(world, frame);
        this.kind = kind;
        this.work = work;
        this.parent = parent;
        this.index = parent == null ? 0 : parent.next(kind);
        this.id = parent == null ? 17 : parent.id * 31 + index * 8 + kind.ordinal();
    }

    /** Returns the block, or null if it is not one. */
    public Frame frame() {
        return (Frame) block();
    }

    private int next(Kind child) {
        return child == Kind.GO ? ++blocks : child == Kind.THREAD ? ++threads : ++others;
    }

    /** Returns the thread on which it runs or waits, or null. */
    public Thread thread() {
        return thread;
    }

    /**
     * Returns the operation that it does or waits in. A block that blocks a thread in the middle of a step is done with its
     * last operation.
     */
    public Operation doing() {
        return frame() != null && thread == null && threadOperation == Operation.NONE ? operation() : threadOperation;
    }

    /** Returns the port of its last operation, or the ports of an alts. That operation may be done already. */
    public Object doingOn() {
        return frame() != null && threadOperation == Operation.NONE ? port() : threadPort;
    }

    /** Returns whether the task waits to put a value, which is lost if nobody takes it. A limiter's permit is no such value. */
    boolean losesValue() {
        return doing() == Operation.PUT && !(doingOn() instanceof Channel c && c.isUnlimited());
    }

    /** Returns whether the operation that a block is about to do is a put that fails. */
    boolean isRefused() {
        return operation() == Operation.PUT && port() instanceof Channel c && c.isClosed();
    }

    /** Returns whether the task is in the list of tasks that can run. */
    public boolean isReady() {
        return ready;
    }

    /** Returns whether it has ended. */
    boolean hasEnded() {
        return at < 0;
    }

    /** Returns where it was spawned: a stack trace, or null. */
    public Object site() {
        return site;
    }

    /** Returns a path such as go-2.1, the first block of the second block of the body, or thread-1/go-1. */
    @Override
    public String toString() {
        if (parent == null) return "main";
        String name = kind.name().toLowerCase(Locale.ROOT) + "-" + index;
        if (parent.parent == null) return name;
        return kind == parent.kind ? parent + "." + index : parent + "/" + name;
    }
}
