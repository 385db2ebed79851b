// SPDX-License-Identifier: Apache-2.0
package skein.fold.rt;

/**
 * A piece of work, as long as somebody wants it. Whoever drops it interrupts the thread that is at it, since that may be waiting
 * for what never comes; no such interrupt outlives the piece.
 */
class Claim {
  private volatile boolean dropped;  // written under this; the owner looks now and then
  private Thread owner;              // guarded by this; who is in the user's functions, if anybody
  private final Nudge nudge = new Nudge();  // guarded by this; drop()'s, to the owner

  final boolean isDropped() {
    return dropped;
  }

  /** The calling thread begins to run the user's functions; false if nobody wants that. */
  final synchronized boolean enter() {
    if (dropped) return false;
    owner = Thread.currentThread();
    return true;
  }

  final synchronized void leave() {
    owner = null;
    nudge.takeBack();
  }

  final synchronized void drop() {
    dropped = true;
    if (owner != null) nudge.send(owner);
  }

  /** Whether {@link #drop} has interrupted the thread that is at it. */
  final synchronized boolean isInterrupted() {
    return nudge.isSent();
  }
}
