// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

/**
 * A thread's right to run the user's functions for some work, as long as the work is wanted. Dropping the claim interrupts that thread,
 * since it may wait for something that never comes; {@link #leave} clears the interrupt.
 */
class Claim {
    private volatile boolean dropped; // written under this; the owner reads it between blocks
    private Thread owner; // guarded by this; the thread that runs the user's functions, or null
    private boolean interrupted; // guarded by this; drop() has interrupted the owner

    final boolean isDropped() {
        return dropped;
    }

    /** Begins to run the user's functions on the calling thread. Returns false if the work is not wanted. */
    final synchronized boolean enter() {
        if (dropped) return false;
        owner = Thread.currentThread();
        return true;
    }

    /** Ends the run that {@link #enter} began. */
    final synchronized void leave() {
        owner = null;
        if (interrupted) Thread.interrupted();
        interrupted = false;
    }

    /** Drops the claim: the work is no longer wanted. */
    final synchronized void drop() {
        dropped = true;
        // An interrupt by another thread must not be cleared.
        if (owner == null || owner == Thread.currentThread() || interrupted || owner.isInterrupted()) return;
        interrupted = true;
        owner.interrupt();
    }

    /** Returns whether {@link #drop} has interrupted the thread that runs the work. */
    final synchronized boolean isInterrupted() {
        return interrupted;
    }
}
