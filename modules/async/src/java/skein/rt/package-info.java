// SPDX-License-Identifier: Apache-2.0

/**
 * The runtime: channels, blocks, and the threads that run them. It uses little of Clojure and nothing of Clojure's
 * compiler. Code that is not an inner loop is written in Clojure, in the layer above.
 *
 * <h2>Packages</h2>
 *
 * Each uses only those above it, which a test states.
 *
 * <dl>
 *   <dt>{@code skein.rt}<dd>the kernel: channels, the waiters in them, cancellation, and what a thread and a simulation are to
 *       them
 *   <dt>{@code skein.rt.schedule}<dd>workers, their run queues and threads, the monitor, timers
 *   <dt>{@code skein.rt.block}<dd>blocks and all else that may wait: a thread, a function, a future; and what watches them
 *   <dt>{@code skein.rt.scope}<dd>children on virtual threads, and windows
 * </dl>
 *
 * The kernel knows a block as {@link skein.rt.Block}, and a timer as {@link skein.rt.World.Timer}. Classes and methods that
 * other packages use are public or protected, but meant for this module only.
 *
 * <h2>Words</h2>
 *
 * <dl>
 *   <dt>channel<dd>moves values from puts to takes; has a lock and perhaps a buffer
 *   <dt>role<dd>what more a channel is: a timeout, the port of a block's result, or one with a transducer
 *   <dt>waiter<dd>a take or put that waits in a channel, of a block, a thread or a callback
 *   <dt>claim, complete<dd>to win the right to end a waiter's wait; to end it
 *   <dt>choice, arm<dd>one alts, and one of its operations
 *   <dt>frame<dd>a running go block: its state, the slots of its locals, its result port
 *   <dt>region<dd>a period of a thread or block that can be cancelled: a child, the body of a scope or of a timeout
 *   <dt>park, resume<dd>a frame waits without a thread; it continues
 *   <dt>block<dd>in the emitted code, a basic block, which has no parks; elsewhere, a go block
 *   <dt>worker<dd>a run queue and the thread that serves it now; there is one per processor
 *   <dt>runner<dd>the object that a thread uses to run blocks; it has the current block
 *   <dt>next slot<dd>the place before a run queue for the frame that was made ready last
 *   <dt>inbox<dd>the run queue that belongs to no worker
 *   <dt>hire, vacant<dd>to give a worker a thread; a worker without a thread is vacant
 *   <dt>hand-off<dd>a worker gets another thread, because its own is stuck in a step
 *   <dt>step<dd>the work of a frame from one park to the next
 * </dl>
 *
 * <h2>Locks</h2>
 *
 * A channel's lock is held for a short time and is innermost: a thread that holds it takes no other lock and completes
 * no waiter. There are three exceptions. An alts locks several channels, but waits for a lock only while it holds none.
 * A foreign handler's own lock is taken under a channel's. A transducer runs under its channel's lock. A thread that
 * holds a run queue's lock or the timers' lock takes no other lock.
 *
 * <h2>Memory order</h2>
 *
 * Writes before a put are visible after the take that receives the value. Writes before a close are visible after the
 * take that sees the close. Writes of a block before a park are visible when it resumes, on any thread.
 *
 * <h2>Invariants</h2>
 *
 * Each class lists its invariants, with a letter that no other class of the project uses. Each has a test.
 */
package skein.rt;
