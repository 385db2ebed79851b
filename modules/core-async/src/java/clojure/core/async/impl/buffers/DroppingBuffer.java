// SPDX-License-Identifier: Apache-2.0
package clojure.core.async.impl.buffers;

import clojure.core.async.impl.protocols.UnblockingBuffer;
import skein.bridge.TypedBuffer;
import skein.rt.Buffers;

/** A buffer that drops the newest value, under the name of core.async's class. */
public final class DroppingBuffer extends Buffers.Dropping implements TypedBuffer, UnblockingBuffer {
    /** Makes a buffer for {@code n} values. */
    public DroppingBuffer(int n) {
        super(n);
    }
}
