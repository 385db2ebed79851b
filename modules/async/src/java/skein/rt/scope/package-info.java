// SPDX-License-Identifier: Apache-2.0

/**
 * Cancellation. A thread or block is {@link skein.rt.scope.Cancellable}, and its {@link skein.rt.scope.Region}s can be
 * cancelled. There are also children on virtual threads, and windows, whose threads end with their reader.
 *
 * <p>The waiter of a block withdraws a cancelled block from the channel in which it waits; see {@link skein.rt}.
 */
package skein.rt.scope;
