// SPDX-License-Identifier: Apache-2.0
package skein.fold.engine;

/**
 * A thread's right to run the user's functions for some work, as long as the work is wanted. Dropping the claim interrupts that thread,
 * since it may wait for something that never comes; {@link #leave} takes the interrupt back.
 */
class Claim {
    private volatile boolean dropped; // written under this; the owner looks between blocks
    private Thread owner; // guarded by this; the thread that is in the user's functions, or null
    private boolean interrupted; // guarded by this; drop() has interrupted the owner
    private int forwardedBefore; // guarded by this; how many interrupts the owner had been forwarded by then

    final boolean isDropped() {
        return dropped;
    }

    /** Begins to run the user's functions on the calling thread. Returns false if the work is not wanted. */
    final synchronized boolean enter() {
        if (dropped) return false;
        owner = Thread.currentThread();
        return true;
    }

    /** Ends what {@link #enter} began. */
    final synchronized void leave() {
        Thread thread = owner;
        owner = null;
        if (!interrupted) return;
        interrupted = false;
        synchronized (thread) { // as Host.Carrier.forward: no interrupt comes between the flag and the count
            Thread.interrupted();
            if (forwarded(thread) != forwardedBefore) thread.interrupt();
        }
    }

    /** Says that nobody wants the work any more. */
    final synchronized void drop() {
        dropped = true;
        if (owner == null || owner == Thread.currentThread() || interrupted) return;
        synchronized (owner) {
            if (owner.isInterrupted()) return; // somebody else's, which leave() must not take back
            interrupted = true;
            forwardedBefore = forwarded(owner);
            owner.interrupt();
        }
    }

    /** Returns whether {@link #drop} has interrupted the thread that runs the work. */
    final synchronized boolean isInterrupted() {
        return interrupted;
    }

    private static int forwarded(Thread thread) {
        return thread instanceof Host.Carrier carrier ? carrier.forwarded : 0;
    }
}
