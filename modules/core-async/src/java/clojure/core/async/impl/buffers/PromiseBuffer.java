// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.buffers;

import clojure.core.async.impl.protocols.Buffer;
import clojure.core.async.impl.protocols.UnblockingBuffer;

/** A buffer that keeps its first value for ever, under the name of core.async's class. */
public interface PromiseBuffer extends Buffer, UnblockingBuffer {}
