// SPDX-License-Identifier: Apache-2.0
package skein.base;

import clojure.lang.IExceptionInfo;
import clojure.lang.IPersistentMap;

/** Thrown when something took longer than it may. It can be caught as Java's exception, and has data as Clojure's. */
public final class TimeoutException extends java.util.concurrent.TimeoutException implements IExceptionInfo {
    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial") // Clojure's maps are serializable, though their interface does not say so
    private final IPersistentMap data;

    /**
     * @param data of an ex-info, with {@code :skein/error}
     * @param cause may be null
     */
    public TimeoutException(String message, IPersistentMap data, Throwable cause) {
        super(message);
        this.data = data;
        initCause(cause);
    }

    @Override
    public IPersistentMap getData() {
        return data;
    }
}
