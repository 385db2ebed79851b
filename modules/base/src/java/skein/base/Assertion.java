// SPDX-License-Identifier: Apache-2.0
package skein.base;

import clojure.lang.IExceptionInfo;
import clojure.lang.IPersistentMap;

/** In the place of core.async's AssertionErrors: the same class for those who catch it, with data as Clojure's exceptions have. */
public final class Assertion extends AssertionError implements IExceptionInfo {
    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // Clojure's maps are serializable, though their interface does not say so
    private final IPersistentMap data;

    /** @param data with {@code :skein/error} */
    public Assertion(String message, IPersistentMap data) {
        super(message, null);
        this.data = data;
    }

    @Override
    public IPersistentMap getData() {
        return data;
    }
}
