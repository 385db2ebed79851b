// SPDX-License-Identifier: Apache-2.0

/**
 * Who ends with whom: {@link skein.rt.scope.Region}s that can be cancelled, in the thread or block that is
 * {@link skein.rt.scope.Cancellable}; children on virtual threads; and windows, whose threads end with their reader.
 *
 * <p>How a cancelled block leaves the channel that it waits in is a matter of waiters, and stands in {@link skein.rt}.
 */
package skein.rt.scope;
