// SPDX-License-Identifier: Apache-2.0
package skein.rt;

import clojure.lang.IDeref;

/** The value that a port returns for an operation that is done at once. */
public record Box(Object value) implements IDeref {
    @Override
    public Object deref() {
        return value;
    }
}
