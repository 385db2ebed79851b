// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.buffers;

import clojure.core.async.impl.protocols.UnblockingBuffer;
import skein.bridge.TypedBuffer;
import skein.rt.Buffers;

/** A buffer that drops the oldest value, under the name of core.async's class. */
public final class SlidingBuffer extends Buffers.Sliding implements TypedBuffer, UnblockingBuffer {
    /** Makes a buffer for {@code n} values. */
    public SlidingBuffer(int n) {
        super(n);
    }
}
