// SPDX-License-Identifier: Apache-2.0
package skein.bridge;

import skein.rt.Buffer;

/** The methods of core.async's types for a buffer of the runtime. */
public interface TypedBuffer extends Buffer, clojure.core.async.impl.protocols.Buffer {
    @Override
    default Object full_QMARK_() {
        return full();
    }

    @Override
    default Object remove_BANG_() {
        return remove();
    }

    @Override
    default Object add_BANG__STAR_(Object value) {
        add(value);
        return this;
    }

    @Override
    default Object close_buf_BANG_() {
        close();
        return null;
    }
}
