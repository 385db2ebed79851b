// SPDX-License-Identifier: Apache-2.0

/**
 * What runs on virtual threads and can be cancelled: the children of scopes, futures, and windows, whose threads end with
 * their reader. What can be cancelled, and how, is in {@link skein.rt.Cancellable} and {@link skein.rt.Region}.
 */
package skein.rt.scope;
