// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.protocols;

/** Marks a buffer that is never full, under core.async's name. */
public interface UnblockingBuffer {}
