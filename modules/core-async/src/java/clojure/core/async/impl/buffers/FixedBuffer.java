// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.buffers;

import skein.bridge.TypedBuffer;
import skein.rt.Buffers;

/** A buffer that is full at its size, under the name of core.async's class. */
public final class FixedBuffer extends Buffers.Fixed implements TypedBuffer {
    /** Makes a buffer for {@code n} values. */
    public FixedBuffer(int n) {
        super(n);
    }
}
