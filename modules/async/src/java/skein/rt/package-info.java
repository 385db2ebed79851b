// SPDX-License-Identifier: Apache-2.0

/**
 * The runtime: channels, blocks, and the threads that run them. It knows nothing of Clojure's compiler and little
 * of Clojure; everything that is not an inner loop is written in Clojure above it.
 *
 * <h2>Packages</h2>
 *
 * <dl>
 *   <dt>{@code skein.rt}<dd>channel, buffer, alts, waiter, frame: what a value moves through
 *   <dt>{@link skein.rt.schedule}<dd>workers, run queues, monitor, timers: who runs it
 *   <dt>{@link skein.rt.scope}<dd>regions, children, windows: who ends with whom
 *   <dt>{@link skein.rt.watch}<dd>probes, failures, traces: who looks on
 * </dl>
 *
 * What crosses the packages is public or protected, and meant for this module alone. Two classes stand here and not
 * with their subject, because they share a frame's or a waiter's inner fields: {@link skein.rt.Runner}, and
 * {@link skein.rt.Hooks}, by which a frame reaches those who watch it.
 *
 * <h2>Words</h2>
 *
 * <dl>
 *   <dt>channel<dd>moves values from puts to takes; has a lock and perhaps a buffer
 *   <dt>waiter<dd>a take or put that waits in a channel, of a block, a thread or a callback
 *   <dt>claim, complete<dd>to win the right to end a waiter's wait; to do it
 *   <dt>choice, arm<dd>one alts, and one of its operations
 *   <dt>frame<dd>a running go block: its state, the slots of its locals, its result port
 *   <dt>park, resume<dd>a frame waits without a thread; it goes on
 *   <dt>block<dd>in the emitted code, a stretch without parks; elsewhere, what the user wrote in a go
 *   <dt>worker<dd>a run queue and the thread that serves it now; there are as many as processors
 *   <dt>runner<dd>what ties a thread to the block that it runs
 *   <dt>next slot<dd>the place before a run queue for the frame that was made ready last
 *   <dt>inbox<dd>the run queue that belongs to no worker
 *   <dt>hire, vacant<dd>to give a worker a thread; said of a worker that has none
 *   <dt>hand-off<dd>a worker goes on with another thread, because its own is stuck in a step
 *   <dt>step<dd>what a frame does from one park to the next
 * </dl>
 *
 * <h2>Locks</h2>
 *
 * A channel's lock is short and innermost: under it nothing else is locked and no waiter is completed. Exceptions:
 * an alts locks several channels, but waits for one only while it holds none; a foreign handler's own lock is taken
 * under a channel's; a transducer runs under its channel's lock. A run queue's lock and the timers' lock are leaves.
 *
 * <h2>What happens before what</h2>
 *
 * What a thread did before a put is visible after the take that receives the value; what was done before a close,
 * after the take that sees it; what a block did before a park, when it goes on, on whatever thread.
 *
 * <h2>Invariants</h2>
 *
 * Each class states its own, under a letter that no other class of the project has; a test bears each of them.
 */
package skein.rt;
